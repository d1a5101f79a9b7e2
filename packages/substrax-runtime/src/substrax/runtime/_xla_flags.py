"""The grammar of `XLA_FLAGS`: reading it as XLA does, and merging flags by name.

Source: openxla/xla `xla/parse_flags_from_env.cc`, and runs of jaxlib 0.4.30 to 0.12.0.1. XLA splits at blanks, stops
without a word at the first token that has no leading dash, and lets the last of two values win. It ends the
process, without a Python exception, over a flag that it does not know.
"""

from __future__ import annotations

import re

from ._errors import XlaFlagConflictError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Literal

__all__ = ["check_flags", "effective_flags", "merge_xla_flags", "parse_xla_flags"]

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
    return _values(_tokens(value, _FLAGS_VARIABLE))


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
    merged = {name: (value, spelling) for name, value, spelling in _tokens(existing, _FLAGS_VARIABLE)}
    ours: dict[str, str | None] = {}
    for flag in requested:
        name, value, spelling = _one_flag(flag, "requested")
        _remember(ours, name, value)
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
    return _values(_one_flag(flag, subject) for flag in flags)


def effective_flags(value: str) -> dict[str, str | None]:
    """What XLA takes from an inherited `XLA_FLAGS`: of two values for one flag, the last."""
    return {name: flag_value for name, flag_value, _ in _tokens(value, _FLAGS_VARIABLE)}


def _values(tokens: Iterable[tuple[str, str | None, str]]) -> dict[str, str | None]:
    values: dict[str, str | None] = {}
    for name, value, _ in tokens:
        _remember(values, name, value)
    return values


def _remember(values: dict[str, str | None], name: str, value: str | None) -> None:
    if values.setdefault(name, value) != value:
        raise XlaFlagConflictError(name, values[name], value)


def _one_flag(flag: str, subject: str) -> tuple[str, str | None, str]:
    if not isinstance(flag, str):
        raise TypeError(f"{subject} holds {flag!r}, expected a string such as '--xla_dump_to=/tmp/xla'")
    found = list(_tokens(flag, subject, alone=True))
    if not found:
        raise ValueError(f"{subject} holds {flag!r}, expected a flag such as '--xla_dump_to=/tmp/xla'")
    return found[0]


def _tokens(text: str, subject: str, *, alone: bool = False) -> Iterator[tuple[str, str | None, str]]:
    """Name, value and spelling of each flag; `alone` refuses a text that is not exactly one flag."""
    if "\0" in text:
        raise ValueError(f"{subject} is {text!r}: no environment variable can hold a NUL character")
    flag = re.compile(_FLAG)
    start = position = _end(_SPACES, text, 0)
    while position < len(text):
        match = flag.match(text, position)
        if match is None or not _ends_there(text, match):
            reason = _why_no_flag(text, position, match, first=position == start, alone=alone)
            raise ValueError(f"{subject} is {text!r}: {reason}")
        if alone and match.group() != text:
            raise ValueError(f"{subject} holds {text!r}: {_why_not_alone(text.strip(_BLANKS))}")
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


def _why_not_alone(text: str) -> str:
    name, equals, value = text.partition("=")
    quoted = f"""; or quote a value that holds white space: {name}="{value}\"""" if equals else ""
    return f"white space separates flags, so XLA would read more than one; give each flag by itself{quoted}"


def _why_no_flag(text: str, position: int, match: re.Match[str] | None, *, first: bool, alone: bool) -> str:
    """The usual cause for a token that XLA would not read as its author meant, and what would do."""
    word = text[position : _end(_WORD, text, position)]
    name, equals, value = word.partition("=")
    if dash := next((character for character in name if character in _DASHES), ""):
        import unicodedata

        plain = name.translate(dict.fromkeys(map(ord, _DASHES), "-")).lstrip("-")
        return f"{word!r} has {dash!r} ({unicodedata.name(dash)}) for a hyphen; write --{plain}{equals}{value}"
    if first and word[0] in "\"'":
        return "it is wrapped in quotes, which XLA takes for the beginning of a file name; write it without them"
    if word[0] == "$":
        return f"{word!r} was not expanded; use double quotes in the shell, or write the flags themselves"
    if word[0] != "-":
        if first and not alone and ("/" in word or "." in word):
            return f"it names a flag file, which cannot be merged; write the flags that are in {word!r} here"
        lost = (
            "takes it for a file name" if first and not alone else "stops reading there and drops every flag after it"
        )
        return f"{word!r} is no flag, and XLA {lost}; write it as --name or --name=value, or leave it out"
    if match is not None and match["equals"] is not None:
        return (
            f"XLA drops what follows the closing quote of {match.group()} and every flag after it; put a blank between"
        )
    if match is None:
        plain = name.lstrip("-") or "name"
        return f"{word!r} is no flag, since a name follows exactly two hyphens; write --{plain}{equals}{value}"
    if match.group() == name:
        return f"the quote that opens in {word!r} is not closed; close it with {value[0]}"
    return f"{word!r} is no flag, since a name has only letters, digits, '-' and '_', and ends at a blank or '='"
