import os
import subprocess
import sys

import pytest

from substrax_managed_env import main

PROGRAM = "python -m substrax.runtime.managed_env"


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return tmp_path


def run(*arguments, **env):
    """The real command, as a user runs it, with warnings as errors."""
    command = [sys.executable, "-W", "error", "-m", "substrax.runtime.managed_env", *arguments]
    done = subprocess.run(command, env=dict(os.environ) | env, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


WRITE = ("write", "--prefix", "DEMO", "--backend", "cpu", "--output", ".demo.env")
SHOW = ("show", "--prefix", "DEMO", "--env-file", ".demo.env")


def test_write_writes_and_says_so(project):
    assert run(*WRITE) == (0, "Wrote .demo.env for backend 'cpu'.\n", "")

    text = (project / ".demo.env").read_text()
    assert text.splitlines()[2:5] == [
        "export DEMO_BACKEND='cpu'",
        f"export DEMO_ENV_ROOT='{project}'",
        "export JAX_PLATFORMS='cpu'",
    ]
    assert b"\r" not in (project / ".demo.env").read_bytes()


def test_write_takes_a_root_and_further_variables(project):
    (project / "sub").mkdir()

    assert run(*WRITE, "--project-root", "sub", "--set", "A=b=c", "--set=D=", "--set", "A=b=c")[0] == 0

    lines = (project / ".demo.env").read_text().splitlines()
    assert (lines[3], lines[-2:]) == (f"export DEMO_ENV_ROOT='{project}/sub'", ["export A='b=c'", "export D=''"])


def test_writing_twice_writes_the_same(project):
    run(*WRITE)
    once = (project / ".demo.env").read_bytes()

    assert (run(*WRITE)[0], (project / ".demo.env").read_bytes()) == (0, once)


def test_show_says_what_is_there(project):
    (project / ".venv").mkdir()
    (project / ".env").touch()
    run(*WRITE)

    assert run(*SHOW, "--user-env", ".env", "--user-env", ".env.local") == (
        0,
        f"Project root: {project}\n.venv present: True\n.demo.env present: True\n.env present: True\n"
        ".env.local present: False\nConfigured backend: cpu\n",
        "",
    )


@pytest.mark.parametrize(
    ("text", "backend"),
    [
        pytest.param(None, "none", id="no file"),
        pytest.param("", "unknown", id="an empty file"),
        pytest.param("export OTHER_BACKEND='cpu'\n", "unknown", id="another prefix"),
        pytest.param("export DEMO_BACKEND='cuda12'\n", "cuda12", id="a file by hand"),
        pytest.param("export DEMO_BACKEND='cu\n", "unknown", id="a file that was cut off"),
        pytest.param(
            "export DEMO_BACKEND='a\nConfigured backend: b'\n", "'a\\nConfigured backend: b'", id="a forged line"
        ),
    ],
)
def test_show_names_the_backend(project, text, backend):
    if text is not None:
        (project / ".demo.env").write_text(text)

    exit_code, output, errors = run(*SHOW)

    assert (exit_code, output.splitlines()[-1], errors) == (0, f"Configured backend: {backend}", "")


def test_no_value_fools_show():
    run(*WRITE, "--set", "NOTE=a\nexport DEMO_BACKEND=evil", "--set", "QUOTE='\nexport DEMO_BACKEND='evil")

    assert run(*SHOW)[1].splitlines()[-1] == "Configured backend: cpu"


def test_a_directory_with_any_name_is_written_and_shown(project):
    strange = os.fsencode(project) + b"/a\xe9\n'$(id)"
    os.mkdir(strange)

    wrote = run(*WRITE, "--project-root", os.fsdecode(strange))
    shown = run(*SHOW, "--project-root", os.fsdecode(strange))

    assert (wrote[0], shown[0], wrote[2], shown[2]) == (0, 0, "", "")
    assert b"/a\xe9\n'\\''$(id)'" in (project / ".demo.env").read_bytes()
    assert shown[1].splitlines()[0] == f"Project root: {os.fsdecode(strange)!a}"


def test_a_closed_standard_output_is_no_traceback(project):
    command = f"exec {sys.executable} -m substrax.runtime.managed_env {' '.join(WRITE)} >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stderr, (project / ".demo.env").exists()) == (0, "", True)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_what_the_terminal_cannot_show_is_no_traceback(locale):
    exit_code, output, errors = run(*WRITE[:-1], "\u00e9.env", LC_ALL=locale, PYTHONIOENCODING="ascii")

    assert (exit_code, output, errors) == (0, "Wrote '\\xe9.env' for backend 'cpu'.\n", "")


BACKEND = "(choose from 'auto', 'cpu', 'cuda12', 'metal', 'cuda13', 'rocm')"
NO_NAME = "is no name of a shell variable, expected letters, digits and '_', such as 'TF_LOG'"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param([], "the following arguments are required: {write,show,vendor}", id="nothing"),
        pytest.param(["write"], "the following arguments are required: --prefix, --output", id="nothing to write"),
        pytest.param(
            ["frob"],
            "argument {write,show,vendor}: invalid choice: 'frob' (choose from 'write', 'show', 'vendor')",
            id="a command",
        ),
        pytest.param([*WRITE, "--frob"], "unrecognized arguments: --frob", id="an option"),
        pytest.param([*WRITE, "--back", "cpu"], "unrecognized arguments: --back cpu", id="half an option"),
        pytest.param(
            [*WRITE, "--backend", "tpu"], f"argument --backend: invalid choice: 'tpu' {BACKEND}", id="a backend"
        ),
        pytest.param(
            [*WRITE, "--prefix", "demo"],
            "prefix is 'demo', expected an upper-case shell name such as 'DATARAX'",
            id="a prefix",
        ),
        pytest.param([*WRITE, "--set", "A"], "--set is 'A', expected NAME=VALUE", id="no value"),
        pytest.param(
            [*WRITE, "--set", "A=1", "--set", "A=2"], "--set gives A two values, '1' and '2'; keep one", id="two values"
        ),
        pytest.param([*WRITE, "--set", "A-B=1"], f"'A-B' {NO_NAME}", id="no name"),
        pytest.param(
            [*WRITE, "--set", "A;touch pwned=1"], f"'A;touch pwned' {NO_NAME}", id="a name that would be executed"
        ),
        pytest.param([*WRITE, "--set", "A\nB=1"], f"'A\\nB' {NO_NAME}", id="a name with a line feed"),
        pytest.param(
            [*WRITE, "--set", "PATH=/x"],
            "PATH belongs to the shell, which cannot have it unset or would execute it; leave it out",
            id="a name of the shell's",
        ),
        pytest.param(
            [*WRITE, "--set", "DEMO_BACKEND=x"],
            "DEMO_BACKEND is managed by the file itself; leave it out, or set it in .env, which comes after",
            id="a managed name",
        ),
        pytest.param(
            [*WRITE, "--project-root", "missing"],
            "--project-root is 'missing', expected a directory that exists",
            id="no project root",
        ),
        pytest.param(
            [*WRITE, "--output", "missing/x"],
            "missing/x: there is no such directory to write in",
            id="no directory to write in",
        ),
        pytest.param([*WRITE, "--output", ""], "--output is '', expected the name of a file", id="no name"),
        pytest.param([*WRITE, "--output", "."], ".: it is there already and not a regular file", id="a directory"),
        pytest.param(
            [*SHOW, "--prefix", "demo"],
            "prefix is 'demo', expected an upper-case shell name such as 'DATARAX'",
            id="show",
        ),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(project, arguments, problem):
    (project / ".demo.env").write_text("old")

    exit_code, output, errors = run(*arguments)

    # Python 3.12 and newer no longer quote the choices.
    assert (exit_code, output, errors.replace("'", "")) == (2, "", f"{PROGRAM}: error: {problem}\n".replace("'", ""))
    assert (os.listdir(project), (project / ".demo.env").read_text()) == ([".demo.env"], "old")


def test_main_returns_its_exit_code(capsys):
    assert (main(list(WRITE)), main(["frob"])) == (0, 2)
    assert capsys.readouterr().out == "Wrote .demo.env for backend 'cpu'.\n"


@pytest.mark.parametrize("arguments", [["--help"], ["write", "--help"], ["show", "--help"]])
def test_help_is_on_standard_output(arguments):
    exit_code, output, errors = run(*arguments)

    assert (exit_code, output.startswith(f"usage: {PROGRAM}"), errors) == (0, True, "")


def test_importing_and_running_load_no_jax():
    code = """
import os, sys
before = (dict(os.environ), list(sys.path))
import substrax.runtime.managed_env as command
after = (dict(os.environ), list(sys.path))
command.main(["write", "--prefix", "DEMO", "--backend", "cpu", "--output", "x"])
print(before == after, sorted(sys.modules.keys() & {"jax", "jaxlib", "numpy", "subprocess", "logging"}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "Wrote x for backend 'cpu'.\nTrue []\n", "")


def test_the_command_is_all_of_the_distribution():
    import substrax.runtime.managed_env as command
    import substrax_managed_env

    assert {name: getattr(command, name) for name in substrax_managed_env.__all__} == {
        name: getattr(substrax_managed_env, name) for name in substrax_managed_env.__all__
    }
