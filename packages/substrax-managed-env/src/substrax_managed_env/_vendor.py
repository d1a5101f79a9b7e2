"""The shell templates: the settings that a copy keeps, and how it differs from its template. Text in, text out."""

from __future__ import annotations

from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EXECUTABLE", "TEMPLATES", "faults", "shared_settings", "texts", "version"]

TEMPLATES = ("activate.sh", "setup.sh")
EXECUTABLE = ("setup.sh",)

_SHARED = ("prefix", "env_file", "root_from_here")
_VERSION = "substrax shell template "
_BEGIN, _END = "# >>> settings", "# <<< settings"


def texts(copies: Mapping[str, str | None], settings: Mapping[str, str], *, force: bool = False) -> dict[str, str]:
    """What each copy has to be: its template, with the settings of the copy that is there, byte for byte.

    Args:
        copies: The file of each name in `TEMPLATES`, `None` where there is none.
        settings: Those of a file that is not there yet; it takes what both have from the other one, if that is there.
        force: Whether a file that is no copy is replaced like one that is not there, and a newer one by an older.

    Raises:
        ValueError: If a file is no copy, or a newer one; or if two copies do not say the same.
    """
    if problem := _disagreement(copies):
        raise ValueError(f"{TEMPLATES[1]} {problem}")
    settings = {**settings, **shared_settings(copies)}
    made = {}
    for name, copy in copies.items():
        if copy is not None and not force and (not version(copy) or _is_newer(name, copy)):
            raise ValueError(f"{name} {faults(copies)[name][0]}")
        made[name] = _upgraded(name, copy) if copy is not None and version(copy) else with_settings(name, settings)
    return made


def faults(copies: Mapping[str, str | None]) -> dict[str, list[str]]:
    """What is wrong with each copy, in words that follow its name."""
    found = {name: ["is missing"] if copy is None else _faults(name, copy) for name, copy in copies.items()}
    if problem := _disagreement(copies):
        found[TEMPLATES[1]].append(problem)
    return found


def shared_settings(copies: Mapping[str, str | None]) -> dict[str, str]:
    """The settings that stand in both templates, as the first copy that is there has them."""
    return next((found for copy in copies.values() if copy is not None and (found := _settings(copy))), {})


def version(copy: str) -> str:
    """The version of the template that `copy` is a copy of; empty if it is a copy of none."""
    words = next((line.partition(_VERSION)[2] for line in copy.split("\n")[:20] if _VERSION in line), "")
    number = words.partition(",")[0]
    is_one = all(part.isascii() and part.isdecimal() for part in number.split("."))
    return number if is_one and _parts(copy)[1] else ""


def with_settings(name: str, settings: Mapping[str, str]) -> str:
    """The template `name` that says `settings`; those that it does not have are skipped."""
    import shlex

    head, block, tail = _parts(_template(name))
    for number, line in enumerate(block):
        if (setting := _setting(line)) in settings:
            block[number] = f"{line.partition('=')[0]}={shlex.quote(settings[setting])}"
    return "\n".join([*head, *block, *tail])


def _disagreement(copies: Mapping[str, str | None]) -> str:
    first, second = (_settings(copies[name] or "") for name in TEMPLATES)
    for setting in _SHARED:
        if first and second and first.get(setting) != second.get(setting):
            here, there = second.get(setting), first.get(setting)
            return f"says that {setting} is {here!r}, and {TEMPLATES[0]} that it is {there!r}; change one of them"
    return ""


def _faults(name: str, copy: str) -> list[str]:
    present, installed = version(copy), version(_template(name))
    if not present:
        if _VERSION in copy:
            return [f"has lost a line that marks its settings, {_BEGIN!r} or {_END!r}; put it back"]
        return ["is no copy of the template; --force replaces it"]
    if _is_newer(name, copy):
        return [f"is a copy of template {present}, newer than {installed} here; upgrade substrax-managed-env"]
    if present != installed:
        return [f"is a copy of template {present}, older than {installed} here"]
    if copy == (wanted := _upgraded(name, copy)):
        return []
    if _has_crlf(copy):
        return [
            "has CRLF line ends, which a shell takes for a part of each value; put *.sh text eol=lf in .gitattributes"
        ]
    # The second list is longer or the same if the first runs out, so that there is always a difference to name.
    pairs = zip([*copy.split("\n"), "the end"], [*wanted.split("\n"), "the end"], strict=False)
    number, line = next((number, line) for number, (line, other) in enumerate(pairs, start=1) if line != other)
    return [f"differs from template {installed} in line {number}: {line.strip()!r}"]


def _upgraded(name: str, copy: str) -> str:
    head, _, tail = _parts(_template(name))
    return "\n".join([*head, *_parts(copy.replace("\r\n", "\n") if _has_crlf(copy) else copy)[1], *tail])


def _has_crlf(copy: str) -> bool:
    """Whether a checkout has converted the line ends of all of it."""
    return copy.partition("\n")[0].endswith("\r")


def _is_newer(name: str, copy: str) -> bool:
    present, installed = version(copy), version(_template(name))
    return [int(part) for part in present.split(".")] > [int(part) for part in installed.split(".")]


def _settings(copy: str) -> dict[str, str]:
    import shlex

    found = {}
    for line in _parts(copy)[1] if version(copy) else []:
        if (setting := _setting(line)) in _SHARED:
            value = line.partition("=")[2]
            # Where a quote is open there is a fault for setup.sh to name; here it is only not equal to another value.
            with suppress(ValueError):
                value = "".join(shlex.split(value, comments=True)[:1])
            found[setting] = value
    return found


def _setting(line: str) -> str:
    name, equals, _ = line.strip().partition("=")
    return name.removeprefix("_substrax_") if equals else ""


def _parts(text: str) -> tuple[list[str], list[str], list[str]]:
    """The lines up to the mark that begins the settings, the settings, and the lines from the mark that ends them."""
    lines = text.split("\n")
    begins = [number for number, line in enumerate(lines, start=1) if line.startswith(_BEGIN)]
    ends = [number for number, line in enumerate(lines) if line.startswith(_END)]
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        return lines, [], []
    return lines[: begins[0]], lines[begins[0] : ends[0]], lines[ends[0] :]


def _template(name: str) -> str:
    from importlib.resources import files

    try:
        return files(__package__ or "").joinpath("templates", name).read_text("ascii")
    except NotADirectoryError as error:
        problem = "the templates are a symbolic link, which git has checked out as a file; set core.symlinks"
        raise OSError(error.errno, problem, error.filename) from error
