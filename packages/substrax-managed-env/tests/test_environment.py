from pathlib import Path

import pytest

from substrax_managed_env import BACKENDS, managed_environment

CPU = {
    "DEMO_BACKEND": "cpu",
    "DEMO_ENV_ROOT": "/demo",
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "false",
    "XLA_PYTHON_CLIENT_PREALLOCATE": None,
    "XLA_CLIENT_MEM_FRACTION": None,
    "XLA_PYTHON_CLIENT_MEM_FRACTION": None,
}
ACCELERATOR = {
    "DEMO_ENV_ROOT": "/demo",
    "JAX_PLATFORMS": None,
    "JAX_ENABLE_X64": "false",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    "XLA_CLIENT_MEM_FRACTION": "0.75",
    "XLA_PYTHON_CLIENT_MEM_FRACTION": None,
}


def manage(**options):
    return managed_environment(**{"prefix": "DEMO", "backend": "cpu", "project_root": "/demo", "extra": {}, **options})


@pytest.mark.parametrize(
    ("backend", "table"),
    [
        pytest.param("cpu", CPU, id="cpu"),
        *(pytest.param(name, {"DEMO_BACKEND": name, **ACCELERATOR}, id=name) for name in BACKENDS[2:]),
    ],
)
def test_each_backend_has_its_table_in_its_order(backend, table):
    managed = manage(backend=backend)

    assert (managed, list(managed)) == (table, list(table))


def test_the_backends_are_those_of_the_contract():
    assert BACKENDS == ("auto", "cpu", "cuda12", "metal", "cuda13", "rocm")


def test_further_variables_follow_in_their_order():
    managed = manage(extra={"TF_LOG": "1", "A": ""}, project_root=Path("/demo"))

    assert list(managed.items()) == [*CPU.items(), ("TF_LOG", "1"), ("A", "")]


@pytest.mark.parametrize("name", ["XLA_FLAGS", "LD_LIBRARY_PATH", "CUDA_HOME"])
def test_what_the_file_never_holds_of_its_own_accord_can_be_asked_for(name):
    assert name not in manage()
    assert manage(extra={name: "--a"})[name] == "--a"


@pytest.mark.parametrize(
    "prefix", ["", "demo", "Demo", "1DEMO", "_DEMO", "DE-MO", "DE MO", "DEMO\n", "D\u00c9MO", "DEMO;id"]
)
def test_a_prefix_that_is_no_upper_case_name_is_refused(prefix):
    with pytest.raises(ValueError) as caught:
        manage(prefix=prefix)

    assert str(caught.value) == f"prefix is {prefix!r}, expected an upper-case shell name such as 'DATARAX'"


@pytest.mark.parametrize("prefix", ["BASH", "ZSH", "KSH_93"])
def test_a_prefix_of_a_shells_own_is_refused(prefix):
    with pytest.raises(ValueError) as caught:
        manage(prefix=prefix)

    assert str(caught.value) == f"prefix is {prefix!r}, expected one that does not name variables of a shell itself"


CONCRETE = "expected one of 'cpu', 'cuda12', 'metal', 'cuda13', 'rocm'"


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("tpu", f"backend is 'tpu', {CONCRETE}"),
        ("", f"backend is '', {CONCRETE}"),
        ("auto", f"backend is 'auto', {CONCRETE}; resolve_backend() says which of them 'auto' is here"),
    ],
)
def test_an_unknown_backend_is_refused(backend, message):
    with pytest.raises(ValueError) as caught:
        manage(backend=backend)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    "name", ["", "1A", "A-B", "A B", "A=B", "A;touch p=x", "$(id)", "x[$(id)]", "\u00c9", "A\n", "-f"]
)
def test_what_is_no_name_of_a_variable_is_refused(name):
    with pytest.raises(ValueError) as caught:
        manage(extra={name: "1"})

    assert (
        str(caught.value)
        == f"{name!r} is no name of a shell variable, expected letters, digits and '_', such as 'TF_LOG'"
    )


@pytest.mark.parametrize("name", [*CPU, "DEMO_MANAGED_ENV_VARS"])
def test_what_the_file_manages_itself_is_refused(name):
    with pytest.raises(ValueError) as caught:
        manage(extra={name: "1"})

    assert (
        str(caught.value) == f"{name} is managed by the file itself; leave it out, or set it in .env, which comes after"
    )


@pytest.mark.parametrize(
    "name",
    "PATH HOME PWD IFS SHELL TERM ENV CDPATH PS1 PS4 BASH_ENV BASHOPTS PROMPT_COMMAND LD_PRELOAD LD_AUDIT VIRTUAL_ENV "
    "PYTHONHOME ZSH_VERSION KSH_VERSION DYLD_INSERT_LIBRARIES _ _OLD_VIRTUAL_PATH _SUBSTRAX_SAVED path status argv "
    "USERNAME TMOUT POSIXLY_CORRECT EDITOR functions options".split(),
)
def test_what_belongs_to_the_shell_is_refused(name):
    with pytest.raises(ValueError) as caught:
        manage(extra={name: "1"})

    assert (
        str(caught.value)
        == f"{name} belongs to the shell, which cannot have it unset or would execute it; leave it out"
    )


def test_a_value_with_nul_is_refused():
    with pytest.raises(ValueError) as caught:
        manage(extra={"A": "x\0y"})

    assert str(caught.value) == "A is 'x\\x00y', expected a value without a NUL character"


def test_a_value_with_which_no_process_could_start_is_refused():
    assert manage(extra={"A": "x" * 102400})

    with pytest.raises(ValueError) as caught:
        manage(extra={"A": "\u00e9" * 51201})

    assert str(caught.value) == "A has 102402 bytes, expected at most 102400, or no process could be started"
