"""The disk: a file is replaced whole, durably and with its mode, or left exactly as it was."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

__all__ = ["replace_file"]

_TEMPORARY = ".substrax-writing-"

# What a kernel or a file system answers that has no nameless files, or cannot give one a name.
_NO_NAMELESS_FILES = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.EXDEV, errno.EPERM)


def replace_file(path: str, data: bytes, *, executable: bool = False) -> None:
    """Make `path` a regular file that holds `data`.

    A reader sees the old file or the new one, each whole, whatever happens to the writer. A new file gets mode 0644
    less the umask, an existing one keeps its mode. A symbolic link is refused: replacing it would cut it off from
    its target without a word, and following it would write where nobody looked.

    Args:
        path: Where to write; its directory has to exist.
        data: The whole content.
        executable: Whether its owner, and whoever may read it, may run it; 0755 for a new one.

    Raises:
        OSError: With `path` as its `filename`, if that is a symbolic link or not a regular file, or if the system
            refuses; nothing has changed then.

    Source:
        rename(2), fsync(2) and open(2) with `O_TMPFILE`; run on Linux 6.
    """
    directory, name = os.path.split(path)
    try:
        mode = _mode_to_keep(path)
        if mode is not None and executable:
            mode |= 0o100 | (mode & 0o444) >> 2
        folder = os.open(directory or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            _remove_litter(folder)
            _put(folder, name, data, mode, new_mode=0o755 if executable else 0o644)
            # Some file systems cannot; what is written is written all the same.
            with suppress(OSError):
                os.fsync(folder)
        finally:
            os.close(folder)
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, "there is no such directory to write in", path) from error
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def _put(folder: int, name: str, data: bytes, mode: int | None, new_mode: int) -> None:
    # Not with the name in it, which may be as long as a name can be.
    temporary = f"{_TEMPORARY}{os.getpid()}-{os.urandom(4).hex()}"
    try:
        _create(folder, temporary, data, mode, new_mode)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _remove_litter(folder: int) -> None:
    """Temporary files of writers that were killed between giving their file a name and renaming it."""
    for name in os.listdir(folder):
        writer = name.removeprefix(_TEMPORARY).partition("-")[0]
        if name.startswith(_TEMPORARY) and writer.isdecimal() and not _is_alive(int(writer)):
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _mode_to_keep(path: str) -> int | None:
    try:
        present = os.lstat(path).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(present):
        raise OSError(errno.ELOOP, "it is a symbolic link, which is not followed; name the file itself")
    if not stat.S_ISREG(present):
        raise OSError(errno.EEXIST, "it is there already and not a regular file")
    return stat.S_IMODE(present)


def _create(folder: int, name: str, data: bytes, mode: int | None, new_mode: int) -> None:
    """A new file `name` in `folder`; if possible it has no name until it is whole, so kill -9 leaves no part."""
    if hasattr(os, "O_TMPFILE"):
        try:
            nameless = os.open(".", os.O_WRONLY | os.O_TMPFILE, new_mode, dir_fd=folder)
            with open(nameless, "wb") as file:
                _fill(file.fileno(), data, mode)
                # dst_dir_fd makes Python call linkat(2), which alone follows the link in /proc to the file.
                os.link(f"/proc/self/fd/{nameless}", name, dst_dir_fd=folder)
            return
        except OSError as error:
            if error.errno not in _NO_NAMELESS_FILES:
                raise
    with open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, new_mode, dir_fd=folder), "wb") as file:
        _fill(file.fileno(), data, mode)


def _fill(descriptor: int, data: bytes, mode: int | None) -> None:
    if mode is not None:
        os.fchmod(descriptor, mode)
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[os.write(descriptor, remaining) :]
    os.fsync(descriptor)
