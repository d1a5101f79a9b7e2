"""Before jax is imported; what happens after it is shown with a real jax in the integration tests."""

import os

import pytest

from substrax.runtime import JaxRuntime, RuntimeConfigurationError, XlaFlagConflictError, apply_runtime

from processes import run_python

EVERYTHING = JaxRuntime(
    platforms=("cpu",),
    cpu_devices=8,
    enable_x64=True,
    matmul_precision="high",
    compilation_cache_dir="gs://b/d",
    xla_flags=("--b",),
    preallocate=False,
    memory_fraction=0.5,
)


def test_every_field_is_written_to_the_environment():
    environ = {"HOME": "/h", "XLA_FLAGS": "--a=1", "JAX_PLATFORMS": "cuda"}

    apply_runtime(EVERYTHING, environ=environ)

    assert environ == {
        "HOME": "/h",
        "JAX_PLATFORMS": "cpu",
        "JAX_NUM_CPU_DEVICES": "8",
        "JAX_ENABLE_X64": "true",
        "JAX_DEFAULT_MATMUL_PRECISION": "high",
        "JAX_COMPILATION_CACHE_DIR": "gs://b/d",
        "XLA_FLAGS": "--a=1 --b",
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "XLA_CLIENT_MEM_FRACTION": "0.5",
    }


def test_the_environment_is_that_of_the_process_by_default(monkeypatch):
    monkeypatch.delenv("JAX_ENABLE_X64", raising=False)

    apply_runtime(JaxRuntime(enable_x64=True))

    assert os.environ.pop("JAX_ENABLE_X64") == "true"


@pytest.mark.parametrize(
    ("environ", "error"),
    [
        pytest.param({"XLA_FLAGS": "--b=2"}, XlaFlagConflictError, id="a flag conflict"),
        pytest.param({"XLA_FLAGS": "junk"}, ValueError, id="flags that XLA would not read"),
        pytest.param({"XLA_PYTHON_CLIENT_MEM_FRACTION": "1"}, RuntimeConfigurationError, id="the deprecated fraction"),
    ],
)
def test_a_refused_runtime_leaves_the_environment_as_it_was(environ, error):
    before = dict(environ)

    with pytest.raises(error):
        apply_runtime(EVERYTHING, environ=environ)

    assert environ == before


def test_applying_twice_is_applying_once():
    environ = {}
    apply_runtime(EVERYTHING, environ=environ)
    once = dict(environ)

    apply_runtime(EVERYTHING, environ=environ)

    assert environ == once


def test_applying_imports_no_jax_and_no_numpy():
    code = """
import sys
from substrax.runtime import JaxRuntime, apply_runtime
apply_runtime(JaxRuntime(cpu_devices=8))
print(sorted(sys.modules.keys() & {"jax", "jaxlib", "numpy"}))
"""
    assert run_python("-c", code) == (0, "[]\n", "")
