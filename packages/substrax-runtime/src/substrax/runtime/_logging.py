"""`configure_entry_point_logging`: the one function here that touches `logging`, and only when it is called."""

from __future__ import annotations

import logging
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["configure_entry_point_logging"]


class _EntryPointHandler(logging.StreamHandler["TextIO"]):
    """The handler that belongs to this function, so that a second call finds it, and no other."""

    found_level: int
    """The root logger's level before this function changed it."""
    set_level: int
    """The level that this function has given it."""


def configure_entry_point_logging(
    level: int | str = logging.INFO, *, stream: TextIO | None = None, fmt: str = "%(message)s"
) -> None:
    """Send log records to a stream through one handler of its own on the root logger.

    Call it inside `main()`, never at import. A second call replaces that handler; every other one stays, pytest's
    capture included, and so does what the others receive: the root logger's level is lowered to `level` where
    needed, and never raised above what it was.

    Args:
        level: The least severe records to send, as a number or a name; default `logging.INFO`.
        stream: Where to send them; standard error, as it is at the call, when `None`.
        fmt: Format of a record, in `%` style.

    Raises:
        TypeError: If `level` is neither a number nor a name.
        ValueError: If `level` or `fmt` is not valid; nothing has changed then.

    Source:
        https://docs.python.org/3/library/logging.html, Python 3.11 to 3.13.
    """
    handler = _EntryPointHandler(sys.stderr if stream is None else stream)
    handler.setLevel(level)
    handler.setFormatter(logging.Formatter(fmt))
    root = logging.getLogger()
    handler.found_level = root.level
    for previous in [other for other in root.handlers if isinstance(other, _EntryPointHandler)]:
        # Where somebody else has set another level since, as pytest's caplog does, that one is to be kept.
        if root.level == previous.set_level:
            handler.found_level = previous.found_level
        root.removeHandler(previous)
        previous.close()
    handler.set_level = min(handler.found_level, handler.level)
    root.addHandler(handler)
    root.setLevel(handler.set_level)
