"""The wheels, built once from this tree as a release would be, and clean environments to install them into."""

import os
import sys
from pathlib import Path

import pytest

from programs import ROOT, run

# What a person has around: neither settings for jax, nor an environment that is active, nor our helpers' path.
OURS = ("JAX_", "XLA_", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "UV_", "NOX_")


def checked(command, **options):
    """Run a step that the test is not about, and stop with its output if it fails."""
    done = run(command, timeout_s=900, **options)
    assert done[0] == 0, done
    return done


@pytest.fixture(scope="session")
def around():
    """The environment of a person on this machine."""
    return {name: value for name, value in os.environ.items() if not name.startswith(OURS)}


@pytest.fixture(scope="session")
def wheels(tmp_path_factory, around):
    """The folder with the wheel of each package, each built from its sdist."""
    folder = tmp_path_factory.mktemp("wheels")
    for package in ("substrax-runtime", "substrax-managed-env"):
        command = [sys.executable, "-m", "uv", "build", "--quiet", f"packages/{package}", "--out-dir", str(folder)]
        checked(command, cwd=ROOT, env=around)
    return folder


@pytest.fixture
def environment(tmp_path, wheels, around):
    """Make a new environment with `names` from the wheels and nothing from anywhere else; its Python comes back."""

    def make(*names: str, index: bool = False, options: tuple[str, ...] = ()) -> Path:
        place = tmp_path / "environment"
        python = place / "bin" / "python"
        uv = [sys.executable, "-m", "uv"]
        if not python.exists():
            checked([*uv, "venv", "--quiet", "--python", sys.executable, str(place)], env=around)
        source = ("--find-links", str(wheels)) if index else ("--no-index", "--find-links", str(wheels))
        checked([*uv, "pip", "install", "--quiet", "--python", str(python), *source, *options, *names], env=around)
        return python

    return make
