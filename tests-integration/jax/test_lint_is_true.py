"""What `lint_environment` says that jax does, this jax does; and what it reads is no slip to us."""

import random
from pathlib import Path

import pytest
from jaxlib import xla_client

from substrax.runtime import (
    JaxRuntime,
    lint_environment,
    parse_xla_flags,
    probe_runtime,
    runtime_environment,
)

from programs import BARE, run_python

READ = """
import os, re, pathlib, jax, jaxlib
from jax._src import config
names = {name.upper() for name in config.config._value_holders}
for package in (jax, jaxlib):
    for path in pathlib.Path(package.__file__).parent.rglob("*.py"):
        names |= set(re.findall(r'''["']((?:JAX|XLA)_[A-Z0-9_]+)["']''', path.read_text(errors="ignore")))
print(*sorted(name for name in names if name.startswith(("JAX_", "XLA_"))))
"""


def test_no_name_that_this_jax_reads_is_taken_for_a_slip():
    exit_code, output, errors = run_python(READ)
    assert (exit_code, len(output.split()) > 80) == (0, True), errors

    slips = [
        finding for finding in lint_environment(dict.fromkeys(output.split(), "1")) if "no jax reads" in finding.effect
    ]
    assert slips == []


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("JAX_ENABLE_X64", ""),
        ("JAX_ENABLE_X64", " true"),
        ("JAX_NUM_CPU_DEVICES", ""),
        ("JAX_NUM_CPU_DEVICES", "4.0"),
        ("JAX_DEFAULT_MATMUL_PRECISION", ""),
        ("JAX_DEFAULT_MATMUL_PRECISION", "HIGHEST"),
        ("JAX_DEBUG_NANS", ""),
        ("JAX_ENABLE_COMPILATION_CACHE", ""),
        ("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", ""),
        ("JAX_TRANSFER_GUARD", ""),
    ],
)
def test_the_import_fails_where_it_is_said_to(variable, value):
    [finding] = lint_environment({variable: value})

    assert finding.effect.startswith("import jax fails")
    assert run_python("import jax", **{variable: value})[0] == 1


@pytest.mark.parametrize(
    ("environ", "alive"),
    [
        ({"JAX_NUM_CPU_DEVICES": "0"}, False),
        ({"JAX_PLATFORMS": "CPU"}, False),
        ({"JAX_NUM_CPU_DEVICES": "3000000000"}, False),
        ({"XLA_FLAGS": "--xla_force_host_platform_device_count=0"}, False),
        ({"JAX_PLATFORMS": "cpu, tpu"}, False),
        ({"JAX_PLATFORMS": "gpu"}, False),
        ({"XLA_FLAGS": " "}, False),
        ({"XLA_FLAGS": "'--xla_force_host_platform_device_count=3'"}, False),
        ({"XLA_FLAGS": "\u2013xla_force_host_platform_device_count=3"}, False),
        ({"XLA_FLAGS": "--xla_tpu_enable_async_collective_fusion=true"}, False),
        ({"JAX_NUM_CPU_DEVICES": "-1"}, True),
        ({"XLA_FLAGS": "--xla_cpu_enable_fast_math junk --xla_force_host_platform_device_count=3"}, True),
        ({"XLA_FLAGS": "--xla_dump_hlo_module_re='a'b --xla_force_host_platform_device_count=3"}, True),
    ],
)
def test_the_first_operation_fails_or_the_setting_is_lost_where_it_is_said_to(environ, alive):
    assert lint_environment(environ) != ()

    exit_code, output, _ = run_python("import jax; print(jax.device_count())", **environ)
    assert (exit_code == 0, output) == (alive, "1\n" if alive else "")


@pytest.mark.parametrize("value", ["FALSE", "no", "off", " false", "f"])
def test_a_gpu_plugin_reads_the_opposite_where_it_is_said_to(value):
    code = "from jaxlib import xla_client as x; print(x.generate_pjrt_gpu_plugin_options().get('preallocate'))"

    assert lint_environment({"XLA_PYTHON_CLIENT_PREALLOCATE": value}) != ()
    assert run_python(code, XLA_PYTHON_CLIENT_PREALLOCATE=value)[1] == "True\n"


@pytest.mark.parametrize(
    "environ",
    [
        {"XLA_CLIENT_MEM_FRACTION": "50%"},
        {"XLA_CLIENT_MEM_FRACTION": ".5", "XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"},
        {"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda"},
        {"XLA_PYTHON_CLIENT_ALLOCATOR": ""},
        pytest.param(
            {"XLA_PYTHON_CLIENT_ABORT_COLLECTIVES_ON_FAILURE": "true"},
            marks=pytest.mark.skipif(
                "ABORT_COLLECTIVES" not in Path(xla_client.__file__).read_text(),
                reason="this jaxlib does not read XLA_PYTHON_CLIENT_ABORT_COLLECTIVES_ON_FAILURE yet",
            ),
        ),
    ],
)
def test_a_gpu_plugin_fails_where_it_is_said_to(environ):
    code = "from jaxlib import xla_client as x; x.generate_pjrt_gpu_plugin_options()"

    assert lint_environment(environ) != ()
    exit_code, _, errors = run_python(code, **environ)
    assert (exit_code, errors.splitlines()[-1].partition(":")[0]) == (1, "ValueError")


# ---- the grammar of flags, against XLA itself -----------------------------------------------------------------------

ALPHABET = "ab \t\n'\"\\=-,$#/"


def samples():
    """Texts of every kind, the same in each run, each with a device count behind it that XLA reads if it gets there."""
    source = random.Random(20261130)
    for _ in range(24):
        value = "".join(source.choices(ALPHABET, k=source.randint(0, 8)))
        yield f"--xla_dump_hlo_module_re={value} --xla_force_host_platform_device_count=3"


TAKEN = """
from jaxlib import xla_client
compile_options = xla_client.CompileOptions()
build = compile_options.executable_build_options
debug = build.debug_options
print(repr((debug.xla_dump_hlo_module_re, debug.xla_force_host_platform_device_count)))
"""


@pytest.mark.parametrize("text", list(samples()))
def test_our_grammar_is_xlas(text):
    exit_code, output, _ = run_python(TAKEN, XLA_FLAGS=text)
    try:
        ours = parse_xla_flags(text)
    except ValueError:
        # Refused: XLA dies of it, or loses the count behind it, or takes it into the value.
        assert exit_code != 0 or not output.endswith(", 3)\n")
        return

    names = {"--xla_dump_hlo_module_re", "--xla_force_host_platform_device_count"}
    if set(ours) == names:
        taken = (ours["--xla_dump_hlo_module_re"], int(ours["--xla_force_host_platform_device_count"]))
        assert (exit_code, output) == (0, f"{taken!r}\n")
    else:
        # The value has turned into a flag of its own, which XLA does not know.
        assert exit_code != 0


def test_what_is_rendered_has_no_finding_and_starts():
    runtime = JaxRuntime(
        platforms=("cpu",), cpu_devices=2, enable_x64=True, xla_flags=("--xla_dump_hlo_module_re='a b'",)
    )

    assert lint_environment(runtime_environment(runtime, {})) == ()
    assert probe_runtime(runtime, parent=BARE).device_counts == {"cpu": 2}
