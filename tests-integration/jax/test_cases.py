"""What went wrong for people, from public reports, with its right outcome; those that no other test has."""

import os
import sys

import numpy
import pytest

from substrax.runtime import (
    JaxRuntime,
    RuntimeConfigurationError,
    child_environment,
    probe_runtime,
    runtime_environment,
)

from programs import BARE, run, run_python

COUNT = "--xla_force_host_platform_device_count"
DEVICES = "import jax; print(jax.device_count())"


def test_a_second_device_count_in_one_process_is_refused_and_two_children_have_their_own():
    code = """
import jax
from substrax.runtime import *
apply_runtime(JaxRuntime(cpu_devices=8))
print(jax.device_count())
try:
    apply_runtime(JaxRuntime(cpu_devices=4))
except RuntimeConfigurationError:
    print("refused", jax.device_count())
"""
    assert run_python(code) == (0, "8\nrefused 8\n", "")
    for count in (8, 4):
        child = child_environment(JaxRuntime(platforms=("cpu",), cpu_devices=count), parent=BARE)
        assert run_python(DEVICES, **child) == (0, f"{count}\n", "")


def test_a_declared_count_beats_the_flag_that_an_image_has_baked_in():
    base = {"XLA_FLAGS": f"{COUNT}=8"}

    rendered = runtime_environment(JaxRuntime(cpu_devices=4), base)

    assert run_python(DEVICES, **base | rendered) == (0, "4\n", "")


def test_a_declared_flag_that_an_inherited_count_would_beat_is_refused():
    base = {"JAX_NUM_CPU_DEVICES": "2"}

    with pytest.raises(RuntimeConfigurationError, match="and jax lets that win"):
        runtime_environment(JaxRuntime(xla_flags=(f"{COUNT}=4",)), base)
    # The control: what jax does with the two.
    assert run_python(DEVICES, **base, XLA_FLAGS=f"{COUNT}=4") == (0, "2\n", "")


def test_numbers_of_numpy_are_no_bools():
    for field in ("enable_x64", "preallocate"):
        with pytest.raises(TypeError, match="expected True or False"):
            JaxRuntime(**{field: numpy.bool_(True)})
    assert runtime_environment(JaxRuntime(memory_fraction=numpy.float64(0.5)), {}) == {"XLA_CLIENT_MEM_FRACTION": "0.5"}


def test_an_empty_platform_lets_jax_choose():
    assert run_python(DEVICES, JAX_PLATFORMS="", **runtime_environment(JaxRuntime(cpu_devices=2), {})) == (0, "2\n", "")


def test_a_cache_directory_alone_keeps_no_small_program(tmp_path):
    """Not a fault of the setting: jax keeps only what took a second to compile, as the docs of ours say."""
    rendered = runtime_environment(JaxRuntime(compilation_cache_dir=tmp_path), {})
    code = "import jax; jax.jit(lambda x: x + 1)(1.0)"

    assert run_python(code, **rendered)[0] == 0
    assert os.listdir(tmp_path) == []
    assert run_python(code, **rendered, JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0")[0] == 0
    assert os.listdir(tmp_path) != []


def test_a_spawned_worker_has_what_was_applied_before_import(tmp_path):
    """What was applied after import is in this process alone; environment variables go on to children."""
    program = tmp_path / "program.py"
    program.write_text("""
import multiprocessing
from substrax.runtime import JaxRuntime, apply_runtime

def devices():
    import jax
    print(jax.device_count(), jax.config.jax_enable_x64, flush=True)

if __name__ == "__main__":
    apply_runtime(JaxRuntime(cpu_devices=4, enable_x64=True))
    devices()
    worker = multiprocessing.get_context("spawn").Process(target=devices)
    worker.start()
    worker.join()
""")

    assert run([sys.executable, str(program)], env=BARE) == (0, "4 True\n4 True\n", "")


def test_a_probe_keeps_what_a_launcher_has_set():
    parent = BARE | {"CUDA_VISIBLE_DEVICES": "", "SLURM_LOCALID": "3"}

    assert probe_runtime(JaxRuntime(platforms=("cpu",)), parent=parent).platforms == ("cpu",)
