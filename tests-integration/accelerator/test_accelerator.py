"""What only a machine with an accelerator can show; the session `accelerator` runs it there."""

import os

import pytest

from substrax.runtime import JaxRuntime, runtime_environment
from substrax.runtime.managed_env import managed_environment, resolve_backend

from programs import run_python

BACKEND = os.environ.get("SUBSTRAX_TEST_BACKEND")
PLATFORM = {"cuda12": "cuda", "cuda13": "cuda", "metal": "mps", "rocm": "rocm"}.get(BACKEND or "")

pytestmark = pytest.mark.skipif(
    PLATFORM is None, reason="no accelerator was named in SUBSTRAX_TEST_BACKEND, as the session `accelerator` does"
)
needs_cuda = pytest.mark.skipif(PLATFORM != "cuda", reason="the share of memory is a setting of CUDA alone")

# Where the driver's own libraries are on some machines.
DRIVER = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES") if name in os.environ}
LIMIT = "import jax; print(jax.devices()[0].platform, jax.devices()[0].memory_stats()['bytes_limit'])"


def test_auto_is_this_machines_backend():
    # auto does not know which CUDA is wanted, and AMD's GPUs have to be asked for.
    assert resolve_backend("auto") == {"cuda13": "cuda12", "rocm": "cpu"}.get(BACKEND, BACKEND)


@pytest.mark.parametrize("platforms", [(PLATFORM,), (PLATFORM, "cpu")])
def test_the_first_platform_is_the_one_that_jax_runs_on(platforms):
    env = runtime_environment(JaxRuntime(platforms=platforms), {})

    assert run_python("import jax; print(jax.devices()[0].platform != 'cpu')", **DRIVER, **env) == (0, "True\n", "")


def test_the_environment_file_leaves_the_accelerator_to_jax():
    managed = managed_environment(prefix="DEMO", backend=BACKEND, project_root="/demo", extra={})
    env = {name: value for name, value in managed.items() if value is not None}

    assert run_python("import jax; print(jax.devices()[0].platform != 'cpu')", **DRIVER, **env) == (0, "True\n", "")


@needs_cuda
def test_the_fraction_is_the_share_of_memory_that_jax_may_take():
    limits = {}
    for fraction in (0.2, 0.4):
        env = runtime_environment(JaxRuntime(memory_fraction=fraction, preallocate=False), {})
        exit_code, output, errors = run_python(LIMIT, **DRIVER, **env)
        assert (exit_code, output.split()[0]) == (0, "gpu"), errors
        limits[fraction] = int(output.split()[1])

    assert limits[0.4] / limits[0.2] == pytest.approx(2, rel=0.05)
