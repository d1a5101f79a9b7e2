"""`lint_environment`: what is wrong with the JAX variables that a process would inherit. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ._errors import MisreadError
from ._settings import (
    ABORT_SWITCH,
    ALLOCATOR,
    ALLOCATORS,
    CACHE_SWITCH,
    DEPRECATED_MEMORY_FRACTION,
    PLATFORM_NAME,
    SETTINGS,
    setting,
)
from ._values import DEVICE_COUNT_FLAG, FALSE, TRUE, flag_count
from ._xla_flags import flag_history

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Finding", "lint_environment"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong with an environment."""

    variable: str
    """Name of the variable."""
    value: str
    """What it holds."""
    effect: str
    """What jax does with that."""
    remedy: str
    """What would do."""

    def __str__(self) -> str:
        """The finding in one line."""
        return f"{self.variable} is {self.value!r}: {self.effect}; {self.remedy}"


def lint_environment(environ: Mapping[str, str]) -> tuple[Finding, ...]:
    """What is wrong with the JAX variables of an environment.

    Values that make `import jax` fail or mean the opposite of what they say, flags that XLA would drop or die of,
    variables that beat or break each other, legacy names, and names that no jax reads but that are close to one that
    it does.

    Args:
        environ: The environment that a process would inherit; read, never changed.

    Returns:
        The findings, those of the settings in the order of the fields first; empty when all is well.

    Source:
        Runs of jax 0.5.3 to 0.12.0.1 on the CPU, and of the option reader of its GPU plugins.

    >>> print(*lint_environment({"JAX_ENABLE_X64": ""}))
    JAX_ENABLE_X64 is '': import jax fails, since it is no truth value; write true or false, or unset it
    """
    # One test a variable: an environment has many, and few of them are jax's.
    ours = [name for name in environ if name.startswith(_BEGINNINGS)]
    if not ours:
        return ()
    return (
        *_misread(environ),
        *_misread_others(ours, environ),
        *_at_odds(environ),
        *_legacy(environ),
        *_slips(ours, environ),
    )


_BEGINNINGS = ("JAX_", "XLA_", "jax_", "xla_")


def _misread(environ: Mapping[str, str]) -> Iterator[Finding]:
    fraction = setting("memory_fraction")
    rows = [(row, row.variable) for row in SETTINGS] + [(fraction, DEPRECATED_MEMORY_FRACTION)]
    for row, variable in rows:
        if variable in environ:
            try:
                row.read(variable, environ[variable])
            except MisreadError as fault:
                yield Finding(variable=fault.subject, value=fault.value, effect=fault.effect, remedy=fault.remedy)
    allocator = environ.get(ALLOCATOR)
    if allocator is not None and allocator.lower() not in ALLOCATORS:
        yield Finding(
            variable=ALLOCATOR,
            value=allocator,
            effect="the GPU plugin fails, and jax goes on without the GPU",
            remedy=f"write one of {', '.join(ALLOCATORS)}, or unset it",
        )


def _misread_others(names: list[str], environ: Mapping[str, str]) -> Iterator[Finding]:
    """Variables that are no settings of ours, but with which the import or a GPU's plugin fails."""
    from ._other_variables import SWITCHES, VALUES

    for name in sorted(names):
        value = environ[name]
        if name in SWITCHES and value.lower() not in (*TRUE, *FALSE):
            effect, remedy = "import jax fails, since it is no truth value", "write true or false, or unset it"
        elif name in VALUES and not value:
            effect, remedy = "import jax fails over an empty value", "give it one, or unset it"
        elif name == ABORT_SWITCH and value and not value.strip().lstrip("+-").isdecimal():
            effect, remedy = "the GPU plugin fails, and jax goes on without the GPU", "write 0 or 1, or unset it"
        else:
            continue
        yield Finding(variable=name, value=value, effect=effect, remedy=remedy)


def _at_odds(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Variables that are in order one by one, but beat or break each other."""
    yield from _flags_at_odds(environ)
    fraction, deprecated = setting("memory_fraction").variable, environ.get(DEPRECATED_MEMORY_FRACTION, "")
    if deprecated and environ.get(fraction):
        yield Finding(
            variable=DEPRECATED_MEMORY_FRACTION,
            value=deprecated,
            effect=f"beside {fraction} it makes the GPU plugin fail, and jax goes on without the GPU",
            remedy="unset it",
        )
    directory, switch = setting("compilation_cache_dir").variable, environ.get(CACHE_SWITCH, "")
    if environ.get(directory) and switch.lower() in FALSE:
        yield Finding(
            variable=CACHE_SWITCH,
            value=switch,
            effect=f"{directory} stays unused",
            remedy=f"unset it, or unset {directory}",
        )
    platforms = environ.get(setting("platforms").variable, "")
    if "cuda" in platforms.split(",") and environ.get("CUDA_VISIBLE_DEVICES") == "":
        yield Finding(
            variable="CUDA_VISIBLE_DEVICES",
            value="",
            effect=f"it hides every GPU, while {setting('platforms').variable} is {platforms!r}",
            remedy="name the GPUs, or unset it",
        )


def _flags_at_odds(environ: Mapping[str, str]) -> Iterator[Finding]:
    variable, count = setting("xla_flags").variable, setting("cpu_devices").variable
    text = environ.get(variable, "")
    try:
        history = flag_history(text)
    except MisreadError:
        return
    for name, given in history.items():
        values = [value for value, _ in given]
        if len(set(values)) > 1:
            yield Finding(
                variable=variable,
                value=text,
                effect=f"XLA takes the last of {len(values)} values for {name}, {values[-1]!r}",
                remedy="give it once",
            )
    for name, given in history.items():
        if "$" in (given[-1][0] or "") and re.search(r"\$(\{|[A-Za-z_])", given[-1][0] or ""):
            yield Finding(
                variable=variable,
                value=text,
                effect=f"XLA takes {given[-1][0]!r} for {name} as it stands, since no shell has expanded it",
                remedy="write the value itself",
            )
    emulated = flag_count(history.get(DEVICE_COUNT_FLAG, [(None, "")])[-1][0])
    if emulated is not None and (wins := _counted(environ)) and wins != emulated:
        yield Finding(
            variable=variable,
            value=text,
            effect=f"{count} is {environ[count]!r} and wins over {DEVICE_COUNT_FLAG}={emulated}",
            remedy="take the flag out",
        )


def _counted(environ: Mapping[str, str]) -> object:
    """The count of the variable, where jax takes one from it."""
    row = setting("cpu_devices")
    try:
        return row.read(row.variable, environ[row.variable]) if row.variable in environ else None
    except MisreadError:
        return None


def _legacy(environ: Mapping[str, str]) -> Iterator[Finding]:
    if name := environ.get(PLATFORM_NAME, ""):
        platforms = setting("platforms").variable
        yield Finding(
            variable=PLATFORM_NAME,
            value=name,
            effect=f"a legacy name: it only picks the default among the platforms that {platforms} starts, or all there are",
            remedy="unset it" if environ.get(platforms) else f"unset it, and write {platforms}={_platform_of(name)}",
        )


def _platform_of(name: str) -> str:
    # jax lower-cases the legacy name, and no other; gpu is no platform there.
    return "cuda" if name.lower() == "gpu" else name if name == "METAL" else name.lower()


# Names that people write and that look like no other, for what they mean.
_NICKNAMES = {
    "JAX_BACKEND": "JAX_PLATFORMS",
    "JAX_CACHE_DIR": "JAX_COMPILATION_CACHE_DIR",
    "JAX_DEVICE_COUNT": "JAX_NUM_CPU_DEVICES",
    "JAX_MATMUL_PRECISION": "JAX_DEFAULT_MATMUL_PRECISION",
    "JAX_X64": "JAX_ENABLE_X64",
    "XLA_MEM_FRACTION": "XLA_CLIENT_MEM_FRACTION",
    "XLA_PREALLOCATE": "XLA_PYTHON_CLIENT_PREALLOCATE",
}


def _slips(names: list[str], environ: Mapping[str, str]) -> Iterator[Finding]:
    from ._other_variables import OTHER_VARIABLES

    known = OTHER_VARIABLES | {row.variable for row in SETTINGS}
    for name in sorted(set(names) - known):
        if meant := _meant(name, known):
            yield Finding(
                variable=name, value=environ[name], effect="no jax reads that name", remedy=f"did you mean {meant}?"
            )


def _meant(name: str, known: frozenset[str]) -> str | None:
    if name.upper() in known:
        return name.upper()
    if name in _NICKNAMES:
        return _NICKNAMES[name]
    from difflib import get_close_matches

    # Measured: below this, names of people's own such as JAX_HOME or JAX_TOOLBOX_REF begin to look like jax's.
    near = get_close_matches(name, sorted(known), n=1, cutoff=0.86)
    return near[0] if near else None
