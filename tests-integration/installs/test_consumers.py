"""Repositories that use us as our users do, with the wheels, a real uv and a real jax."""

import shutil
import sys
from pathlib import Path

import pytest

from posix_shells import require, run_in
from programs import BARE, ROOT, run

CONSUMERS = ROOT / "tests-integration" / "consumers"


def test_its_copies_are_those_of_the_template(environment):
    executable = environment("substrax-managed-env")

    command = [str(executable), "-m", "substrax.runtime.managed_env", "vendor", "--check"]
    done = run(command, cwd=CONSUMERS / "vendored", env=BARE)

    version = (ROOT / "shell" / "VERSION").read_text().strip()
    assert done == (
        0,
        "".join(f"{name} is up to date, template {version}\n" for name in ("activate.sh", "setup.sh")),
        "",
    )


@pytest.fixture(scope="module")
def vendored(tmp_path_factory, wheels, around):
    """The repository with the vendored templates, after `./setup.sh --backend auto`."""
    root = shutil.copytree(CONSUMERS / "vendored", tmp_path_factory.mktemp("vendored") / "datarax")
    env = around | {"UV_FIND_LINKS": str(wheels), "PATH": f"{Path(sys.executable).parent}:{around['PATH']}"}
    return root, run(["./setup.sh", "--backend", "auto"], cwd=root, env=env, timeout_s=900), env


def test_setup_makes_an_environment_and_says_the_next_step(vendored):
    root, (exit_code, output, errors), _ = vendored

    assert (exit_code, output) == (0, ""), errors
    assert errors.splitlines()[-2] == "Wrote .datarax.env for backend 'cpu'."
    assert errors.splitlines()[-1] == "setup.sh: done; next: . ./activate.sh"
    assert "export DATARAX_LOG='1'" in (root / ".datarax.env").read_text().splitlines()


def test_setup_a_second_time_finds_nothing_to_do_and_runs_a_command(vendored):
    root, _, env = vendored
    code = "import os; print(os.environ['DATARAX_BACKEND'], os.environ['VIRTUAL_ENV'], os.getcwd())"

    exit_code, output, errors = run(
        ["../setup.sh", "--backend=cpu", "--", "python", "-c", code], cwd=root / ".venv", env=env, timeout_s=300
    )

    # Nothing but the command's own output.
    assert (exit_code, output) == (0, f"cpu {root}/.venv {root}/.venv\n"), errors


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh", "busybox"])
def test_in_a_shell_jax_runs_with_what_the_file_says(vendored, shell):
    root, _, _ = vendored
    require(shell)
    code = """. ./activate.sh
python -c "import jax; print(jax.devices(), jax.config.jax_platforms, jax.config.jax_enable_x64)"
deactivate; echo "${JAX_PLATFORMS-unset} ${VIRTUAL_ENV-unset}\""""

    assert run_in(shell, code, cwd=root) == (
        0,
        "[CpuDevice(id=0)] cpu False\nunset unset\n",
        f"DATARAX environment active: backend cpu, root {root}\n",
    )


def test_a_project_can_depend_on_the_library_alone(environment):
    executable = environment("substrax-runtime")

    done = run(
        [str(executable), "main.py"], cwd=CONSUMERS / "library-only", env=BARE | {"PYTHONDONTWRITEBYTECODE": "1"}
    )

    assert done == (0, "", "JAX_NUM_CPU_DEVICES=2\n")
