"""The command line: arguments, messages, exit codes."""

from __future__ import annotations

import os
import sys

from ._backends import BACKENDS, resolve_backend
from ._environment import check_prefix, managed_environment
from ._files import replace_file
from ._shell_file import read_back, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any, NoReturn

__all__ = ["main"]

_PROGRAM = "python -m substrax.runtime.managed_env"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: Arguments; those of the process when `None`.

    Returns:
        The exit code: 0; 1 if `vendor --check` has found something, a line each on standard output; 2 after one line on
        standard error that names what is wrong, with nothing written.
    """
    try:
        arguments = _parser().parse_args(argv)
        return int(arguments.run(arguments) or 0)
    except OSError as error:
        # strerror and not str(): the number tells a person nothing, and ours names a remedy.
        problem = f"{_shown(os.fspath(error.filename))}: {error.strerror}" if error.filename else str(error)
    except ValueError as error:
        problem = str(error)
    print(f"{_PROGRAM}: error: {' '.join(problem.split())}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    # Here and not above: it would be most of what importing substrax_managed_env costs.
    import argparse

    class Formatter(argparse.HelpFormatter):
        def __init__(self, prog: str) -> None:
            # A width of its own, since asking the terminal imports shutil, at every argument that is added.
            super().__init__(prog, width=100)

    class Parser(argparse.ArgumentParser):
        def __init__(self, **options: Any) -> None:
            super().__init__(allow_abbrev=False, formatter_class=Formatter, **options)

        def error(self, message: str) -> NoReturn:
            # One line, and main's exit code; argparse itself would print the usage as well, and exit.
            raise ValueError(message)

    parser = Parser(prog=_PROGRAM, description=str(sys.modules[__package__ or ""].__doc__))
    commands = parser.add_subparsers(title="commands", required=True, metavar="{write,show,vendor}", prog=_PROGRAM)

    write = commands.add_parser("write", help="write the environment file, whole or not at all")
    write.add_argument("--prefix", required=True, help="what the project's variables begin with, such as DATARAX")
    write.add_argument("--backend", default="auto", choices=BACKENDS, help="default: auto, what this host has")
    write.add_argument("--output", required=True, metavar="FILE", help="the file; a symbolic link is refused")
    write.add_argument("--project-root", default=".", metavar="DIR", help="default: the current directory")
    write.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="one more variable; repeatable")
    write.set_defaults(run=_write)

    show = commands.add_parser("show", help="say what is there and which backend is configured")
    show.add_argument("--prefix", required=True, help="as for write")
    show.add_argument("--env-file", required=True, metavar="FILE", help="the environment file")
    show.add_argument("--project-root", default=".", metavar="DIR", help="default: the current directory")
    show.add_argument(
        "--user-env", action="append", default=[], metavar="FILE", help="a file of the user's; repeatable"
    )
    show.set_defaults(run=_show)

    vendor = commands.add_parser("vendor", help="copy activate.sh and setup.sh in, or upgrade the copies")
    vendor.add_argument("--prefix", help="as for write; not needed where there are copies")
    vendor.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if a copy is not as it should be"
    )
    vendor.add_argument("--force", action="store_true", help="replace files that are no copies, or newer ones")
    vendor.add_argument("directory", nargs="?", default=".", metavar="DIR", help="default: the current directory")
    vendor.set_defaults(run=_vendor)
    return parser


def _write(arguments: argparse.Namespace) -> None:
    if not arguments.output:
        raise ValueError("--output is '', expected the name of a file")
    root = _directory(arguments.project_root)
    extra = _assignments(arguments.set)
    # Once with any backend, so that bad input is refused before a slow nvidia-smi is asked.
    managed_environment(prefix=arguments.prefix, backend="cpu", project_root=root, extra=extra)
    backend = resolve_backend(arguments.backend)
    values = managed_environment(prefix=arguments.prefix, backend=backend, project_root=root, extra=extra)
    replace_file(arguments.output, os.fsencode(render(prefix=arguments.prefix, values=values)))
    print(f"Wrote {_shown(arguments.output)} for backend '{backend}'.")


def _show(arguments: argparse.Namespace) -> None:
    check_prefix(arguments.prefix)
    root = _directory(arguments.project_root)
    backend = _configured_backend(arguments.prefix, arguments.env_file)
    print(f"Project root: {_shown(root)}")
    print(f".venv present: {os.path.isdir(os.path.join(root, '.venv'))}")
    for file in (arguments.env_file, *arguments.user_env):
        print(f"{_shown(file)} present: {os.path.isfile(file)}")
    print(f"Configured backend: {_shown(backend)}")


def _vendor(arguments: argparse.Namespace) -> int:
    # Here and not above: write has no use for it.
    from . import _vendor as templates

    folder = arguments.directory
    if not os.path.isdir(folder):
        raise ValueError(f"DIR is {folder!r}, expected a directory that exists")
    paths = {name: os.path.normpath(os.path.join(folder, name)) for name in templates.TEMPLATES}
    copies = {name: _text(path) for name, path in paths.items()}
    prefix = templates.shared_settings(copies).get("prefix", arguments.prefix)
    if arguments.prefix not in (None, prefix):
        raise ValueError(f"--prefix is {arguments.prefix!r}, and the copies here say {prefix!r}; change it in both")
    faults = templates.faults(copies)
    for name in templates.EXECUTABLE:
        if copies[name] is not None and not os.access(paths[name], os.X_OK):
            faults[name].append("is not executable")
    # Whole before the first is written.
    texts = None
    if not arguments.check:
        texts = templates.texts(copies, _first_settings(prefix, folder), force=arguments.force)

    for name, path in paths.items():
        for fault in faults[name] if texts is None or copies[name] is not None else ():
            print(f"{_shown(path)} {fault}")
        if not faults[name]:
            print(f"{_shown(path)} is up to date, template {templates.version(copies[name] or '')}")
        elif texts is not None:
            replace_file(path, os.fsencode(texts[name]), executable=name in templates.EXECUTABLE)
            print(f"Wrote {_shown(path)}, template {templates.version(texts[name])}")
    if texts is None and any(faults.values()):
        command = f"{_PROGRAM} vendor --prefix {prefix or 'PREFIX'}{'' if folder == '.' else f' {folder}'}"
        print(f"A new copy keeps the settings: {_shown(command)}")
        return 1
    return 0


def _text(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read())
    except FileNotFoundError:
        return None


def _first_settings(prefix: str | None, folder: str) -> dict[str, str]:
    """The settings of a new copy: the project of `folder`, and those of its extras that are named as a backend."""
    import tomllib

    if prefix is None:
        raise ValueError("--prefix is missing: what the project's variables begin with, such as DATARAX")
    check_prefix(prefix)
    here = root = os.path.abspath(folder)
    while not os.path.isfile(project := os.path.join(root, "pyproject.toml")) and root != os.path.dirname(root):
        root = os.path.dirname(root)
    extras: dict[str, object] = {}
    if os.path.isfile(project):
        with open(project, "rb") as file:
            extras = tomllib.load(file).get("project", {}).get("optional-dependencies", {})
    else:
        root = here
    return {
        "prefix": prefix,
        "env_file": f".{prefix.lower()}.env",
        "root_from_here": os.path.relpath(root, here),
        **{f"extras_{name}": name if name in extras else "" for name in BACKENDS if name != "auto"},
    }


def _configured_backend(prefix: str, env_file: str) -> str:
    # Asked before opening, since opening a pipe would wait for somebody to write to it.
    if not os.path.isfile(env_file):
        return "none"
    with open(env_file, "rb") as file:
        return read_back(os.fsdecode(file.read())).get(f"{prefix}_BACKEND") or "unknown"


def _directory(path: str) -> str:
    if not os.path.isdir(path):
        raise ValueError(f"--project-root is {path!r}, expected a directory that exists")
    return os.path.abspath(path)


def _assignments(words: Sequence[str]) -> dict[str, str]:
    assigned: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"--set is {word!r}, expected NAME=VALUE")
        if assigned.setdefault(name, value) != value:
            raise ValueError(f"--set gives {name} two values, {assigned[name]!r} and {value!r}; keep one")
    return assigned


def _shown(text: str) -> str:
    """`text` where it can be printed on one line, else a Python literal of it, so that no name forges a line."""
    try:
        # Without an encoding it is no terminal, or closed.
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return ascii(text)
    return text if text.isprintable() else repr(text)
