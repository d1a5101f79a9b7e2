"""Pure: the environment file as shell text, and what such a text sets when it is read back as data."""

from __future__ import annotations

from ._environment import check_prefix, check_variables, manifest_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["read_back", "render"]

FORMAT = 1
"""Version of the file's form; an `activate.sh` that reads this one reads every older one."""


def render(*, prefix: str, values: Mapping[str, str | None]) -> str:
    """The shell text that sets `values`.

    Args:
        prefix: The project's prefix, as for `managed_environment`.
        values: Names to values, as `managed_environment` returns them; `None` for one to unset.

    Returns:
        A comment that names the generator, the manifest `export <PREFIX>_MANAGED_ENV_VARS='...'`, then one
        `export NAME='value'` or `unset NAME` a variable, each ended by a line feed. A value is read back byte for
        byte by every POSIX shell, and nothing in it is executed.

    Raises:
        ValueError: If `prefix` is no upper-case shell name, a name is no shell name, or a value cannot be given to
            a process.

    >>> print(render(prefix="DEMO", values={"DEMO_BACKEND": "cpu", "XLA_FLAGS": None}), end="")
    # Written by python -m substrax.runtime.managed_env (format 1); the next write replaces this file.
    export DEMO_MANAGED_ENV_VARS='DEMO_BACKEND XLA_FLAGS'
    export DEMO_BACKEND='cpu'
    unset XLA_FLAGS
    """
    check_prefix(prefix)
    check_variables(values)
    return "".join(f"{line}\n" for line in _lines(manifest_name(prefix), values))


def read_back(text: str) -> dict[str, str]:
    """The variables that `text` exports, as a shell would have them, without executing anything.

    Args:
        text: What `render` wrote, or a text of `export` and `unset` lines edited by hand.

    Returns:
        Names to values. Empty where a quote is not closed, or where the text does more than export and unset: what
        it sets then cannot be told without executing it.
    """
    import shlex

    words = shlex.shlex(text, posix=True, punctuation_chars="\n;")
    words.whitespace = " \t"
    words.whitespace_split = True
    # Told here, since shlex takes the end of the line away together with a comment.
    words.commenters = ""
    exported: dict[str, str] = {}
    command = ""
    try:
        for word in words:
            if not word.strip("\n;"):
                command = command if command == "#" and "\n" not in word else ""
            elif command == "#" or word.startswith("#"):
                command = "#"
            elif not command:
                if word not in ("export", "unset"):
                    return {}
                command = word
            elif command == "unset":
                exported.pop(word, None)
            elif "=" in word:
                name, _, exported_value = word.partition("=")
                exported[name] = exported_value
    except ValueError:
        return {}
    return exported


def _lines(manifest: str, values: Mapping[str, str | None]) -> Iterator[str]:
    yield f"# Written by python -m substrax.runtime.managed_env (format {FORMAT}); the next write replaces this file."
    yield f"export {manifest}={_quoted(' '.join(values))}"
    for name, value in values.items():
        yield f"unset {name}" if value is None else f"export {name}={_quoted(value)}"


def _quoted(value: str) -> str:
    # Within single quotes every byte is itself in every shell; only a single quote has to step outside.
    return "'" + value.replace("'", "'\\''") + "'"
