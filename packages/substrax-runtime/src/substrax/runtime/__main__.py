"""`python -m substrax.runtime check`: what an environment holds for jax, what is wrong with it, and how to mend it."""

from __future__ import annotations

import os
import sys

from ._config import JaxRuntime, declared
from ._environment import runtime_environment, runtime_from_environment
from ._errors import MisreadError, RuntimeConfigurationError
from ._lint import Finding, lint_environment
from ._settings import SETTINGS, release

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

_PROGRAM = "python -m substrax.runtime"
_WIDTH = 100
_BEGINNINGS = ("JAX_", "XLA_", "jax_", "xla_")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 0 when all is well, 1 on findings, 2 on bad usage, said in one line on standard error."""
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
    given = [(row, getattr(arguments, row.field)) for row in SETTINGS]
    fields: dict[str, Any] = {
        row.field: row.read(f"--{row.field.replace('_', '-')}", text) for row, text in given if text is not None
    }
    return JaxRuntime(**fields)


def _check(runtime: JaxRuntime, *, probe: bool, as_json: bool) -> int:
    problems: list[str] = []
    environ = dict(os.environ)
    try:
        environ.update(runtime_environment(runtime, environ))
    except (RuntimeConfigurationError, ValueError) as error:
        problems.append(str(error))
    findings = (*lint_environment(environ), *_not_read_by_this_jax(environ))
    report = None
    if probe and not problems:
        try:
            report = _probe(environ)
        except RuntimeConfigurationError as error:
            # What cannot be read from the environment is among the findings already.
            if str(error) not in {"; ".join(map(str, findings)), *map(str, findings)}:
                problems.append(str(error))
    table = _table(environ, findings, {row.variable for row, _ in declared(runtime)})
    if as_json:
        import json

        print(
            json.dumps(
                {
                    "variables": [dict(zip(_HEADINGS, row, strict=True)) for row in table],
                    "findings": [
                        {"variable": f.variable, "value": f.value, "effect": f.effect, "remedy": f.remedy}
                        for f in findings
                    ],
                    "problems": problems,
                    "report": None if report is None else json.loads(report.to_json()),
                }
            )
        )
    else:
        _print(table, findings, problems, None if report is None else str(report))
    return 1 if findings or problems else 0


def _not_read_by_this_jax(environ: Mapping[str, str]) -> list[Finding]:
    # Asked only where a version matters: it costs more than everything else here.
    young = [row for row in SETTINGS if release(row.since) > (0, 4, 30) and environ.get(row.variable)]
    if not young:
        return []
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("jax")
    except PackageNotFoundError:
        return []
    return [
        Finding(
            variable=row.variable,
            value=environ[row.variable],
            effect=f"the installed jax {installed} does not read it",
            remedy=f"install jax {row.since} or newer",
        )
        for row in young
        if release(installed) < release(row.since)
    ]


def _probe(environ: Mapping[str, str]) -> Any:
    from ._observe import probe_runtime

    # All of it declared, and handed to the child as it is: what is not in effect there is what this is about.
    ours = {name: value for name, value in environ.items() if name.startswith(("JAX_", "XLA_"))}
    return probe_runtime(runtime_from_environment(environ), ours)


_HEADINGS = ("setting", "variable", "value", "applies", "verdict")


def _table(environ: Mapping[str, str], findings: Sequence[Finding], ours: set[str]) -> list[tuple[str, ...]]:
    """A row a variable of jax's that is present: which field it is, its value, when it is read, and the verdict."""
    by_variable = {row.variable: row for row in SETTINGS}
    order = {variable: position for position, variable in enumerate(by_variable)}
    wrong = {finding.variable for finding in findings}
    present = {name for name in environ if name.startswith(_BEGINNINGS)} | wrong
    rows: list[tuple[str, ...]] = []
    for name in sorted(present, key=lambda name: (order.get(name, len(order)), name)):
        row = by_variable.get(name)
        applies = "" if row is None else "backend start" if row.read_by == "backend start" else "import jax"
        verdict = "wrong" if name in wrong else "declared" if name in ours else "ok" if row else "not ours"
        rows.append((row.field if row else "", name, environ.get(name, ""), applies, verdict))
    return rows


def _print(table: list[tuple[str, ...]], findings: Sequence[Finding], problems: list[str], report: str | None) -> None:
    if table:
        _print_columns(table)
    else:
        print("No variable of jax's is set.")
    if report is not None:
        print("\nA child process started jax, and runs with:", *report.splitlines(), sep="\n  ")
    for line in [*map(str, findings), *problems]:
        from textwrap import fill

        print()
        print(fill(line, width=_WIDTH, subsequent_indent="  ", break_long_words=False))
    count = len(findings) + len(problems)
    print(f"\n{'All is well.' if count == 0 else '1 finding.' if count == 1 else f'{count} findings.'}")


def _print_columns(table: list[tuple[str, ...]]) -> None:
    rows = [_HEADINGS, *(tuple(map(_shown, row)) for row in table)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    # What does not fit is cut out of the values, which the findings show in full.
    room = _WIDTH - sum(widths) + widths[2] - 2 * (len(widths) - 1)
    widths[2] = min(widths[2], max(room, 8))
    for row in rows:
        cells = [
            text if len(text) <= width else f"{text[: width - 3]}..." for text, width in zip(row, widths, strict=True)
        ]
        print("  ".join(text.ljust(width) for text, width in zip(cells, widths, strict=True)).rstrip())


def _shown(text: str) -> str:
    """`text` where it fits on one line of this terminal, else a Python literal of it."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return ascii(text)
    return text if text.isprintable() else repr(text)


if __name__ == "__main__":
    raise SystemExit(main())
