"""The shells that the templates and the environment file are for, as parameters, and projects to activate."""

import pytest

from posix_shells import SHELLS, make_project, require


def pytest_generate_tests(metafunc):
    if "shell" in metafunc.fixturenames:
        metafunc.parametrize("shell", SHELLS)


@pytest.fixture(autouse=True)
def is_installed(request):
    """Each test of a shell needs that shell."""
    if "shell" in request.fixturenames:
        require(request.getfixturevalue("shell"))


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """Two projects a venv maker, made once: most scenarios only read them."""
    made = {}

    def get(shell):
        maker = "venv" if shell == "yash" else "uv"
        if maker not in made:
            top = tmp_path_factory.mktemp(maker)
            made[maker] = make_project(top / "a", shell), make_project(top / "b", shell, prefix="OTHER", tag="B")
        return made[maker]

    return get


@pytest.fixture
def a(projects, shell):
    return projects(shell)[0]


@pytest.fixture
def b(projects, shell):
    return projects(shell)[1]
