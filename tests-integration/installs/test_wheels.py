"""The wheels in clean environments, as their users have them."""

import zipfile

import pytest

from programs import BARE, run

MISSING = (
    "error: substrax.runtime.managed_env is provided by the distribution 'substrax-managed-env', which is not installed in "
    "this environment; install it with: python -m pip install substrax-managed-env\n"
)
INSTALLED = "import importlib.metadata as m; print(*sorted(d.name for d in m.distributions()))"


def python(executable, *arguments, cwd="/", **env):
    return run([str(executable), *arguments], env=BARE | env, cwd=cwd)


def test_the_library_alone_pulls_in_nothing_and_works(environment):
    executable = environment("substrax-runtime")
    code = """
from substrax.runtime import *
environ = {"XLA_FLAGS": "--a=1"}
apply_runtime(JaxRuntime(cpu_devices=8, xla_flags=("--b",)), environ=environ)
print(environ)
"""
    assert python(executable, "-c", INSTALLED) == (0, "substrax-runtime\n", "")
    assert python(executable, "-c", code) == (0, "{'XLA_FLAGS': '--a=1 --b', 'JAX_NUM_CPU_DEVICES': '8'}\n", "")


def test_the_library_alone_says_what_the_command_needs(environment):
    executable = environment("substrax-runtime")

    assert python(executable, "-W", "error", "-m", "substrax.runtime.managed_env", "write") == (1, "", MISSING)


def test_the_command_pulls_in_the_library_and_works(environment, tmp_path):
    executable = environment("substrax-managed-env")
    command = ("-W", "error", "-m", "substrax.runtime.managed_env")
    write = ("write", "--prefix", "DATARAX", "--backend", "auto", "--output", ".datarax.env")
    show = ("show", "--prefix", "DATARAX", "--env-file", ".datarax.env", "--user-env", ".env")
    (tmp_path / "p").mkdir()

    assert python(executable, "-c", INSTALLED) == (0, "substrax-managed-env substrax-runtime\n", "")
    # BARE has no nvidia-smi on PATH but where the system has one.
    exit_code, output, errors = python(executable, *command, *write, cwd=tmp_path / "p")
    assert (exit_code, output.split("'")[0], errors) == (0, "Wrote .datarax.env for backend ", "")
    exit_code, output, errors = python(executable, *command, *show, cwd=tmp_path / "p")
    assert (exit_code, output.splitlines()[:-1], errors) == (
        0,
        [f"Project root: {tmp_path}/p", ".venv present: False", ".datarax.env present: True", ".env present: False"],
        "",
    )


@pytest.mark.parametrize(
    ("distribution", "package"),
    [("substrax_runtime", "substrax/runtime"), ("substrax_managed_env", "substrax_managed_env")],
)
def test_a_wheel_has_its_package_and_nothing_else(wheels, distribution, package):
    [wheel] = wheels.glob(f"{distribution}-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    inside = [name for name in names if not name.startswith(f"{distribution}-")]

    assert f"{package}/py.typed" in inside
    # A file in the namespace itself would hide the other distribution.
    assert [name for name in inside if not name.startswith(f"{package}/")] == []
    assert [name for name in names if name.endswith("licenses/LICENSE")] != []


@pytest.mark.parametrize("last", ["ours", "theirs"])
def test_beside_the_unrelated_distribution_of_that_name_importing_is_an_error(environment, last):
    again = ("--no-deps", "--reinstall")
    executable = environment("substrax-managed-env")
    environment("substrax==0.1.22", index=True, options=again)
    if last == "ours":
        environment("substrax-runtime", "substrax-managed-env", options=again)

    # When theirs comes last no line of our library runs, but the command's package is still ours.
    for code in (
        ["import substrax.runtime", "import substrax_managed_env"]
        if last == "ours"
        else ["import substrax_managed_env"]
    ):
        exit_code, _, errors = python(executable, "-c", code)
        assert (exit_code, "python -m pip uninstall substrax substrax-runtime" in errors) == (1, True), errors
