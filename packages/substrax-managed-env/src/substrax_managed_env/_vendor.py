"""The shell templates: the settings that a copy keeps, and how it differs from its template. Text in, text out."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from ._environment import check_prefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "EXECUTABLE",
    "TEMPLATES",
    "Copy",
    "differences",
    "disagreement",
    "installed",
    "is_newer",
    "read",
    "upgraded",
    "with_settings",
]

TEMPLATES = ("activate.sh", "setup.sh")
EXECUTABLE = ("setup.sh",)

_SHARED = ("prefix", "env_file", "root_from_here")
_VERSION = "# substrax shell template "
_BEGIN, _END = "# >>> settings", "# <<< settings"


@dataclass(frozen=True, kw_only=True, slots=True)
class Copy:
    """A file that is a copy of a template, taken apart."""

    name: str
    version: str
    head: tuple[str, ...]
    """The lines up to the mark where the settings begin."""
    settings: tuple[str, ...]
    """The lines of the settings, which an upgrade keeps."""
    tail: tuple[str, ...]
    """The lines from the mark on where the settings end."""
    shared: Mapping[str, str]
    """The settings that both templates have, by their names."""


def read(name: str, text: str) -> Copy:
    """Take `text` apart, the file `name`.

    Raises:
        ValueError: In words that follow the name, if it is no copy that an upgrade could keep the settings of.
    """
    if _has_crlf(text):
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    stated = next((line for line in lines if line.startswith(_VERSION)), None)
    if stated is None or not any(line.startswith(f"# {name} - ") for line in lines):
        raise ValueError("is no copy of the template; --force replaces it, with its settings")
    version = stated.removeprefix(_VERSION).partition(",")[0]
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})*", version):
        raise ValueError(f"says no version that can be read, {stated!r}, expected {_VERSION!r} and one, such as 0.1.0,")
    begins = [number for number, line in enumerate(lines, start=1) if line.startswith(_BEGIN)]
    ends = [number for number, line in enumerate(lines) if line.startswith(_END)]
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise ValueError(
            f"does not have one line that begins its settings, {_BEGIN!r}, and one that ends them, {_END!r}"
        )
    head, settings, tail = lines[: begins[0]], lines[begins[0] : ends[0]], lines[ends[0] :]
    shared = _shared_settings(name, settings)
    return Copy(name=name, version=version, head=tuple(head), settings=tuple(settings), tail=tuple(tail), shared=shared)


def disagreement(first: Copy, second: Copy) -> str:
    """What `second` says that `first` does not, in words that follow its name; empty if they agree."""
    for setting in _SHARED:
        if (here := second.shared[setting]) != (there := first.shared[setting]):
            return f"says that {setting} is {here!r}, and {first.name} that it is {there!r}; change one of them"
    return ""


def is_newer(copy: Copy) -> bool:
    """Whether `copy` is of a later version than the installed template."""
    return _release(copy.version) > _release(installed(copy.name).version)


def upgraded(copy: Copy) -> str:
    """The installed template with the settings of `copy`, byte for byte."""
    template = installed(copy.name)
    return "\n".join([*template.head, *copy.settings, *template.tail])


def with_settings(template: Copy, settings: Mapping[str, str]) -> str:
    """The text of `template` that says `settings`; those that it does not have are skipped."""
    lines = list(template.settings)
    for number, line in enumerate(lines):
        if (setting := _setting(line)) in settings:
            lines[number] = f"{line.partition('=')[0]}={shlex.quote(settings[setting])}"
    return "\n".join([*template.head, *lines, *template.tail])


def differences(copy: Copy, text: str) -> list[str]:
    """How `text`, which `copy` was read from, is not what an upgrade makes of it, in words that follow its name."""
    template = installed(copy.name).version
    if _has_crlf(text):
        return [
            "has CRLF line ends, which a shell takes for a part of each value; put *.sh text eol=lf in .gitattributes"
        ]
    if copy.version != template:
        return [f"is a copy of template {copy.version}, {'newer' if is_newer(copy) else 'older'} than {template} here"]
    if text == (wanted := upgraded(copy)):
        return []
    lines = text.split("\n")
    pairs = enumerate(zip(lines, wanted.split("\n"), strict=False), start=1)
    different = next(((number, line) for number, (line, other) in pairs if line != other), None)
    if wanted.startswith(text):
        return [f"is template {template} without its end, after line {len(lines)}"]
    if different is None or different[0] == len(wanted.split("\n")):
        return [f"goes on after the end of template {template}"]
    return [f"differs from template {template} in line {different[0]}: {different[1].strip()!r}"]


def _shared_settings(name: str, lines: list[str]) -> dict[str, str]:
    """What the lines of the settings say; the first of each counts, as further values may look like them."""
    prefix = "_substrax_" if name == "activate.sh" else ""
    found: dict[str, str] = {}
    for line in lines:
        setting = _setting(line)
        if setting in _SHARED and line.strip().startswith(f"{prefix}{setting}="):
            value = line.partition("=")[2]
            with suppress(ValueError):
                value = "".join(shlex.split(value, comments=True)[:1])
            found.setdefault(setting, value)
    if missing := [setting for setting in _SHARED if setting not in found]:
        raise ValueError(f"does not say {prefix}{missing[0]}=... in its settings; put it there")
    if carriage_returns := [line for line in lines if line.endswith("\r")]:
        raise ValueError(f"has a carriage return in its settings, {carriage_returns[0]!r}; take it out")
    try:
        check_prefix(found["prefix"])
    except ValueError as error:
        raise ValueError(f"says in its settings that {error}") from None
    return found


def _setting(line: str) -> str:
    name, equals, _ = line.strip().partition("=")
    return name.removeprefix("_substrax_") if equals else ""


def _has_crlf(text: str) -> bool:
    """Whether a checkout has converted the line ends of all of it."""
    return text.count("\r\n") == text.count("\n") > 0


def _release(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


@cache
def installed(name: str) -> Copy:
    """The template `name` of this version, taken apart; it says the settings of substrax's own repository."""
    from importlib.resources import files

    try:
        return read(name, files(__package__ or "").joinpath("templates", name).read_text("ascii"))
    except NotADirectoryError as error:
        problem = "the templates are a symbolic link, which git has checked out as a file; set core.symlinks"
        raise OSError(error.errno, problem, error.filename) from error
