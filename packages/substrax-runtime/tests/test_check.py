"""`python -m substrax.runtime check`, as a person runs it; `--probe` is in the integration tests, with a real jax."""

import json
import subprocess
import sys

import pytest

from processes import run_python

CHECK = ("-W", "error", "-m", "substrax.runtime", "check")
PROGRAM = "python -m substrax.runtime"


def test_where_nothing_is_set_all_is_well():
    assert run_python(*CHECK) == (0, "No variable of jax's is set.\n\nAll is well.\n", "")


def test_what_is_set_and_declared_is_a_table():
    assert run_python(*CHECK, "--cpu-devices", "8", JAX_ENABLE_X64="true", JAX_LOG_COMPILES="1", HOME="/h") == (
        0,
        "setting      variable             value  applies     verdict\n"
        "cpu_devices  JAX_NUM_CPU_DEVICES  8      import jax  declared\n"
        "enable_x64   JAX_ENABLE_X64       true   import jax  ok\n"
        "             JAX_LOG_COMPILES     1                  read by jax\n"
        "\n"
        "All is well.\n",
        "",
    )


def test_what_is_wrong_is_said_with_its_remedy_within_100_columns():
    exit_code, output, errors = run_python(
        *CHECK,
        JAX_DEFAULT_MATMUL_PRECISION="tf32",
        XLA_FLAGS=f"--xla_dump_to=/{'x' * 200} junk",
        JAX_PLATFORM="a\nb",
        **{f"JAX_{'LONG_' * 30}": "1"},
    )
    lines = output.splitlines()

    assert (exit_code, errors, lines[-1]) == (1, "", "3 findings.")
    assert [line for line in lines if len(line) > 100] == []
    assert [line.split()[-1] for line in lines[:5]] == ["verdict", "wrong", "wrong", "read", "wrong"]
    assert "(did you mean 'tensorfloat32'?)" in " ".join(output.split())
    assert "JAX_PLATFORM is 'a\\nb': no jax reads that name; did you mean JAX_PLATFORMS?" in lines


def test_what_the_terminal_cannot_show_is_said_all_the_same():
    exit_code, output, errors = run_python(*CHECK, XLA_FLAGS="\u2013xla_a=1", PYTHONIOENCODING="ascii")

    assert (exit_code, errors) == (1, "")
    assert "XLA_FLAGS is '\\u2013xla_a=1'" in output


@pytest.mark.parametrize(
    ("redirection", "expected"),
    [
        (">&-", (1, "")),
        (">/dev/full", (2, "python -m substrax.runtime: error: standard output: No space left on device\n")),
    ],
)
def test_a_standard_output_that_takes_nothing_is_no_traceback(redirection, expected):
    command = f"exec '{sys.executable}' -m substrax.runtime check {redirection}"
    env = {"JAX_PLATFORMS": "CPU"}
    done = subprocess.run(["sh", "-c", command], env=env, capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stderr) == expected


def test_a_conflict_between_the_environment_and_what_is_declared_is_a_finding():
    exit_code, output, errors = run_python(*CHECK, "--xla-flags=--a=1", XLA_FLAGS="--a=2")

    assert (exit_code, errors) == (1, "")
    assert output.endswith(
        "\n--a is '2' already, and '1' was asked for: give it one value, or choose with on_conflict='keep' or\n"
        "  on_conflict='replace'\n\n1 finding.\n"
    )


def test_json_says_the_same_to_machines():
    exit_code, output, errors = run_python(*CHECK, "--json", JAX_ENABLE_X64="")

    assert (exit_code, errors) == (1, "")
    assert json.loads(output) == {
        "variables": [
            {
                "setting": "enable_x64",
                "variable": "JAX_ENABLE_X64",
                "value": "",
                "applies": "import jax",
                "verdict": "wrong",
            }
        ],
        "findings": [
            {
                "variable": "JAX_ENABLE_X64",
                "value": "",
                "effect": "import jax fails, since it is no truth value",
                "remedy": "write true or false, or unset it",
            }
        ],
        "problems": [],
        "report": None,
    }


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "the following arguments are required: {check}"),
        (["frob"], "argument {check}: invalid choice: 'frob' (choose from 'check')"),
        (["check", "--frob"], "unrecognized arguments: --frob"),
        (
            ["check", "--cpu-devices", "x"],
            "--cpu-devices is 'x': import jax fails, since it is no integer; write an integer of at least 1, or unset it",
        ),
        (
            ["check", "--enable-x64"],
            "argument --enable-x64: expected one argument; write a value that begins with - behind an equals sign",
        ),
    ],
)
def test_bad_usage_is_one_line(arguments, problem):
    exit_code, output, errors = run_python("-m", "substrax.runtime", *arguments)

    # Python 3.12 and newer no longer quote the choices.
    assert (exit_code, output, errors.replace("'", "")) == (2, "", f"{PROGRAM}: error: {problem}\n".replace("'", ""))


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"]])
def test_help_is_on_standard_output(arguments):
    exit_code, output, errors = run_python("-m", "substrax.runtime", *arguments)

    assert (exit_code, output.startswith(f"usage: {PROGRAM}"), errors) == (0, True, "")


def test_checking_loads_no_jax():
    code = """
import sys
from substrax.runtime.__main__ import main
main(["check"])
print(sorted(sys.modules.keys() & {"jax", "jaxlib", "numpy"}))
"""
    assert run_python("-c", code)[1].splitlines()[-1] == "[]"
