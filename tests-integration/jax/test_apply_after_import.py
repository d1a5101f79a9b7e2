"""`apply_runtime` once jax is there, in each state that jax can be in: in effect, or refused with nothing changed."""

import re

import jax
import pytest

from programs import run_python

VERSION = jax.__version__
APPLY = """
import os, sys
from substrax.runtime import *
def apply(**fields):
    before = dict(os.environ)
    try:
        apply_runtime(JaxRuntime(**fields))
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        if error.__cause__ is not None:
            print(f"  from {type(error.__cause__).__name__}: {error.__cause__}")
    else:
        print("applied")
    if dict(os.environ) != before:
        print("environment changed")
"""
WORKS_BEFORE = (
    "cannot be applied after jax is imported, since jax.config has no option that still works; call apply_runtime before jax "
    "is imported, or start a child process with child_environment"
)


@pytest.mark.parametrize(
    "fields",
    ["platforms=('cpu',)", "xla_flags=('--a',)", "preallocate=False", "memory_fraction=0.5"],
)
def test_a_field_without_an_option_is_refused_by_name(fields):
    code = APPLY + f"import jax; apply({fields})"

    assert run_python(code) == (0, f"RuntimeConfigurationError: {fields} {WORKS_BEFORE}\n", "")


def test_all_fields_without_an_option_are_named_and_nothing_is_half_applied():
    code = (
        APPLY
        + """
import jax
apply(memory_fraction=0.5, platforms=("cpu",), enable_x64=True, cpu_devices=4, preallocate=False, xla_flags=("--a",))
print(jax.config.jax_enable_x64, jax.device_count())
"""
    )
    assert run_python(code) == (
        0,
        "RuntimeConfigurationError: platforms=('cpu',), xla_flags=('--a',), preallocate=False, memory_fraction=0.5 "
        f"{WORKS_BEFORE} (cpu_devices=4, enable_x64=True alone would still work here)\nFalse 1\n",
        "",
    )


def test_a_device_count_after_the_first_operation_is_refused_and_nothing_is_half_applied():
    code = (
        APPLY
        + """
import jax
jax.random.key(0)
apply(matmul_precision="high", enable_x64=True, cpu_devices=8)
print(jax.device_count(), jax.config.jax_num_cpu_devices, jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision)
"""
    )
    jax_says = (
        "jax_num_cpu_devices config should be updated before backends are initialized i.e. before any JAX operation is executed. "
        "You should initialize this config immediately after `import jax`."
    )
    assert run_python(code) == (
        0,
        f"RuntimeConfigurationError: cpu_devices is 8, which jax {VERSION} refuses: {jax_says}\n"
        f"  from RuntimeError: {jax_says}\n1 -1 False None\n",
        "",
    )


def test_the_device_count_that_is_in_effect_can_be_applied_again():
    code = (
        APPLY
        + "import jax; apply(cpu_devices=3); jax.devices(); apply(cpu_devices=3, enable_x64=True); print(jax.device_count())"
    )

    assert run_python(code) == (0, "applied\napplied\n3\n", "")


def test_precision_and_x64_take_effect_after_the_first_operation():
    code = (
        APPLY
        + """
import jax
square = jax.jit(lambda a: a @ a)
print(square(jax.numpy.ones((2, 2))).dtype)
apply(matmul_precision="highest", enable_x64=True)
print(square(jax.numpy.ones((2, 2))).dtype, "HIGHEST" in square.lower(jax.numpy.ones((2, 2))).as_text())
"""
    )
    assert run_python(code) == (0, "float32\napplied\nfloat64 True\n", "")


CACHE = """
import pathlib, tempfile, jax
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
places = [pathlib.Path(tempfile.mkdtemp()) for _ in range(2)]
def compile_something(number):
    jax.jit(lambda x: x + number)(1.0)
    print([sum(not entry.name.endswith("-atime") for entry in place.iterdir()) > 0 for place in places])
"""


def test_a_cache_directory_takes_effect_before_the_first_compilation(tmp_path):
    code = APPLY + CACHE + "apply(compilation_cache_dir=places[0]); compile_something(1)"

    assert run_python(code, TMPDIR=str(tmp_path)) == (0, "applied\n[True, False]\n", "")


def test_a_cache_directory_takes_effect_while_another_is_in_use(tmp_path):
    code = (
        APPLY
        + CACHE
        + """
apply(compilation_cache_dir=places[0])
compile_something(1)
apply(compilation_cache_dir=places[1])
compile_something(2)
"""
    )
    assert run_python(code, TMPDIR=str(tmp_path)) == (0, "applied\n[True, False]\napplied\n[True, True]\n", "")


def test_a_cache_directory_takes_effect_after_compilations_without_one(tmp_path):
    code = APPLY + CACHE + "compile_something(1); apply(compilation_cache_dir=places[0]); compile_something(2)"

    assert run_python(code, TMPDIR=str(tmp_path)) == (0, "[False, False]\napplied\n[True, False]\n", "")


def test_jax_itself_goes_on_with_the_first_cache_directory(tmp_path):
    """The control of the tests above: what happens without substrax."""
    code = (
        CACHE
        + """
jax.config.update("jax_compilation_cache_dir", str(places[0]))
compile_something(1)
jax.config.update("jax_compilation_cache_dir", str(places[1]))
compile_something(2)
"""
    )
    assert run_python(code, TMPDIR=str(tmp_path)) == (0, "[True, False]\n[True, False]\n", "")


def test_an_option_that_a_context_manager_of_this_thread_overrules_is_refused():
    code = (
        APPLY
        + """
import jax
with jax.default_matmul_precision("high"):
    apply(enable_x64=True, matmul_precision="highest")
print(jax.config.jax_default_matmul_precision, jax.config.jax_enable_x64)
"""
    )
    assert run_python(code) == (
        0,
        f"RuntimeConfigurationError: matmul_precision is 'highest', which jax {VERSION} would ignore here, because a context "
        "manager of jax sets jax_default_matmul_precision in this thread; call apply_runtime outside of it\nNone False\n",
        "",
    )


def test_a_cache_directory_is_refused_where_the_cache_is_switched_off():
    code = (
        APPLY
        + """
import jax
jax.config.update("jax_enable_compilation_cache", False)
apply(compilation_cache_dir="gs://b/d", enable_x64=True)
print(jax.config.jax_compilation_cache_dir, jax.config.jax_enable_x64)
"""
    )
    assert run_python(code) == (
        0,
        "RuntimeConfigurationError: compilation_cache_dir cannot be in effect: jax_enable_compilation_cache is off in "
        "jax.config, and jax leaves the directory unused; switch it on first\nNone False\n",
        "",
    )


def test_values_of_subclasses_reach_jax_as_what_they_are():
    code = (
        APPLY
        + """
import enum, jax
class Precision(str, enum.Enum):
    BEST = "highest"
class Count(enum.IntEnum):
    THREE = 3
apply(matmul_precision=Precision.BEST, cpu_devices=Count.THREE)
print(jax.config.jax_default_matmul_precision, jax.device_count())
"""
    )
    assert run_python(code) == (0, "applied\nhighest 3\n", "")


# ---- what "jax is imported" means ---------------------------------------------------------------------------------

DURING_IMPORT = """
import importlib.abc
class When(importlib.abc.MetaPathFinder):
    def __init__(self, module, act):
        self.module, self.act = module, act
    def find_spec(self, name, path, target=None):
        if name == self.module and self.act:
            act, self.act = self.act, None
            act()
"""
REPORT = "print(jax.device_count(), jax.config.jax_enable_x64)"


def test_half_way_through_the_import_before_the_environment_is_read_it_is_written_to():
    code = (
        APPLY
        + DURING_IMPORT
        + f"""
sys.meta_path.insert(0, When("jax._src.config", lambda: apply(cpu_devices=3, enable_x64=True, platforms=("cpu",))))
import jax
{REPORT}
"""
    )
    assert run_python(code) == (0, "applied\nenvironment changed\n3 True\n", "")


def test_half_way_through_the_import_after_it_each_field_goes_the_way_that_still_works():
    code = (
        APPLY
        + DURING_IMPORT
        + f"""
sys.meta_path.insert(0, When("jax._src.xla_bridge", lambda: apply(cpu_devices=3, enable_x64=True)))
import jax
{REPORT}
"""
    )
    assert run_python(code) == (0, "applied\nenvironment changed\n3 True\n", "")


def test_half_way_through_the_import_after_it_what_is_too_late_is_refused():
    code = (
        APPLY
        + DURING_IMPORT
        + f"""
sys.meta_path.insert(0, When("jax._src.xla_bridge", lambda: apply(cpu_devices=3, platforms=("cpu",))))
import jax
{REPORT}
"""
    )
    assert run_python(code) == (
        0,
        f"RuntimeConfigurationError: platforms=('cpu',) {WORKS_BEFORE} (cpu_devices=3 alone would still work here)\n1 False\n",
        "",
    )


@pytest.mark.parametrize("module", ["jax._src.xla_bridge", "jax._src.distributed", "jax._src.clusters", "jax.numpy"])
def test_a_cache_directory_half_way_through_the_import_does_not_break_it(module):
    code = (
        APPLY
        + DURING_IMPORT
        + f"""
sys.meta_path.insert(0, When({module!r}, lambda: apply(compilation_cache_dir="gs://b/d", enable_x64=True)))
import jax
print(jax.config.jax_compilation_cache_dir, jax.config.jax_enable_x64)
"""
    )
    assert run_python(code) == (0, "applied\ngs://b/d True\n", "")


def test_after_an_import_that_failed_with_the_environment_read_everything_is_refused():
    code = (
        APPLY
        + """
try:
    import jax
except ValueError:
    print("jax" in sys.modules)
apply(cpu_devices=3, platforms=("cpu",))
"""
    )
    assert run_python(code, JAX_NUM_CPU_DEVICES="many") == (
        0,
        "False\nRuntimeConfigurationError: platforms=('cpu',), cpu_devices=3 cannot be applied: an import of jax has failed or "
        "was undone after jax had read the environment, which it does once; start a new process\n",
        "",
    )


def test_after_jax_was_removed_from_the_modules_everything_is_refused():
    code = APPLY + "import jax; del sys.modules['jax']; apply(enable_x64=True)"

    exit_code, output, errors = run_python(code)

    assert (exit_code, errors) == (0, "")
    assert re.match(r"RuntimeConfigurationError: enable_x64=True cannot be applied: an import of jax", output)


def test_a_jax_that_is_only_promised_has_read_nothing():
    code = (
        APPLY
        + f"""
import importlib.util
spec = importlib.util.find_spec("jax")
spec.loader = importlib.util.LazyLoader(spec.loader)
sys.modules["jax"] = jax = importlib.util.module_from_spec(spec)
spec.loader.exec_module(jax)
apply(cpu_devices=3, enable_x64=True)
{REPORT}
"""
    )
    assert run_python(code) == (0, "applied\nenvironment changed\n3 True\n", "")


@pytest.mark.parametrize(
    "load", ["import jaxlib", "import jaxlib.mlir.ir", "import importlib.util; importlib.util.find_spec('jax')"]
)
def test_a_part_of_jax_that_reads_no_setting_is_not_jax(load):
    code = APPLY + f"{load}; apply(cpu_devices=3, enable_x64=True); import jax; {REPORT}"

    # jax keeps jaxlib quiet by this variable, which jaxlib reads when it is loaded.
    assert run_python(code, TF_CPP_MIN_LOG_LEVEL="1") == (0, "applied\nenvironment changed\n3 True\n", "")


@pytest.mark.parametrize("load", ["import jax.numpy", "from jax import config", "import jax.version"])
def test_any_import_of_jax_is_one(load):
    code = APPLY + f"{load}; apply(cpu_devices=3, enable_x64=True); import jax; {REPORT}"

    assert run_python(code) == (0, "applied\n3 True\n", "")
