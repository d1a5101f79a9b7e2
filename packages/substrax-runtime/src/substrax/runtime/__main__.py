"""`python -m substrax.runtime check`: what an environment holds for jax, what is wrong with it, and how to mend it."""

from __future__ import annotations

import io
import os
import sys

from ._config import JaxRuntime, declared
from ._environment import runtime_environment, runtime_from_environment
from ._errors import MisreadError, RuntimeConfigurationError
from ._lint import Finding, lint_environment
from ._settings import (
    ALLOCATOR,
    ALLOCATORS,
    CACHE_SWITCH,
    DEPRECATED_MEMORY_FRACTION,
    PLATFORM_NAME,
    SETTINGS,
    release,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

    from ._report import RuntimeReport

_PROGRAM = "python -m substrax.runtime"
_WIDTH = 100
_BEGINNINGS = ("JAX_", "XLA_", "jax_", "xla_")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 0 when all is well, 1 on findings, 2 on bad usage, said in one line on standard error."""
    for stream in (sys.stdout, sys.stderr):
        # A value may hold what this terminal cannot show; what is wrong has to be said all the same.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        arguments = _parser().parse_args(argv)
        runtime = _declared(arguments)
    except (MisreadError, TypeError, ValueError) as error:
        print(f"{_PROGRAM}: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return _check(runtime, probe=arguments.probe, as_json=arguments.json)


def _parser() -> argparse.ArgumentParser:
    import argparse

    class Formatter(argparse.HelpFormatter):
        def __init__(self, prog: str) -> None:
            # A width of its own, since asking the terminal imports shutil, at every argument that is added.
            super().__init__(prog, width=_WIDTH)

    class Parser(argparse.ArgumentParser):
        def __init__(self, **options: Any) -> None:
            super().__init__(allow_abbrev=False, formatter_class=Formatter, **options)

        def error(self, message: str) -> NoReturn:
            # One line, and main's exit code; argparse itself would print the usage as well, and exit.
            hint = (
                "; write a value that begins with '-' behind an equals sign"
                if "expected one argument" in message
                else ""
            )
            raise ValueError(message + hint)

    parser = Parser(prog=_PROGRAM, description="Look after the settings of jax processes.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="{check}", prog=_PROGRAM)
    check = commands.add_parser(
        "check",
        help="say what the environment holds for jax, and what is wrong with it",
        description="Lint the environment that a process would inherit here, with the fields given as options over it.",
        epilog="Exit code: 0 when all is well, 1 on findings, 2 on bad usage.",
    )
    check.add_argument("--json", action="store_true", help="print one JSON object")
    check.add_argument("--probe", action="store_true", help="also start a real jax with it, and compare")
    for row in SETTINGS:
        check.add_argument(
            f"--{row.field.replace('_', '-')}", metavar="VALUE", help=f"as {row.variable}: {row.accepts}"
        )
    return parser


def _declared(arguments: argparse.Namespace) -> JaxRuntime:
    """The runtime of the field options, each written as its variable would be."""
    fields: dict[str, Any] = {}
    for row in SETTINGS:
        option, text = f"--{row.field.replace('_', '-')}", getattr(arguments, row.field)
        if text == "":
            raise ValueError(f"{option} is '', expected {row.accepts}; leave it out to declare nothing")
        if text is not None:
            fields[row.field] = row.read(option, text)
    return JaxRuntime(**fields)


def _check(runtime: JaxRuntime, *, probe: bool, as_json: bool) -> int:
    problems: list[str] = []
    environ = dict(os.environ)
    try:
        environ.update(runtime_environment(runtime, environ))
    except (RuntimeConfigurationError, ValueError) as error:
        problems.append(str(error))
    findings = (*lint_environment(environ), *_unknown_to_this_jax(environ))
    report = None
    # Where a setting is wrong already, a start would only say so again.
    if probe and not problems and not {finding.variable for finding in findings} & _MATTERS_TO_A_START:
        try:
            report = _probe(environ, runtime)
        except RuntimeConfigurationError as error:
            problems.append(str(error))
    table = _table(environ, findings, {row.variable for row, _ in declared(runtime)})
    if as_json:
        import json

        found = [{name: getattr(finding, name) for name in Finding.__dataclass_fields__} for finding in findings]
        print(
            json.dumps(
                {
                    "variables": [dict(zip(_HEADINGS, row, strict=True)) for row in table],
                    "findings": found,
                    "problems": problems,
                    "report": None if report is None else json.loads(report.to_json()),
                }
            )
        )
    else:
        _print(table, findings, problems, None if report is None else str(report))
    return 1 if findings or problems else 0


def _unknown_to_this_jax(environ: Mapping[str, str]) -> list[Finding]:
    """What is in order for some jax, but not for the one that is installed."""
    # Asked only where a version matters: it costs more than everything else here.
    young = [(row.variable, row.since) for row in SETTINGS if row.since != _OLDEST and environ.get(row.variable)]
    allocator = environ.get(ALLOCATOR, "").lower()
    if ALLOCATORS.get(allocator, _OLDEST) != _OLDEST:
        young.append((ALLOCATOR, ALLOCATORS[allocator]))
    if not young:
        return []
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("jax")
    except PackageNotFoundError:
        return []
    return [
        Finding(
            variable=variable,
            value=environ[variable],
            effect=f"the installed jax {installed} does not know it",
            remedy=f"unset it, or install jax {since} or newer",
        )
        for variable, since in young
        if release(installed) < release(since)
    ]


_OLDEST = "0.4.30"
_MATTERS_TO_A_START = {row.variable for row in SETTINGS} | {CACHE_SWITCH, DEPRECATED_MEMORY_FRACTION, PLATFORM_NAME}


def _probe(environ: Mapping[str, str], runtime: JaxRuntime) -> RuntimeReport:
    from dataclasses import replace

    from ._observe import probe_runtime

    whole = runtime_from_environment(environ)
    if whole.platforms is not None and not {"cuda", "rocm", "oneapi"} & set(whole.platforms):
        # A share of GPU memory that is inherited does no harm to a run on something else; one that is declared is not
        # in effect.
        whole = replace(whole, preallocate=runtime.preallocate, memory_fraction=runtime.memory_fraction)
    ours = {name: value for name, value in environ.items() if name.startswith(("JAX_", "XLA_"))}
    if whole.memory_fraction is not None:
        # Read into the runtime, and rendered by its present name.
        ours.pop(DEPRECATED_MEMORY_FRACTION, None)
    return probe_runtime(whole, ours)


_HEADINGS = ("setting", "variable", "value", "applies", "verdict")


def _table(environ: Mapping[str, str], findings: Sequence[Finding], ours: set[str]) -> list[tuple[str, ...]]:
    """A row a variable of jax's that is present: which field it is, its value, when it is read, and the verdict."""
    by_variable = {row.variable: row for row in SETTINGS}
    order = {variable: position for position, variable in enumerate(by_variable)}
    wrong = {finding.variable for finding in findings}
    present = {name for name in environ if name.startswith(_BEGINNINGS)} | wrong
    from ._other_variables import OTHER_VARIABLES

    rows: list[tuple[str, ...]] = []
    for name in sorted(present, key=lambda name: (order.get(name, len(order)), name)):
        row = by_variable.get(name)
        applies = "" if row is None else "backend start" if row.read_by == "backend start" else "import jax"
        if name in wrong:
            verdict = "wrong"
        elif row is None:
            verdict = "read by jax" if name in OTHER_VARIABLES else "not read"
        else:
            verdict = "declared" if name in ours else "ok"
        rows.append((row.field if row else "", name, environ.get(name, ""), applies, verdict))
    return rows


def _print(table: list[tuple[str, ...]], findings: Sequence[Finding], problems: list[str], report: str | None) -> None:
    if table:
        _print_columns(table)
    else:
        print("No variable of jax's is set.")
    lines = [] if report is None else report.splitlines()
    if lines:
        print("\nA child process started jax, and runs with:")
    for line in lines:
        print(_wrapped(f"  {line}", indent=25))
    for line in [*map(str, findings), *problems]:
        print()
        print(_wrapped(line, indent=2))
    count = len(findings) + len(problems)
    print(f"\n{'All is well.' if count == 0 else '1 finding.' if count == 1 else f'{count} findings.'}")


def _wrapped(line: str, indent: int) -> str:
    from textwrap import fill

    return line if len(line) <= _WIDTH else fill(line, width=_WIDTH, subsequent_indent=" " * indent)


def _print_columns(table: list[tuple[str, ...]]) -> None:
    rows = [_HEADINGS, *(tuple(map(_shown, row)) for row in table)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    widths[1] = min(widths[1], 42)
    # What does not fit is cut out of the values, which the findings show in full.
    room = _WIDTH - sum(widths) + widths[2] - 2 * (len(widths) - 1)
    widths[2] = min(widths[2], max(room, 8))
    for row in rows:
        cells = [
            text if len(text) <= width else f"{text[: width - 3]}..." for text, width in zip(row, widths, strict=True)
        ]
        print("  ".join(text.ljust(width) for text, width in zip(cells, widths, strict=True)).rstrip())


def _shown(text: str) -> str:
    """`text` where it fits on one line, else a Python literal of it."""
    return text if text.isprintable() else repr(text)


if __name__ == "__main__":
    try:
        exit_code = main()
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        # The reader has gone, or the disk is full; the interpreter must not try once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        print(f"{_PROGRAM}: error: standard output: {error.strerror}", file=sys.stderr)
        exit_code = 2
    raise SystemExit(exit_code)
