"""The grammar of `XLA_FLAGS`: reading it as XLA does, and merging flags by name.

Source: openxla/xla `xla/parse_flags_from_env.cc`, and runs of jaxlib 0.4.30 to 0.12.0.1. XLA splits at blanks, stops
without a word at the first token that has no leading dash, and lets the last of two values win. It ends the
process, without a Python exception, over a flag that it does not know.
"""

from __future__ import annotations

import os
import re

from ._errors import MisreadError, XlaFlagConflictError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Literal

__all__ = [
    "check_flags",
    "effective_flags",
    "fits_environment",
    "flag_history",
    "flags_once",
    "merge_xla_flags",
    "parse_xla_flags",
]

_FLAGS_VARIABLE = "XLA_FLAGS"
# Exactly these four: to XLA a vertical tab, a form feed or a comma is part of the word.
_BLANKS = " \t\r\n"
_SPACES = r"[ \t\r\n]*"
_WORD = r"[^ \t\r\n]*"
# Text, compiled at first use: most processes give no flag, and compiling costs more than importing this module.
_FLAG = r"""(?xs)
    (?P<name> -- (?!-) [A-Za-z0-9_-]+ )
    (?: (?P<equals> = )
        (?: " (?P<double> (?: [^"\\] | \\. )* ) "    # a backslash makes the next character literal
          | ' (?P<single> [^']* ) '                  # nothing is special
          | (?P<bare> (?! ["'] ) [^ \t\r\n]* )
        )
    )?
"""
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"


def parse_xla_flags(value: str) -> dict[str, str | None]:
    """XLA flags of one `XLA_FLAGS` string, in the order given.

    Args:
        value: The text, as XLA would read it: blanks separate, `--name="x y"` and `--name='x y'` hold a blank.

    Returns:
        Flag names, dashes kept, to values: `None` for a bare `--name`, `""` for `--name=`.

    Raises:
        XlaFlagConflictError: If one flag has two different values (XLA would take the last, silently).
        ValueError: If a token is not a flag; the message names the usual cause and what would do.

    Source:
        openxla/xla `xla/parse_flags_from_env.cc`; run with jaxlib 0.4.30 to 0.12.0.1.

    >>> parse_xla_flags("--xla_dump_to='/tmp/two words' --xla_cpu_enable_fast_math")
    {'--xla_dump_to': '/tmp/two words', '--xla_cpu_enable_fast_math': None}
    """
    return _values(_tokens(value, _FLAGS_VARIABLE), _FLAGS_VARIABLE)


def merge_xla_flags(
    existing: str, requested: Iterable[str], *, on_conflict: Literal["raise", "keep", "replace"] = "raise"
) -> str:
    """One `XLA_FLAGS` string with the flags of `existing` and those of `requested`.

    Flags already present keep their position and their spelling; new ones follow in the order requested. A flag
    that `existing` repeats counts with its last value, which is the one that XLA takes.

    Args:
        existing: An `XLA_FLAGS` string; may be empty or blank.
        requested: Flags to add, each `--name` or `--name=value`; a value with white space in quotes.
        on_conflict: What to do with a flag that is present with a different value: `"raise"`, `"keep"` the
            existing value, or `"replace"` it where it stands. `--a` and `--a=true` are different values.

    Returns:
        The flags, one space between two; `""` when there are none.

    Raises:
        XlaFlagConflictError: If a flag is present with a different value and `on_conflict` is `"raise"`, or if
            `requested` itself gives one flag two values.
        ValueError: If `on_conflict` or a token of `existing` or `requested` is not valid.
        TypeError: If `requested` is one string, or holds something that is not a string.

    Source:
        openxla/xla `xla/parse_flags_from_env.cc`; run with jaxlib 0.4.30 to 0.12.0.1.

    >>> merge_xla_flags(" --a=1   --b ", ["--c=3"])
    '--a=1 --b --c=3'
    """
    if on_conflict not in ("raise", "keep", "replace"):
        raise ValueError(f"on_conflict is {on_conflict!r}, expected 'raise', 'keep' or 'replace'")
    if isinstance(requested, str):
        raise TypeError(f"requested is {requested!r}, expected a sequence of flags such as [{requested!r}]")
    merged = {name: given[-1] for name, given in flag_history(existing).items()}
    ours: dict[str, str | None] = {}
    for flag in requested:
        name, value, spelling = _one_flag(flag, "requested")
        _remember(ours, name, value, "requested")
        present = merged.get(name)
        if present is None:
            merged[name] = (value, spelling)
        elif present[0] != value:
            if on_conflict == "raise":
                raise XlaFlagConflictError(name, present[0], value)
            if on_conflict == "replace":
                merged[name] = (value, spelling)
    return " ".join(spelling for _, spelling in merged.values())


def check_flags(flags: Iterable[str], subject: str) -> dict[str, str | None]:
    """Values by name of flags given one by one; `subject` is what the messages call them."""
    return _values((_one_flag(flag, subject) for flag in flags), subject)


def flags_once(flags: Iterable[str]) -> tuple[str, ...]:
    """Flags that `check_flags` has passed, each name once, as it is spelled first."""
    first: dict[str, str] = {}
    for flag in flags:
        first.setdefault(_one_flag(flag, "")[0], flag)
    return tuple(first.values())


def flag_history(value: str) -> dict[str, list[tuple[str | None, str]]]:
    """Value and spelling of each time that a flag is given in an inherited `XLA_FLAGS`; XLA takes the last."""
    history: dict[str, list[tuple[str | None, str]]] = {}
    for name, flag_value, spelling in _tokens(value, _FLAGS_VARIABLE):
        history.setdefault(name, []).append((flag_value, spelling))
    return history


def effective_flags(value: str) -> dict[str, str | None]:
    """What XLA takes from an inherited `XLA_FLAGS`: of two values for one flag, the last."""
    return {name: given[-1][0] for name, given in flag_history(value).items()}


def fits_environment(text: str) -> bool:
    """Whether an environment variable can hold `text`: neither NUL nor half a character."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _values(tokens: Iterable[tuple[str, str | None, str]], subject: str) -> dict[str, str | None]:
    values: dict[str, str | None] = {}
    for name, value, _ in tokens:
        _remember(values, name, value, subject)
    return values


def _remember(values: dict[str, str | None], name: str, value: str | None, subject: str) -> None:
    if values.setdefault(name, value) != value:
        conflict = XlaFlagConflictError(name, values[name], value)
        conflict.where = subject
        raise conflict


def _one_flag(flag: str, subject: str) -> tuple[str, str | None, str]:
    if not isinstance(flag, str):
        raise TypeError(f"{subject} holds {flag!r}, expected a string such as '--xla_dump_to=/tmp/xla'")
    found = list(_tokens(flag, subject, alone=True))
    if not found:
        raise ValueError(f"{subject} holds {flag!r}, expected a flag such as '--xla_dump_to=/tmp/xla'")
    return found[0]


def _tokens(text: str, subject: str, *, alone: bool = False) -> Iterator[tuple[str, str | None, str]]:
    """Name, value and spelling of each flag; `alone` refuses a text that is not exactly one flag."""
    if not fits_environment(text):
        raise MisreadError(subject, text, "no environment variable can hold it", "leave out what is no text")
    flag = re.compile(_FLAG)
    start = position = _end(_SPACES, text, 0)
    while position < len(text):
        match = flag.match(text, position)
        if match is None or not _ends_there(text, match):
            effect, remedy = _why_no_flag(text, position, match, first=position == start, alone=alone)
            raise MisreadError(subject, text, effect, remedy)
        if alone and match.group() != text:
            effect = "white space separates flags, so XLA would read more than one"
            raise MisreadError(subject, text, effect, _how_alone(text.strip(_BLANKS)))
        yield match["name"], _value(match), match.group()
        position = _end(_SPACES, text, match.end())


def _end(pattern: str, text: str, position: int) -> int:
    match = re.compile(pattern).match(text, position)
    return position if match is None else match.end()


def _ends_there(text: str, match: re.Match[str]) -> bool:
    following = text[match.end() : match.end() + 1]
    # A closing quote ends the token, so the next flag may touch it; after anything else there has to be a blank.
    quoted = match["double"] is not None or match["single"] is not None
    return following == "" or following in _BLANKS or (quoted and following == "-")


def _value(match: re.Match[str]) -> str | None:
    if match["double"] is not None:
        return re.sub(r"(?s)\\(.)", r"\1", match["double"])
    return match["bare"] if match["single"] is None else match["single"]


def _how_alone(text: str) -> str:
    name, equals, value = text.partition("=")
    value = value.replace("\\", "\\\\").replace('"', '\\"')
    quoted = f''', or quote a value that holds white space: {name}="{value}"''' if equals else ""
    return f"give each flag by itself{quoted}"


def _why_no_flag(text: str, position: int, match: re.Match[str] | None, *, first: bool, alone: bool) -> tuple[str, str]:
    """What XLA makes of a token that is no flag, which is the usual cause, and what would do."""
    word = text[position : _end(_WORD, text, position)]
    name, equals, value = word.partition("=")
    if dash := next((character for character in name if character in _DASHES), ""):
        import unicodedata

        plain = name.translate(dict.fromkeys(map(ord, _DASHES), "-")).lstrip("-")
        return f"{word!r} has {dash!r} ({unicodedata.name(dash)}) for a hyphen", f"write --{plain}{equals}{value}"
    if first and word[0] in "\"'":
        return "it is wrapped in quotes, which XLA takes for the beginning of a file name", "write it without them"
    if word[0] == "$":
        return f"{word!r} was not expanded", "use double quotes in the shell, or write the flags themselves"
    if word[0] != "-":
        if first and not alone and ("/" in word or "." in word):
            return "it names a flag file, which cannot be merged", f"write the flags that are in {word!r} here"
        lost = (
            "takes it for a file name" if first and not alone else "stops reading there and drops every flag after it"
        )
        return f"{word!r} is no flag, and XLA {lost}", "write it as --name or --name=value, or leave it out"
    if match is not None and match["equals"] is not None:
        return (
            f"XLA drops what follows the closing quote of {match.group()} and every flag after it",
            "put a blank between",
        )
    if not name.startswith("--") or name[2:3] in ("", "-"):
        plain = name.lstrip("-") or "name"
        return f"{word!r} is no flag, since a name follows exactly two hyphens", f"write --{plain}{equals}{value}"
    if match is not None and match.group() == name:
        return f"the quote that opens in {word!r} is not closed", f"close it with {value[0]}"
    return (
        f"{word!r} is no flag, since a name has only letters, digits, '-' and '_'",
        "end it with a blank or '='",
    )
