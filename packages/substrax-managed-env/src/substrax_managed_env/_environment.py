"""Pure: which variables the environment file of one project manages, and with which values."""

from __future__ import annotations

import os

from substrax.runtime import JaxRuntime, runtime_environment

from ._backends import BACKENDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["check_prefix", "check_variables", "managed_environment", "manifest_name"]

_CPU = JaxRuntime(platforms=("cpu",), enable_x64=False)
# No platforms: jax picks the accelerator. No preallocation, so that a notebook and a test run can share the GPU.
_ACCELERATOR = JaxRuntime(enable_x64=False, preallocate=False, memory_fraction=0.75)

# jax refuses it beside the current name, so no value inherited from a shell may reach jax.
_DEPRECATED = "XLA_PYTHON_CLIENT_MEM_FRACTION"

# What a shell cannot live without, obeys or executes, and what belongs to the venv or to activate.sh: the next
# activation unsets whatever the file manages. The shell template leaves the same names alone.
_RESERVED = frozenset(
    "PATH HOME PWD OLDPWD IFS SHELL USER LOGNAME TERM ENV CDPATH FPATH OPTIND OPTARG PPID UID EUID GID EGID LINENO "
    "RANDOM SECONDS SHELLOPTS GLOBIGNORE PROMPT PROMPT_COMMAND RPROMPT RPS1 PS0 PS1 PS2 PS3 PS4 LD_PRELOAD LD_AUDIT "
    "VIRTUAL_ENV VIRTUAL_ENV_PROMPT PYTHONHOME USERNAME TMOUT POSIXLY_CORRECT GROUPS DIRSTACK PIPESTATUS FUNCNEST HISTCHARS "
    "EDITOR VISUAL path cdpath fpath manpath argv status pipestatus prompt commands functions aliases options history "
    "signals".split()
)
_RESERVED_BEGINNINGS = ("_", "BASH", "ZSH", "KSH", "DYLD_INSERT")
_UPPER = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LETTERS = _UPPER | frozenset("abcdefghijklmnopqrstuvwxyz_")
_DIGITS = frozenset("0123456789")

# Linux refuses to start a process over one variable of 128 KiB; with less to spare a child's own can still be added.
_MAX_VALUE_BYTES = 100 * 1024


def managed_environment(
    *, prefix: str, backend: str, project_root: str | os.PathLike[str], extra: Mapping[str, str]
) -> dict[str, str | None]:
    """Every variable that the environment file manages.

    Args:
        prefix: What the project's own variables begin with, such as `"DATARAX"`: an upper-case shell name.
        backend: One of `BACKENDS` but `"auto"`, which `resolve_backend` resolves.
        project_root: The project's directory, written as `<PREFIX>_ENV_ROOT`.
        extra: Further variables of the project.

    Returns:
        Names to values, in the order written; `None` for one that the file unsets.

    Raises:
        ValueError: If `prefix` is no upper-case shell name; `backend` is unknown; or `extra` names a variable that
            the file manages itself, that is no shell name, that a shell cannot live without or would execute, or
            whose value holds NUL or more than 100 KiB.

    Source:
        https://docs.jax.dev/en/latest/gpu_memory_allocation.html for the GPU's memory.

    >>> list(managed_environment(prefix="DEMO", backend="cpu", project_root="/demo", extra={}).items())[:3]
    [('DEMO_BACKEND', 'cpu'), ('DEMO_ENV_ROOT', '/demo'), ('JAX_PLATFORMS', 'cpu')]
    """
    check_prefix(prefix)
    concrete = [name for name in BACKENDS if name != "auto"]
    if backend not in concrete:
        hint = "; resolve_backend() says which of them 'auto' is here" if backend == "auto" else ""
        raise ValueError(f"backend is {backend!r}, expected one of {', '.join(map(repr, concrete))}{hint}")
    cpu, accelerator = runtime_environment(_CPU, {}), runtime_environment(_ACCELERATOR, {})
    chosen = cpu if backend == "cpu" else accelerator
    values: dict[str, str | None] = {f"{prefix}_BACKEND": backend, f"{prefix}_ENV_ROOT": os.fspath(project_root)}
    values |= {name: chosen.get(name) for name in cpu | accelerator}
    values[_DEPRECATED] = None
    managed = {*values, manifest_name(prefix)}
    for name in extra:
        if name in managed:
            raise ValueError(
                f"{name} is managed by the file itself; leave it out, or set it in .env, which comes after"
            )
        if _is_reserved(name):
            raise ValueError(
                f"{name} belongs to the shell, which cannot have it unset or would execute it; leave it out"
            )
    values |= extra
    check_variables(values)
    return values


def manifest_name(prefix: str) -> str:
    """The variable that lists what the file manages."""
    return f"{prefix}_MANAGED_ENV_VARS"


def check_prefix(prefix: str) -> None:
    """Raise `ValueError` unless `prefix` can begin the names of the project's own variables."""
    if not prefix or prefix[0] not in _UPPER or not set(prefix) <= _UPPER | _DIGITS | {"_"}:
        raise ValueError(f"prefix is {prefix!r}, expected an upper-case shell name such as 'DATARAX'")
    if _is_reserved(manifest_name(prefix)):
        raise ValueError(f"prefix is {prefix!r}, expected one that does not name variables of a shell itself")


def check_variables(values: Mapping[str, str | None]) -> None:
    """Raise `ValueError` unless each name is a shell variable's, and each value one that a process can be given."""
    for name, value in values.items():
        if not name or name[0] not in _LETTERS or not set(name) <= _LETTERS | _DIGITS:
            raise ValueError(
                f"{name!r} is no name of a shell variable, expected letters, digits and '_', such as 'TF_LOG'"
            )
        if value is None:
            continue
        if "\0" in value:
            raise ValueError(f"{name} is {value!r}, expected a value without a NUL character")
        if (size := len(os.fsencode(value))) > _MAX_VALUE_BYTES:
            raise ValueError(
                f"{name} has {size} bytes, expected at most {_MAX_VALUE_BYTES}, or no process could be started"
            )


def _is_reserved(name: str) -> bool:
    return name in _RESERVED or name.startswith(_RESERVED_BEGINNINGS)
