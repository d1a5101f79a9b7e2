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
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

    from ._vendor import Copy

__all__ = ["main"]

_PROGRAM = "python -m substrax.runtime.managed_env"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: Arguments; those of the process when `None`.

    Returns:
        The exit code: 0; 1 if `vendor --check` has found something, a line each on standard output; 2 after one line on
        standard error that names what is wrong, with nothing written (but for the first of `vendor`'s two files, where
        the system refuses the second).
    """
    try:
        arguments = _parser().parse_args(argv)
        return int(arguments.run(arguments) or 0)
    except OSError as error:
        # strerror and not str(): the number tells a person nothing, and ours names a remedy.
        problem = (
            f"{_shown(os.fspath(error.filename))}: {error.strerror}" if error.filename else error.strerror or str(error)
        )
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

    vendor = commands.add_parser(
        "vendor", help="copy activate.sh and setup.sh in, or upgrade the copies, with their settings kept"
    )
    vendor.add_argument("--prefix", help="what the project's variables begin with; not needed where there are copies")
    either = vendor.add_mutually_exclusive_group()
    either.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if a copy is not as it should be"
    )
    either.add_argument(
        "--force", action="store_true", help="replace what is no copy, with its settings, and newer copies"
    )
    vendor.add_argument(
        "directory", nargs="?", default=".", metavar="DIR", help="where; default: the current directory"
    )
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
    from ._vendor import EXECUTABLE, TEMPLATES, differences, disagreement, installed, is_newer, read

    folder = arguments.directory
    if not os.path.isdir(folder):
        raise ValueError(f"DIR is {folder!r}, expected a directory that exists")
    paths = {name: name if folder == "." else os.path.join(folder, name) for name in TEMPLATES}
    copies: dict[str, Copy] = {}
    # Each with its file: what only a person can mend, what --force may replace, and what a new copy mends.
    obstacles: list[tuple[str, str]] = []
    foreign: list[tuple[str, str]] = []
    faults: list[tuple[str, str]] = []
    for name, path in paths.items():
        if os.path.islink(path):
            obstacles.append((name, "is a symbolic link; put a copy in its place"))
        elif not os.path.exists(path):
            faults.append((name, "is missing"))
        elif not os.path.isfile(path):
            obstacles.append((name, "is there already and not a regular file"))
        else:
            text = _text(path)
            try:
                copies[name] = read(name, text)
            except ValueError as error:
                foreign.append((name, str(error)))
            else:
                (foreign if is_newer(copies[name]) else faults).extend(
                    (name, way) for way in differences(copies[name], text)
                )
            if name in EXECUTABLE and not os.stat(path).st_mode & 0o111:
                faults.append((name, "is not executable"))
    if len(copies) == len(TEMPLATES) and (problem := disagreement(*copies.values())):
        obstacles.append((TEMPLATES[-1], problem))
    prefix = next((copy.shared["prefix"] for copy in copies.values()), arguments.prefix)
    if arguments.prefix not in (None, prefix):
        raise ValueError(f"--prefix is {arguments.prefix!r}, and the copies here say {prefix!r}; change it in both")

    found = obstacles + foreign + faults
    if arguments.check:
        _say(paths, found, copies)
        if faults and not obstacles and not foreign:
            print(f"A new copy keeps the settings: {_shown(_command(prefix or 'PREFIX', folder))}")
        return int(bool(found))
    if refused := obstacles if arguments.force else obstacles + foreign:
        raise ValueError("; ".join(f"{_shown(paths[name])} {problem}" for name, problem in refused))
    texts = _texts(copies, prefix, folder)
    _say(paths, [(name, problem) for name, problem in found if problem != "is missing"], copies)
    for name in dict.fromkeys(name for name, _ in found):
        replace_file(paths[name], os.fsencode(texts[name]), executable=name in EXECUTABLE)
        print(f"Wrote {_shown(paths[name])}, template {installed(name).version}")
    return 0


def _say(paths: Mapping[str, str], found: Sequence[tuple[str, str]], copies: Mapping[str, Copy]) -> None:
    for name, path in paths.items():
        problems = [problem for of, problem in found if of == name]
        for problem in problems:
            print(f"{_shown(path)} {problem}")
        if name in copies and not problems:
            print(f"{_shown(path)} is up to date, template {copies[name].version}")


def _command(prefix: str, folder: str) -> str:
    import shlex

    where = [] if folder == "." else ["--", folder] if folder.startswith("-") else [folder]
    return shlex.join([*_PROGRAM.split(), "vendor", "--prefix", prefix, *where])


def _texts(copies: Mapping[str, Copy], prefix: str | None, folder: str) -> dict[str, str]:
    """The whole text of each file; what both say stands in a new one as in the copy that is there."""
    from ._vendor import TEMPLATES, installed, upgraded, with_settings

    if len(copies) == len(TEMPLATES):
        return {name: upgraded(copy) for name, copy in copies.items()}
    settings = _first_settings(prefix, folder)
    for copy in copies.values():
        settings |= copy.shared
    return {
        name: upgraded(copies[name]) if name in copies else with_settings(installed(name), settings)
        for name in TEMPLATES
    }


def _first_settings(prefix: str | None, folder: str) -> dict[str, str]:
    """The settings of a new copy: the project of `folder`, and those of its extras that are named as a backend."""
    if prefix is None:
        raise ValueError("--prefix is missing: what the project's variables begin with, such as DATARAX")
    check_prefix(prefix)
    here = root = os.path.realpath(folder)
    while not os.path.isfile(os.path.join(root, "pyproject.toml")) and root != os.path.dirname(root):
        root = os.path.dirname(root)
    extras = _extras(os.path.join(root, "pyproject.toml"))
    return {
        "prefix": prefix,
        "env_file": f".{prefix.lower()}.env",
        # Without a project anywhere above, it is to be made here.
        "root_from_here": "." if extras is None else os.path.relpath(root, here),
        **{f"extras_{name}": name if name in (extras or ()) else "" for name in BACKENDS if name != "auto"},
    }


def _extras(project: str) -> list[str] | None:
    import tomllib

    try:
        with open(project, "rb") as file:
            return list(tomllib.load(file).get("project", {}).get("optional-dependencies", {}).keys())
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{_shown(project)} cannot be read: {error}") from error


def _configured_backend(prefix: str, env_file: str) -> str:
    # Asked before opening, since opening a pipe would wait for somebody to write to it.
    if not os.path.isfile(env_file):
        return "none"
    return read_back(_text(env_file)).get(f"{prefix}_BACKEND") or "unknown"


def _text(path: str) -> str:
    with open(path, "rb") as file:
        return os.fsdecode(file.read())


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
