"""`observe_runtime`, `verify_runtime`, `probe_runtime` and `check_xla_flags` with a real jax."""

import json
import sys
from pathlib import Path

import jax
import jaxlib
import pytest

from substrax.runtime import (
    JaxRuntime,
    RuntimeConfigurationError,
    RuntimeReport,
    XlaFlagConflictError,
    check_xla_flags,
    probe_runtime,
)

from programs import BARE, run, run_python

VERSION = jax.__version__
NOTHING = RuntimeReport(
    jax_version=VERSION,
    jaxlib_version=jaxlib.__version__,
    platforms=("cpu",),
    default_backend="cpu",
    device_counts={"cpu": 1},
    enable_x64=False,
    matmul_precision=None,
    compilation_cache_dir=None,
    xla_flags="",
    preallocate=None,
    memory_fraction=None,
)


def probe(runtime, env=None, **options):
    return probe_runtime(runtime, env, parent=BARE, **options)


def refused(call, *arguments, **options):
    with pytest.raises(RuntimeConfigurationError) as caught:
        call(*arguments, **options)
    return str(caught.value)


# ---- reports ------------------------------------------------------------------------------------------------------


def test_a_child_without_settings_reports_what_jax_runs_with():
    assert probe(JaxRuntime()) == NOTHING


def test_a_child_with_every_setting_of_the_cpu_reports_them(tmp_path):
    runtime = JaxRuntime(
        platforms=("cpu",),
        cpu_devices=3,
        enable_x64=True,
        matmul_precision="highest",
        compilation_cache_dir=tmp_path / "cache",
        xla_flags=("--xla_cpu_enable_fast_math", "--xla_dump_hlo_module_re='a b'", "--xla_gpu_autotune_level=0"),
    )

    report = probe(runtime)

    assert (report.device_counts, report.enable_x64, report.matmul_precision, report.compilation_cache_dir) == (
        {"cpu": 3},
        True,
        "highest",
        str(tmp_path / "cache"),
    )
    assert report.xla_flags == "--xla_cpu_enable_fast_math --xla_dump_hlo_module_re='a b' --xla_gpu_autotune_level=0"


def test_a_report_is_a_table_and_json():
    assert str(NOTHING).splitlines()[2:6] == [
        "platforms              cpu",
        "default_backend        cpu",
        "device_counts          cpu: 1",
        "enable_x64             False",
    ]
    assert json.loads(NOTHING.to_json())["device_counts"] == {"cpu": 1}


def test_another_interpreter_needs_jax_and_not_this_library(tmp_path):
    bare = tmp_path / "python"
    # Isolated, so that it has no site-packages but those that are named: jax's, without ours.
    site = tmp_path / "site"
    site.mkdir()
    for path in Path(jax.__file__).parents[1].iterdir():
        if "substrax" not in path.name and not path.name.endswith(".pth"):
            (site / path.name).symlink_to(path)
    bare.write_text(f"#!/bin/sh\nexec env PYTHONPATH='{site}' '{sys.executable}' -S \"$@\"\n")
    bare.chmod(0o755)

    assert run([str(bare), "-c", "import substrax"], env=BARE)[0] == 1
    assert probe(JaxRuntime(cpu_devices=2), python=bare).device_counts == {"cpu": 2}


# ---- what is not in effect ------------------------------------------------------------------------------------------

VERIFY = """
import os, sys
from pathlib import Path
import jax
from substrax.runtime import *
def verify(**fields):
    try:
        print("verified", verify_runtime(JaxRuntime(**fields)).device_counts)
    except RuntimeConfigurationError as error:
        print(error)
"""


def test_what_was_applied_is_verified_after_the_first_operation(tmp_path):
    fields = (
        f"platforms=('cpu',), cpu_devices=4, enable_x64=True, matmul_precision='high', "
        f"compilation_cache_dir=Path({str(tmp_path)!r}), "
        "xla_flags=('--xla_cpu_enable_fast_math=true', '--xla_backend_optimization_level=2', '--xla_gpu_autotune_level=0')"
    )
    code = f"""
from pathlib import Path
from substrax.runtime import *
apply_runtime(JaxRuntime({fields}))
{VERIFY}
jax.numpy.zeros(2)
verify({fields})
"""
    assert run_python(code) == (0, "verified {'cpu': 4}\n", "")


def not_applied(variable):
    return f"{variable} is not set, and nothing else has applied it"


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ("cpu_devices=8", f"cpu_devices: declared 8, in effect 1 ({not_applied('JAX_NUM_CPU_DEVICES')})"),
        ("enable_x64=True", f"enable_x64: declared True, in effect False ({not_applied('JAX_ENABLE_X64')})"),
        (
            "matmul_precision='high'",
            f"matmul_precision: declared 'high', in effect None ({not_applied('JAX_DEFAULT_MATMUL_PRECISION')})",
        ),
        (
            "compilation_cache_dir=Path('/c')",
            f"compilation_cache_dir: declared PosixPath('/c'), in effect None ({not_applied('JAX_COMPILATION_CACHE_DIR')})",
        ),
        (
            "xla_flags=('--xla_cpu_enable_fast_math',)",
            "xla_flags: declared ('--xla_cpu_enable_fast_math',), in effect --xla_cpu_enable_fast_math=False (XLA_FLAGS was set "
            "too late or not at all, or this XLA heeds --xla_cpu_enable_fast_math no more)",
        ),
        (
            "xla_flags=('--xla_gpu_autotune_level=0',)",
            "xla_flags: declared ('--xla_gpu_autotune_level=0',), in effect XLA_FLAGS='' (--xla_gpu_autotune_level=0 is not in "
            "it)",
        ),
        (
            "xla_flags=('--xla_force_host_platform_device_count=4',)",
            "xla_flags: declared ('--xla_force_host_platform_device_count=4',), in effect 1 CPU devices "
            "(--xla_force_host_platform_device_count=4 came too late, or JAX_NUM_CPU_DEVICES beats it)",
        ),
        (
            "platforms=('tpu', 'cpu')",
            f"platforms: declared ('tpu', 'cpu'), in effect 'cpu', of ('cpu',) ({not_applied('JAX_PLATFORMS')})",
        ),
        (
            "memory_fraction=0.5",
            "memory_fraction: declared 0.5, in effect nothing (only a GPU plugin reads XLA_CLIENT_MEM_FRACTION, and none has "
            "started)",
        ),
        (
            "preallocate=False",
            "preallocate: declared False, in effect nothing (only a GPU plugin reads XLA_PYTHON_CLIENT_PREALLOCATE, and none "
            "has started)",
        ),
    ],
)
def test_what_was_not_applied_is_named_with_the_reason(fields, fault):
    exit_code, output, errors = run_python(f"{VERIFY}verify({fields})")

    # jax tries the platforms that it knows, and says why the TPU's did not start.
    reasons = [fault, fault.partition(" (JAX_PLATFORMS")[0] + " (jax says of tpu: "]
    assert (exit_code, errors) == (0, "")
    assert output.startswith(tuple(f"not in effect in jax {VERSION}: {reason}" for reason in reasons)), output


def test_what_was_set_after_import_is_named_so():
    code = f"{VERIFY}os.environ['JAX_NUM_CPU_DEVICES'] = '8'; verify(cpu_devices=8)"
    late = "JAX_NUM_CPU_DEVICES says so, but was set after jax had read it, or something has changed it since"

    assert run_python(code) == (
        0,
        f"not in effect in jax {VERSION}: cpu_devices: declared 8, in effect 1 ({late})\n",
        "",
    )


def test_a_truth_value_that_came_late_is_named_so_in_any_spelling():
    code = f"{VERIFY}os.environ['JAX_ENABLE_X64'] = '1'; verify(enable_x64=True)"

    assert "(JAX_ENABLE_X64 says so, but was set after jax had read it" in run_python(code)[1]


@pytest.mark.parametrize(
    ("fields", "variables"),
    [
        ("compilation_cache_dir=Path('/tmp/c')", {"JAX_COMPILATION_CACHE_DIR": "/tmp/./c/"}),
        (
            "xla_flags=('--xla_force_host_platform_device_count=04',)",
            {"XLA_FLAGS": "--xla_force_host_platform_device_count=04"},
        ),
        ("xla_flags=('--xla_gpu_deterministic_ops=true',)", {"XLA_FLAGS": "--xla_gpu_deterministic_ops"}),
        ("xla_flags=('--xla_gpu_deterministic_ops=0',)", {"XLA_FLAGS": "--xla_gpu_deterministic_ops=false"}),
        ("xla_flags=('--xla_cpu_enable_fast_math',)", {"XLA_FLAGS": "--xla_cpu_enable_fast_math=TRUE junk"}),
    ],
)
def test_what_is_in_effect_in_another_spelling_is_verified(fields, variables):
    assert run_python(f"{VERIFY}verify({fields})", **variables)[1].startswith("verified")


def test_a_flag_that_cannot_be_looked_for_is_a_refusal_and_no_other_error():
    code = f"{VERIFY}verify(xla_flags=('--xla_gpu_autotune_level=0',))"

    exit_code, output, errors = run_python(code, XLA_FLAGS="--xla_cpu_enable_fast_math junk --xla_gpu_autotune_level=0")

    assert (exit_code, errors) == (0, "")
    assert output.startswith(f"not in effect in jax {VERSION}: xla_flags: ")
    assert "'junk' is no flag" in output


def test_a_platform_that_was_not_declared_and_has_started_is_named(plugin):
    env = plugin(
        "import jax._src.xla_bridge as bridge\n"
        "bridge.register_backend_factory('standin', bridge.make_cpu_client, priority=-100)"
    )
    code = f"{VERIFY}verify(platforms=('cpu',))"

    exit_code, output, _ = run_python(code, JAX_PLATFORM_NAME="cpu", **env)

    assert exit_code == 0
    assert "platforms: declared ('cpu',), in effect 'cpu', of ('cpu', 'standin')" in output


def test_a_url_for_the_cache_needs_what_jax_needs_for_it():
    import importlib.util

    runtime = JaxRuntime(compilation_cache_dir="gs://bucket/dir")
    if importlib.util.find_spec("etils") is not None:
        assert probe(runtime).compilation_cache_dir == "gs://bucket/dir"
        return

    assert "for a URL jax needs etils[epath], which is not installed, and only warns" in refused(probe, runtime)


def test_a_cache_in_use_is_seen_although_it_was_switched_off_since(tmp_path):
    code = f"""{VERIFY}
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_compilation_cache_dir", "{tmp_path}")
jax.jit(lambda x: x + 1)(1.0)
jax.config.update("jax_enable_compilation_cache", False)
print(observe_runtime().compilation_cache_dir)
"""
    assert run_python(code)[1] == f"{tmp_path}\n"


def test_a_late_cache_directory_is_seen_where_jax_ignores_it(tmp_path):
    code = f"""{VERIFY}
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_compilation_cache_dir", "{tmp_path}/1")
jax.jit(lambda x: x + 1)(1.0)
jax.config.update("jax_compilation_cache_dir", "{tmp_path}/2")
verify(compilation_cache_dir=Path("{tmp_path}/2"))
verify(compilation_cache_dir=Path("{tmp_path}/1"))
apply_runtime(JaxRuntime(compilation_cache_dir=Path("{tmp_path}/2")))
jax.jit(lambda x: x + 2)(1.0)
verify(compilation_cache_dir=Path("{tmp_path}/2"))
"""
    exit_code, output, _ = run_python(code)
    first, *rest = output.splitlines()

    assert (exit_code, rest) == (0, ["verified {'cpu': 1}", "verified {'cpu': 1}"])
    assert f"declared PosixPath('{tmp_path}/2'), in effect '{tmp_path}/1'" in first


def test_a_cache_directory_that_cannot_be_made_is_not_in_effect():
    message = refused(probe, JaxRuntime(compilation_cache_dir=Path("/dev/null/cache")))

    assert message == (
        f"not in effect in jax {VERSION}: compilation_cache_dir: declared PosixPath('/dev/null/cache'), in effect nothing "
        "(jax cannot write there, and only warns)"
    )


def test_all_that_is_not_in_effect_is_named_together():
    exit_code, output, errors = run_python(f"{VERIFY}verify(memory_fraction=0.5, enable_x64=True, cpu_devices=2)")

    assert (exit_code, errors) == (0, "")
    assert [output.index(name) for name in ("cpu_devices:", "enable_x64:", "memory_fraction:")] == sorted(
        output.index(name) for name in ("cpu_devices:", "enable_x64:", "memory_fraction:")
    )


# ---- what only a start shows ----------------------------------------------------------------------------------------


def test_cuda_with_the_cpu_behind_it_is_not_silently_the_cpu():
    message = refused(probe, JaxRuntime(platforms=("cuda", "cpu")))

    assert message == (
        f"not in effect in jax {VERSION}: platforms: declared ('cuda', 'cpu'), in effect 'cpu', of ('cpu',) (jax left cuda out "
        "without a word: its plugin is not installed, or no device of it is visible)"
    )


def test_cuda_alone_is_an_exception_with_words():
    message = refused(probe, JaxRuntime(platforms=("cuda",)))

    assert message == (
        "a child process with platforms=('cuda',) ended with status 1: AssertionError, which is what jax raises when no NVIDIA "
        "GPU is visible to the process"
    )


def test_a_platform_that_cannot_start_is_an_exception_in_jaxs_own_words():
    message = refused(probe, JaxRuntime(platforms=("nowhere",)))

    assert message.startswith(
        "a child process with platforms=('nowhere',) ended with status 1: RuntimeError: Unable to initialize backend 'nowhere': "
    )


def test_in_this_process_too():
    code = f"{VERIFY}jax.config.update('jax_platforms', 'nowhere'); verify(platforms=('nowhere',))"

    exit_code, output, errors = run_python(code)

    assert (exit_code, errors) == (0, "")
    assert output.startswith(
        "platforms is ('nowhere',), but jax cannot start its backends: RuntimeError: Unable to initialize backend 'nowhere'"
    )


@pytest.fixture
def plugin(tmp_path):
    """A stand-in plugin, found as jax finds real ones; its folder comes back for PYTHONPATH."""

    def install(initialize):
        package = tmp_path / "jax_plugins" / "standin"
        package.mkdir(parents=True)
        body = "\n    ".join(initialize.splitlines())
        (package / "__init__.py").write_text(f"def initialize():\n    {body}\n")
        return {"PYTHONPATH": str(tmp_path)}

    return install


def test_a_plugin_that_fails_is_an_exception_with_its_own_words(plugin):
    env = plugin("raise ValueError('no such device')")

    message = refused(probe, JaxRuntime(platforms=("standin",)), env)

    assert message.endswith(
        "; before that: Exception when calling jax_plugins.standin.initialize(): ValueError: no such device"
    )


def test_options_that_a_gpu_plugin_refuses_are_an_exception_with_its_words(plugin):
    """As the CUDA plugin does it: the options are made when the plugin is discovered, and jax goes on without it."""
    env = plugin("from jaxlib import xla_client\nxla_client.generate_pjrt_gpu_plugin_options()")

    message = refused(probe, JaxRuntime(platforms=("standin",)), env | {"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda"})

    assert "before that: Exception when calling jax_plugins.standin.initialize(): ValueError: " in message


def test_a_child_that_does_not_answer_is_given_up(plugin):
    env = plugin("import time\ntime.sleep(60)")

    assert refused(probe, JaxRuntime(), env, timeout_s=3) == "timeout_s is 3, and a child process has not answered"


def test_an_interpreter_that_is_not_there_is_named():
    assert refused(probe, JaxRuntime(), python="/nowhere/python") == (
        "python is '/nowhere/python', which cannot be started: No such file or directory"
    )


def test_an_interpreter_without_jax_says_so(tmp_path):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' -S \"$@\"\n")
    python.chmod(0o755)

    assert refused(probe, JaxRuntime(), python=python).endswith("ModuleNotFoundError: No module named 'jax'")


# ---- XLA flags ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", ["", "--xla_cpu_enable_fast_math --xla_dump_to='/tmp/two words'"])
def test_flags_that_this_jaxlib_knows_pass(flags):
    check_xla_flags(flags)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--xla_nope=1 --xla_dump_to=/tmp/x", "Unknown flag in XLA_FLAGS: --xla_nope=1"),
        ("--xla_nope --xla_other", "Unknown flags in XLA_FLAGS: --xla_nope --xla_other"),
        ("--xla_cpu_enable_fast_math=yes", "Couldn't interpret value yes for flag xla_cpu_enable_fast_math."),
    ],
)
def test_a_flag_that_would_end_the_process_is_an_exception_that_names_it(flags, words):
    assert refused(check_xla_flags, flags) == f"XLA_FLAGS is {flags!r}, which this jaxlib refuses: {words}"
    assert words in refused(probe, JaxRuntime(xla_flags=tuple(flags.split())))


def test_flags_that_xla_would_drop_are_refused_before_it_is_asked():
    with pytest.raises(ValueError, match="'junk' is no flag, and XLA stops reading there"):
        check_xla_flags("--xla_cpu_enable_fast_math junk --xla_nope")
    with pytest.raises(XlaFlagConflictError):
        check_xla_flags("--xla_cpu_enable_fast_math=true --xla_cpu_enable_fast_math=false")


# ---- the command --------------------------------------------------------------------------------------------------


def check(*arguments, **env):
    return run([sys.executable, "-m", "substrax.runtime", "check", *arguments], env=BARE | env)


def test_the_command_starts_a_real_jax_and_compares():
    exit_code, output, errors = check("--probe", "--cpu-devices", "8", JAX_PLATFORMS="cpu")

    assert (exit_code, errors) == (0, "")
    assert "  device_counts          cpu: 8\n" in output
    assert output.endswith("\nAll is well.\n")


@pytest.mark.parametrize(
    "environ",
    [
        {"JAX_PLATFORMS": "cpu", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
        {"JAX_PLATFORMS": "cpu", "XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"},
        {"XLA_FLAGS": "--xla_force_host_platform_device_count=3", "JAX_ENABLE_X64": "on"},
    ],
)
def test_the_command_starts_what_is_in_order(environ):
    exit_code, output, errors = check("--probe", **environ)

    assert (exit_code, errors, output.splitlines()[-1]) == (0, "", "All is well."), output


def test_the_command_says_one_thing_once():
    both = {"XLA_CLIENT_MEM_FRACTION": ".5", "XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"}

    assert check("--probe", **both)[1].splitlines()[-1] == "1 finding."


def test_the_command_knows_what_the_installed_jax_does_not():
    exit_code, output, _ = check(XLA_PYTHON_CLIENT_ALLOCATOR="address")
    known = tuple(int(part) for part in VERSION.split(".")[:2]) >= (0, 11)

    assert (exit_code, f"the installed jax {VERSION} does not know it" in output) == (
        (0, False) if known else (1, True)
    )


def test_the_command_finds_what_only_a_start_shows():
    exit_code, output, errors = check("--probe", "--json", XLA_FLAGS="--xla_nope")

    assert (exit_code, errors) == (1, "")
    [problem] = json.loads(output)["problems"]
    assert problem.endswith("Unknown flag in XLA_FLAGS: --xla_nope")


def test_observing_where_jax_is_not_installed_says_so():
    source = str(Path(sys.modules["substrax.runtime"].__file__).parents[2])
    code = f"import sys; sys.path.append({source!r}); from substrax.runtime import observe_runtime; "
    # Blocked, since the folder that holds our library may hold jax as well.
    code += "sys.modules['jax'] = None; observe_runtime()"

    exit_code, _, errors = run([sys.executable, "-S", "-c", code], env=BARE)

    assert (exit_code, errors.splitlines()[-1].partition(":")[0]) == (1, "ModuleNotFoundError")
