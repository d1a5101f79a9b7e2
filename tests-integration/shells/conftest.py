"""The shells that the templates and the environment file are for, as parameters."""

import pytest

from posix_shells import SHELLS, require


def pytest_generate_tests(metafunc):
    if "shell" in metafunc.fixturenames:
        metafunc.parametrize("shell", SHELLS)


@pytest.fixture(autouse=True)
def is_installed(request):
    """Each test of a shell needs that shell."""
    if "shell" in request.fixturenames:
        require(request.getfixturevalue("shell"))
