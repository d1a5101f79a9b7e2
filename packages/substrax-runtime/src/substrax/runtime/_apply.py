"""Applying a runtime to this process: through the environment before jax has read it, through `jax.config` after."""

from __future__ import annotations

import os
import sys

from ._config import declared
from ._environment import runtime_environment
from ._errors import RuntimeConfigurationError
from ._settings import CACHE_SWITCH, release

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

    from ._config import JaxRuntime
    from ._settings import Setting

__all__ = ["apply_runtime"]

# `'jax' in sys.modules` is wrong both ways: true for a lazy, a blocked or a half-imported jax that has read nothing,
# false after an import that failed with the environment read. These two modules do the reading, each once.
_READERS = ("jax._src.config", "jax._src.xla_bridge")


def apply_runtime(runtime: JaxRuntime, *, environ: MutableMapping[str, str] | None = None) -> None:
    """Put `runtime` into effect in this process, all of it or nothing.

    Before jax is imported every field is written to `environ`. After, the fields that have an option of
    `jax.config` go through `jax.config.update`; a cache directory also takes effect when the cache is in use.

    Args:
        runtime: What to put into effect.
        environ: The environment to write to; `os.environ` when `None`.

    Raises:
        RuntimeConfigurationError: If jax is imported and a field has no option (`platforms`, `xla_flags`,
            `preallocate`, `memory_fraction`: all that were given are named), if this jax has no such option or
            would ignore it, or if jax itself refuses the value, with its error as `__cause__`. Before jax is
            imported: as `runtime_environment`.
        XlaFlagConflictError: If an XLA flag has a different value in `environ`.
        ValueError: If `environ` has an `XLA_FLAGS` that XLA would not read in full.

    XLA parses its flags once, also for a program that asks jaxlib for compile options by itself, without jax; that
    cannot be seen here, and `verify_runtime` finds it.

    Source:
        jax `jax/_src/config.py` and `jax/_src/xla_bridge.py`, run in 0.4.38 to 0.12.0.1.
    """
    target = os.environ if environ is None else environ
    if not any(sys.modules.get(name) for name in _READERS):
        variables = runtime_environment(runtime, target)
        _refuse_what_this_jax_does_not_read(declared(runtime))
        target.update(variables)
        return
    given = declared(runtime)
    _refuse_a_jax_that_is_lost(given)
    _refuse_what_has_no_option(given)
    _refuse_what_this_jax_ignores(given)
    # Where jax is half-way through its import, it reads these later on.
    unread = [(row, value) for row, value in given if row.read_by not in sys.modules]
    _refuse_what_this_jax_does_not_read(unread)
    _update_options([(row, value) for row, value in given if row.read_by in sys.modules])
    target.update({row.variable: row.write(value) for row, value in unread})


def _refuse_a_jax_that_is_lost(given: list[tuple[Setting, object]]) -> None:
    if given and sys.modules.get("jax") is None:
        raise RuntimeConfigurationError(
            f"{_written(given)} cannot be applied: an import of jax has failed or was undone after jax had read the "
            "environment, which it does once; start a new process"
        )


def _refuse_what_has_no_option(given: list[tuple[Setting, object]]) -> None:
    late = [(row, value) for row, value in given if row.option is None]
    if not late:
        return
    works = [(row, value) for row, value in given if row.option is not None]
    raise RuntimeConfigurationError(
        f"{_written(late)} cannot be applied after jax is imported, since jax.config has no option that still works; "
        f"call apply_runtime before jax is imported, or start a child process with child_environment"
        + (f" ({_written(works)} alone would still work here)" if works else "")
    )


def _refuse_what_this_jax_does_not_read(given: list[tuple[Setting, object]]) -> None:
    """Where jax's version can be seen before its settings are read: half-way through its import."""
    if "jax.version" not in sys.modules:
        return
    for row, value in given:
        if release(_jax_version()) < release(row.since):
            raise RuntimeConfigurationError(
                f"{row.field} is {value!r}, but jax {_jax_version()} does not read {row.variable}; jax {row.since} is the first "
                "that does"
            )


def _refuse_what_this_jax_ignores(given: list[tuple[Setting, object]]) -> None:
    version = _jax_version()
    for row, value in given:
        refused = f"{row.field} is {value!r}, but jax {version}"
        if release(version) < release(row.option_since):
            raise RuntimeConfigurationError(
                f"{refused} has no option {row.option}; jax {row.option_since} is the first that has it"
            )
        if release(version) < release(row.late_refused_since) and (
            row.read_by not in sys.modules or _backends_started()
        ):
            raise RuntimeConfigurationError(
                f"{refused} takes it too late and ignores it; call apply_runtime before jax is imported (jax "
                f"{row.late_refused_since} is the first that refuses it by itself)"
            )


def _update_options(options: list[tuple[Setting, object]]) -> None:
    config: Any = getattr(sys.modules.get("jax._src.config"), "config", None)
    if options and config is None:
        raise RuntimeConfigurationError(
            f"{_written(options)} cannot be applied while jax is being imported; do it after"
        )
    undo: list[tuple[str, object]] = []
    try:
        for row, value in options:
            _update_option(config, row, value, undo)
        if any(row.field == "compilation_cache_dir" for row, _ in options):
            _use_new_cache_directory(config)
    except BaseException:
        for option, previous in reversed(undo):
            config.update(option, previous)
        raise


def _update_option(config: Any, row: Setting, value: object, undo: list[tuple[str, object]]) -> None:
    option, wanted = str(row.option), _plain(value)
    refused = f"{row.field} is {value!r}, which jax {_jax_version()}"
    try:
        previous = _value_in_all_threads(config, option)
        # jax 0.5.3 to 0.8.0 refuses a late device count even when it is the one in effect.
        if previous != wanted:
            config.update(option, wanted)
            undo.append((option, previous))
        effective = getattr(config, option)
    except Exception as error:
        raise RuntimeConfigurationError(f"{refused} refuses: {error}") from error
    if effective != wanted:
        raise RuntimeConfigurationError(
            f"{refused} would ignore here, because a context manager of jax sets {option} in this thread; "
            "call apply_runtime outside of it"
        )


def _plain(value: object) -> object:
    """`value` as jax's options take it: text and numbers of no subclass, such as an enumeration."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, str):
        return str.__str__(value)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _use_new_cache_directory(config: Any) -> None:
    if not getattr(config, CACHE_SWITCH.lower(), True):
        raise RuntimeConfigurationError(
            f"compilation_cache_dir cannot be in effect: {CACHE_SWITCH.lower()} is off in jax.config, and jax leaves the "
            "directory unused; switch it on first"
        )
    # Without this jax goes on writing to the first directory that it used, and says nothing. Looked up, since importing
    # the public module while jax is being imported would break that; where it is not loaded nothing has been cached.
    reset = getattr(sys.modules.get("jax._src.compilation_cache"), "reset_cache", None)
    if reset is not None:
        reset()


def _value_in_all_threads(config: Any, option: str) -> object:
    """An option's value where no context manager changes it; jax has no public name for that."""
    holder: Any = getattr(config, "_value_holders", {}).get(option)
    return holder.get_global() if hasattr(holder, "get_global") else getattr(config, option)


def _backends_started() -> bool:
    """Whether jax has started its backends; there is no public way to ask (jax issue 23320)."""
    started = getattr(sys.modules.get("jax._src.xla_bridge"), "backends_are_initialized", None)
    # Without the name the module is still being loaded.
    return started is not None and bool(started())


def _jax_version() -> str:
    return str(getattr(sys.modules.get("jax.version"), "__version__", "of unknown version"))


def _written(given: list[tuple[Setting, Any]]) -> str:
    return ", ".join(f"{row.field}={value!r}" for row, value in given)
