"""The shells that the templates and the environment file are for, as parameters."""

import os
import shutil

import pytest

from posix_shells import SHELLS


def pytest_generate_tests(metafunc):
    if "shell" in metafunc.fixturenames:
        metafunc.parametrize("shell", SHELLS)


@pytest.fixture(autouse=True)
def is_installed(request):
    """Skip by name a shell that is not installed; in CI, where all of them have to be, fail instead."""
    if "shell" in request.fixturenames:
        program = SHELLS[request.getfixturevalue("shell")][0]
        if shutil.which(program) is None:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(f"the shell {program} is not installed")
