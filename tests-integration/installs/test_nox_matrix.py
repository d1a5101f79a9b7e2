"""The matrix that the docs give to users, run by real nox in a shell that says other things to jax."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from programs import ROOT, run

CONSUMER = ROOT / "tests-integration" / "consumers" / "nox-matrix"
HOSTILE = {"JAX_PLATFORMS": "cuda", "XLA_FLAGS": "--nope", "JAX_ENABLE_X64": "", "JAX_NUM_CPU_DEVICES": "3"}


@pytest.fixture
def repository(tmp_path, wheels, around):
    root = shutil.copytree(CONSUMER, tmp_path / "datarax")
    links = {"UV_FIND_LINKS": str(wheels), "PIP_FIND_LINKS": f"{wheels} {os.environ.get('PIP_FIND_LINKS', '')}".strip()}
    return root, around | links | HOSTILE | {"PATH": f"{Path(sys.executable).parent}:{around['PATH']}"}


def test_every_backend_is_run_or_skipped_by_name(repository):
    root, env = repository

    exit_code, output, errors = run([sys.executable, "-m", "nox"], cwd=root, env=env, timeout_s=900)

    said = output + errors
    assert exit_code == 0, said
    for python, jax in (("3.12", "0.9.2"), ("3.13", "0.10.2")):
        assert f"Session tests(backend='cpu', python='{python}', jax='{jax}') was successful" in said
    assert said.count("2 passed") == 2
    if shutil.which("nvidia-smi") is None:
        assert said.count("skipped (cuda12: there is no nvidia-smi on this machine") == 2
        assert said.count("skipped (cuda13: there is no nvidia-smi on this machine") == 2
    if not Path("/dev/kfd").exists():
        assert said.count("skipped (rocm: there is no /dev/kfd, so no AMD GPU, on this machine") == 2


def test_the_oldest_nox_that_it_names_will_do(repository, environment):
    root, env = repository
    python = environment("nox==2024.4.15", index=True)

    exit_code, output, errors = run([str(python), "-m", "nox", "-k", "cpu"], cwd=root, env=env, timeout_s=900)

    assert (exit_code, (output + errors).count("2 passed")) == (0, 2), output + errors
