"""Every field, by every way to apply it, is what a real jax reports."""

import json
import sys

import pytest

from substrax.runtime import JaxRuntime, child_environment, runtime_environment
from substrax.runtime._settings import SETTINGS

from programs import BARE, run, run_python

# What jax and the GPU plugins' own option reader run with; one line of JSON.
OBSERVE = """
import json, os, jax
from jaxlib import xla_client
def observe():
    # What a GPU plugin asks for when it is started; this part of it is in every jaxlib.
    options = xla_client.generate_pjrt_gpu_plugin_options()
    # Both kept alive: without them the memory that `debug` shows is somebody else's.
    compile_options = xla_client.CompileOptions()
    build = compile_options.executable_build_options
    debug = build.debug_options
    return {
        "platforms": [device.platform for device in jax.devices()][:1],
        "cpu_devices": jax.device_count(),
        "enable_x64": str(jax.numpy.arange(1.0).dtype) == "float64",
        "matmul_precision": jax.config.jax_default_matmul_precision,
        "lowered": "HIGHEST" in jax.jit(lambda a: a @ a).lower(jax.numpy.ones((2, 2))).as_text(),
        "compilation_cache_dir": jax.config.jax_compilation_cache_dir,
        "xla_flags": debug.xla_cpu_enable_fast_math,
        "preallocate": options.get("preallocate"),
        "memory_fraction": options.get("memory_fraction"),
    }
print(json.dumps(observe()))
"""
UNTOUCHED = {
    "platforms": ["cpu"],
    "cpu_devices": 1,
    "enable_x64": False,
    "matmul_precision": None,
    "lowered": False,
    "compilation_cache_dir": None,
    "xla_flags": False,
    "preallocate": None,
    "memory_fraction": None,
}
CASES = {
    "platforms": (("cpu",), {"platforms": ["cpu"]}),
    "cpu_devices": (5, {"cpu_devices": 5}),
    "enable_x64": (True, {"enable_x64": True}),
    "matmul_precision": ("highest", {"matmul_precision": "highest", "lowered": True}),
    "compilation_cache_dir": ("gs://bucket/dir", {"compilation_cache_dir": "gs://bucket/dir"}),
    "xla_flags": (("--xla_cpu_enable_fast_math",), {"xla_flags": True}),
    "preallocate": (False, {"preallocate": False}),
    "memory_fraction": (0.25, {"memory_fraction": 0.25}),
}
# One that would be another platform's: with it a jax that reads no JAX_PLATFORMS at all would not pass.
ELSEWHERE = {"platforms": {"JAX_PLATFORMS": "nowhere"}}
EVERYTHING = {field: value for field, (value, _) in CASES.items()}
OBSERVED_EVERYTHING = {key: value for _, observed in CASES.values() for key, value in observed.items()}


def observed(output):
    exit_code, text, errors = output
    assert exit_code == 0, errors
    return json.loads(text.splitlines()[-1])


def test_every_setting_of_the_table_is_proven_here():
    assert list(CASES) == [row.field for row in SETTINGS]


def test_a_jax_without_settings_reports_none_of_them():
    assert observed(run_python(OBSERVE)) == UNTOUCHED


@pytest.mark.parametrize("field", CASES)
def test_what_a_child_is_given_is_in_effect(field):
    value, expected = CASES[field]
    parent = BARE | {
        "JAX_PLATFORMS": "nowhere",
        "JAX_ENABLE_X64": "",
        "XLA_FLAGS": "--nope",
        "JAX_NUM_CPU_DEVICES": "3",
    }
    child = child_environment(JaxRuntime(**{field: value}), parent=parent)

    assert observed(run([sys.executable, "-c", OBSERVE], env=child)) == {**UNTOUCHED, **expected}


@pytest.mark.parametrize("field", CASES)
def test_what_is_rendered_over_another_environment_is_in_effect(field):
    value, expected = CASES[field]
    base = ELSEWHERE.get(field, {})

    rendered = runtime_environment(JaxRuntime(**{field: value}), base)

    assert observed(run_python(OBSERVE, **base | rendered)) == {**UNTOUCHED, **expected}


@pytest.mark.parametrize("field", CASES)
def test_what_is_applied_before_import_is_in_effect(field):
    value, expected = CASES[field]
    apply = f"from substrax.runtime import *; apply_runtime(JaxRuntime({field}={value!r}))"

    assert observed(run_python(apply + OBSERVE, **ELSEWHERE.get(field, {}))) == {**UNTOUCHED, **expected}


@pytest.mark.parametrize("field", [row.field for row in SETTINGS if row.option])
def test_what_is_applied_after_import_is_in_effect(field):
    value, expected = CASES[field]
    apply = f"import jax; from substrax.runtime import *; apply_runtime(JaxRuntime({field}={value!r}))"

    assert observed(run_python(apply + OBSERVE)) == {**UNTOUCHED, **expected}


@pytest.mark.parametrize("way", ["child", "before import"])
def test_everything_at_once_is_in_effect(way):
    if way == "child":
        output = run_python(OBSERVE, **runtime_environment(JaxRuntime(**EVERYTHING), {}))
    else:
        output = run_python(f"from substrax.runtime import *; apply_runtime(JaxRuntime(**{EVERYTHING!r}))" + OBSERVE)

    assert observed(output) == {**UNTOUCHED, **OBSERVED_EVERYTHING}


@pytest.mark.parametrize(
    ("requested", "existing"),
    [
        pytest.param("--xla_dump_hlo_module_re='a b'", "", id="single quotes"),
        pytest.param('--xla_dump_hlo_module_re="a \\" b"', "", id="double quotes with an escape"),
        pytest.param("--xla_dump_hlo_module_re=", "--xla_dump_hlo_pass_re='x  y'", id="over quotes that are there"),
        pytest.param(
            "--xla_dump_hlo_module_re='a'", "--xla_dump_hlo_pass_re='x'--xla_cpu_enable_fast_math=true", id="that touch"
        ),
    ],
)
def test_what_is_merged_is_read_by_xla_to_its_end(requested, existing):
    runtime = JaxRuntime(xla_flags=(requested, "--xla_force_host_platform_device_count=3"))

    rendered = runtime_environment(runtime, {"XLA_FLAGS": existing})

    assert run_python("import jax; print(jax.device_count())", **rendered) == (0, "3\n", "")
