"""What was observed, compared field by field with what was declared, and the likely reason where they differ."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath

from ._config import declared
from ._errors import MisreadError, RuntimeConfigurationError
from ._settings import release, setting
from ._values import DEVICE_COUNT_FLAG, flag_count
from ._xla_flags import effective_flags, parse_xla_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ._config import JaxRuntime
    from ._report import RuntimeReport
    from ._settings import Setting

__all__ = ["Observation", "refuse_what_is_not_in_effect"]


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen of one jax process, beyond its report."""

    report: RuntimeReport
    options: dict[str, object]
    """What XLA has parsed, of the flags that jaxlib shows."""
    failures: dict[str, str]
    """Why platforms did not start, in jax's words."""
    reads_urls: bool
    """Whether jax can use a URL for its cache."""
    plugin_words: str = ""
    """What the log of a child says of a plugin that failed."""


def refuse_what_is_not_in_effect(runtime: JaxRuntime, observation: Observation, environ: Mapping[str, str]) -> None:
    """Raise `RuntimeConfigurationError` that names every field of `runtime` which is not in effect, and why."""
    faults = [
        f"{row.field}: declared {value!r}, in effect {effective} ({reason})"
        for row, value in declared(runtime)
        for effective, reason in _faults(row, value, observation, environ)
    ]
    if faults:
        raise RuntimeConfigurationError(f"not in effect in jax {observation.report.jax_version}: {'; '.join(faults)}")


def _faults(row: Setting, value: Any, seen: Observation, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What is in effect instead of `value`, and the likely reason; nothing where `value` is in effect."""
    report = seen.report
    why = _why_not_applied(row, value, report, environ)
    if row.field == "platforms":
        yield from _platform_faults(value, seen, why)
    elif row.field == "cpu_devices":
        yield from _count_faults(value, report, why)
    elif row.field == "xla_flags":
        yield from _flag_faults(value, seen, environ)
    elif row.field in ("preallocate", "memory_fraction"):
        if not {"cuda", "rocm", "oneapi"} & set(report.platforms):
            yield "nothing", f"only a GPU plugin reads {row.variable}, and none has started"
        elif getattr(report, row.field) != value:
            yield repr(getattr(report, row.field)), why
    elif row.field == "compilation_cache_dir":
        yield from _cache_faults(os.fspath(value), seen, why)
    elif getattr(report, row.field) != value:
        yield repr(getattr(report, row.field)), why


def _why_not_applied(row: Setting, value: object, report: RuntimeReport, environ: Mapping[str, str]) -> str:
    if release(report.jax_version) < release(row.since):
        return f"jax {report.jax_version} does not read {row.variable}; jax {row.since} is the first that does"
    text = environ.get(row.variable)
    if text is not None and _reads(row, text) == value:
        return f"{row.variable} says so, but was set after jax had read it, or something has changed it since"
    return f"{row.variable} is {'not set' if text is None else repr(text)}, and nothing else has applied it"


def _reads(row: Setting, text: str) -> object:
    try:
        return row.read(row.variable, text)
    except MisreadError:
        return None


def _platform_faults(value: tuple[str, ...], seen: Observation, why: str) -> Iterator[tuple[str, str]]:
    report = seen.report
    missing = [name for name in value if name not in report.platforms]
    others = [name for name in report.platforms if name not in value]
    if not missing and not others and report.default_backend == value[0]:
        return
    effective = f"{report.default_backend!r}, of {report.platforms!r}"
    if missing:
        name = missing[0]
        words = seen.failures.get(name) or seen.plugin_words
        if words:
            why = f"jax says of {name}: {words}"
        elif "says so" in why:
            why = f"jax left {name} out without a word: its plugin is not installed, or no device of it is visible"
    yield effective, why


def _count_faults(value: int, report: RuntimeReport, why: str) -> Iterator[tuple[str, str]]:
    count = report.device_counts.get("cpu")
    if count is None:
        yield "nothing", "the platform cpu has not started"
    elif count != value:
        yield repr(count), why


def _cache_faults(value: str, seen: Observation, why: str) -> Iterator[tuple[str, str]]:
    directory = seen.report.compilation_cache_dir
    is_url = "://" in value
    if directory is None or (directory != value if is_url else PurePath(directory) != PurePath(value)):
        yield repr(directory), why
    elif is_url and not seen.reads_urls:
        yield "nothing", "for a URL jax needs etils[epath], which is not installed, and only warns"
    elif not is_url and not _can_be_made(value):
        yield "nothing", "jax cannot write there, and only warns"


def _can_be_made(directory: str) -> bool:
    while not os.path.lexists(directory) and directory != os.path.dirname(directory):
        directory = os.path.dirname(directory)
    return os.path.isdir(directory) and os.access(directory, os.W_OK | os.X_OK)


def _flag_faults(value: tuple[str, ...], seen: Observation, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    variable = setting("xla_flags").variable
    text = environ.get(variable, "")
    for name, wanted in parse_xla_flags(" ".join(value)).items():
        shown = name if wanted is None else f"{name}={wanted}"
        if name == DEVICE_COUNT_FLAG:
            count = seen.report.device_counts.get("cpu")
            if count != flag_count(wanted):
                yield f"{count} CPU devices", f"{shown} came too late, or {setting('cpu_devices').variable} beats it"
        elif name in seen.options:
            if not _means(wanted, seen.options[name]):
                yield (
                    f"{name}={seen.options[name]}",
                    f"{variable} was set too late or not at all, or this XLA heeds {name} no more",
                )
        else:
            # XLA parses it, but jaxlib does not show it: the variable is all there is to look at.
            try:
                inherited = effective_flags(text)
            except MisreadError as fault:
                yield f"{variable}={text!r}", f"{fault.effect}; {fault.remedy}"
                return
            if name not in inherited or not _alike(inherited[name], wanted):
                yield f"{variable}={text!r}", f"{shown} is not in it"


def _means(text: str | None, parsed: object) -> bool:
    """Whether XLA makes `parsed` of the text behind a flag's equals sign."""
    if isinstance(parsed, bool):
        return parsed is (text is None or text.lower() in ("true", "1"))
    if isinstance(parsed, int):
        return text is not None and text.lstrip("+-").isdecimal() and int(text) == parsed
    return (text or "") == parsed


def _alike(one: str | None, other: str | None) -> bool:
    """Whether XLA reads two values of a flag alike, as it does the spellings of a truth value."""
    return one == other or any(
        {"true" if text is None else text.lower() for text in (one, other)} <= spellings
        for spellings in ({"true", "1"}, {"false", "0"})
    )
