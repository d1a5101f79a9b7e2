import copy
import dataclasses
import math
import pickle
from enum import IntEnum
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given

from substrax.runtime import JaxRuntime, XlaFlagConflictError, runtime_environment
from substrax.runtime._precision import MATMUL_PRECISIONS
from substrax.runtime._settings import SETTINGS, Setting

from strategies import runtimes


class Count(IntEnum):
    FOUR = 4


class Fraction(float):
    """Stands for numpy.float64, whose repr is not a number either."""

    def __repr__(self):
        return f"Fraction({float(self)})"


def test_the_table_has_one_row_a_field_in_the_order_of_the_fields():
    fields = dataclasses.fields(JaxRuntime)

    assert [row.field for row in SETTINGS] == [field.name for field in fields]
    assert [row.unset for row in SETTINGS] == [field.default for field in fields]


@pytest.mark.parametrize("row", SETTINGS, ids=lambda row: row.field)
def test_every_row_says_everything(row):
    assert [name for name in Setting.__annotations__ if not hasattr(row, name)] == []


def test_a_runtime_that_sets_nothing_renders_to_nothing():
    assert runtime_environment(JaxRuntime(), {}) == {}


@pytest.mark.parametrize(
    ("fields", "variable", "text"),
    [
        pytest.param({"platforms": ("cuda", "cpu")}, "JAX_PLATFORMS", "cuda,cpu", id="platforms"),
        pytest.param({"platforms": ("METAL",)}, "JAX_PLATFORMS", "METAL", id="the platform in capitals"),
        pytest.param({"cpu_devices": 8}, "JAX_NUM_CPU_DEVICES", "8", id="cpu_devices"),
        pytest.param({"cpu_devices": Count.FOUR}, "JAX_NUM_CPU_DEVICES", "4", id="cpu_devices, an enumeration"),
        pytest.param({"enable_x64": True}, "JAX_ENABLE_X64", "true", id="enable_x64"),
        pytest.param({"enable_x64": False}, "JAX_ENABLE_X64", "false", id="enable_x64, off"),
        pytest.param({"matmul_precision": "highest"}, "JAX_DEFAULT_MATMUL_PRECISION", "highest", id="matmul_precision"),
        pytest.param(
            {"compilation_cache_dir": Path("/c d")}, "JAX_COMPILATION_CACHE_DIR", "/c d", id="a cache directory"
        ),
        pytest.param({"compilation_cache_dir": "gs://b/d"}, "JAX_COMPILATION_CACHE_DIR", "gs://b/d", id="a cache URL"),
        pytest.param({"xla_flags": ("--a=1", "--b")}, "XLA_FLAGS", "--a=1 --b", id="xla_flags"),
        pytest.param({"preallocate": True}, "XLA_PYTHON_CLIENT_PREALLOCATE", "true", id="preallocate"),
        pytest.param({"preallocate": False}, "XLA_PYTHON_CLIENT_PREALLOCATE", "false", id="preallocate, off"),
        pytest.param({"memory_fraction": 0.75}, "XLA_CLIENT_MEM_FRACTION", "0.75", id="memory_fraction"),
        pytest.param({"memory_fraction": 1}, "XLA_CLIENT_MEM_FRACTION", "1.0", id="memory_fraction, an integer"),
        pytest.param({"memory_fraction": 1e-05}, "XLA_CLIENT_MEM_FRACTION", "1e-05", id="memory_fraction, small"),
        pytest.param(
            {"memory_fraction": Fraction(0.5)}, "XLA_CLIENT_MEM_FRACTION", "0.5", id="memory_fraction, a subclass"
        ),
    ],
)
def test_a_field_renders_to_its_variable(fields, variable, text):
    assert runtime_environment(JaxRuntime(**fields), {}) == {variable: text}


@pytest.mark.parametrize("name", MATMUL_PRECISIONS)
def test_every_precision_of_jax_is_taken(name):
    assert JaxRuntime(matmul_precision=name).matmul_precision == name


COUNT = "expected an integer of at least 1"
BOOL = "expected True or False"
FRACTION = "expected a number greater than 0 and at most 1"
STRINGS = 'expected a tuple of strings such as ("cuda", "cpu")'
FLAGS = 'expected a tuple of strings such as ("--xla_dump_to=/tmp/xla",)'
PRECISIONS = f"expected one of {', '.join(map(repr, MATMUL_PRECISIONS))}"
DIRECTORY = "expected an absolute pathlib.Path, or a URL string such as 'gs://bucket/dir'"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        pytest.param("platforms", "cpu", f"is 'cpu', {STRINGS}", id="platforms, one string"),
        pytest.param("platforms", ["cpu"], f"is ['cpu'], {STRINGS}", id="platforms, a list"),
        pytest.param(
            "platforms",
            (1,),
            'is (1,) and holds 1, expected strings, such as ("cuda", "cpu")',
            id="platforms, a number",
        ),
        pytest.param("cpu_devices", True, f"is True, {COUNT}", id="cpu_devices, a bool"),
        pytest.param("cpu_devices", "8", f"is '8', {COUNT}", id="cpu_devices, a string"),
        pytest.param("cpu_devices", 8.0, f"is 8.0, {COUNT}", id="cpu_devices, a float"),
        pytest.param("enable_x64", 1, f"is 1, {BOOL}", id="enable_x64, a number"),
        pytest.param("enable_x64", "false", f"is 'false', {BOOL}", id="enable_x64, a string"),
        pytest.param("matmul_precision", 3, f"is 3, {PRECISIONS}", id="matmul_precision, a number"),
        pytest.param(
            "compilation_cache_dir", "/cache", f"is '/cache', {DIRECTORY}", id="compilation_cache_dir, a string"
        ),
        pytest.param("compilation_cache_dir", 3, f"is 3, {DIRECTORY}", id="compilation_cache_dir, a number"),
        pytest.param("xla_flags", "--a", f"is '--a', {FLAGS}", id="xla_flags, one string"),
        pytest.param("xla_flags", None, f"is None, {FLAGS}", id="xla_flags, None"),
        pytest.param("xla_flags", [], f"is [], {FLAGS}", id="xla_flags, a list"),
        pytest.param("preallocate", 0, f"is 0, {BOOL}", id="preallocate, a number"),
        pytest.param("memory_fraction", True, f"is True, {FRACTION}", id="memory_fraction, a bool"),
        pytest.param("memory_fraction", "0.5", f"is '0.5', {FRACTION}", id="memory_fraction, a string"),
    ],
)
def test_a_wrong_type_is_refused(field, value, message):
    with pytest.raises(TypeError) as caught:
        JaxRuntime(**{field: value})

    assert str(caught.value) == f"{field} {message}"


NAME = "is no name of a platform, white space included; give one name each, and commas between"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        pytest.param("platforms", (), "is (), expected at least one name, or None to let jax choose", id="no platform"),
        pytest.param("platforms", ("",), f"is ('',): '' {NAME}", id="a blank platform"),
        pytest.param("platforms", ("cuda,cpu",), f"is ('cuda,cpu',): 'cuda,cpu' {NAME}", id="two platforms in one"),
        pytest.param(
            "platforms", ("cuda", " cpu"), f"is ('cuda', ' cpu'): ' cpu' {NAME}", id="a platform with a blank"
        ),
        pytest.param("platforms", ("c\0",), f"is ('c\\x00',): 'c\\x00' {NAME}", id="a platform with NUL"),
        pytest.param(
            "platforms",
            ("gpu",),
            "is ('gpu',): for 'gpu' jax starts cuda and rocm, and fails over the missing one; write 'cuda' or 'rocm'",
            id="the platform gpu",
        ),
        pytest.param(
            "platforms",
            ("CPU",),
            "is ('CPU',): jax compares names by case and knows no 'CPU'; write 'cpu'",
            id="CPU in capitals",
        ),
        pytest.param("cpu_devices", 0, f"is 0, {COUNT}", id="no device"),
        pytest.param("cpu_devices", -1, f"is -1, {COUNT}", id="a negative count"),
        pytest.param("matmul_precision", "", f"is '', {PRECISIONS}", id="an empty precision"),
        pytest.param(
            "matmul_precision",
            "tf32",
            f"is 'tf32', {PRECISIONS} (did you mean 'tensorfloat32'?)",
            id="a precision's nickname",
        ),
        pytest.param(
            "matmul_precision",
            "HIGHEST",
            f"is 'HIGHEST', {PRECISIONS} (did you mean 'highest'?)",
            id="a precision in capitals",
        ),
        pytest.param(
            "compilation_cache_dir",
            Path("c"),
            f"is {Path('c')!r}, expected an absolute path, such as Path.absolute() gives",
            id="a relative directory",
        ),
        pytest.param(
            "compilation_cache_dir",
            Path("~/c"),
            f"is {Path('~/c')!r}, expected an absolute path: jax does not expand '~', Path.expanduser() does",
            id="a directory with a tilde",
        ),
        pytest.param(
            "compilation_cache_dir",
            Path("gs://b/d"),
            f"is {Path('gs:/b/d')!r}, expected an absolute path: Path mangles a URL, so give that as a str",
            id="a URL as a path",
        ),
        pytest.param(
            "compilation_cache_dir",
            "file:///c",
            "is 'file:///c', expected Path('/c'): jax would make a directory named 'file:'",
            id="a file URL",
        ),
        pytest.param(
            "compilation_cache_dir", "gs://", "is 'gs://', expected a URL such as 'gs://bucket/dir'", id="half a URL"
        ),
        pytest.param(
            "compilation_cache_dir",
            Path("/c\0"),
            f"is {Path(chr(47) + 'c' + chr(0))!r}, expected a path that an environment variable can hold",
            id="a directory with NUL",
        ),
        pytest.param(
            "xla_flags",
            ("--xla_tpu_a=1",),
            "is ('--xla_tpu_a=1',): XLA ends the process over --xla_tpu_a; put it into LIBTPU_INIT_ARGS",
            id="a TPU flag",
        ),
        pytest.param(
            "xla_flags",
            ("--xla_force_host_platform_device_count=0",),
            "is ('--xla_force_host_platform_device_count=0',): jax cannot start with '0' for "
            "--xla_force_host_platform_device_count; write an integer of at least 1",
            id="a flag for no devices",
        ),
        pytest.param("memory_fraction", 0, f"is 0, {FRACTION}", id="no memory"),
        pytest.param("memory_fraction", 100, f"is 100, {FRACTION}", id="a percentage"),
        pytest.param("memory_fraction", -0.5, f"is -0.5, {FRACTION}", id="a negative fraction"),
        pytest.param("memory_fraction", math.nan, f"is nan, {FRACTION}", id="NaN"),
        pytest.param("memory_fraction", math.inf, f"is inf, {FRACTION}", id="infinity"),
    ],
)
def test_a_value_outside_of_its_domain_is_refused(field, value, message):
    with pytest.raises(ValueError) as caught:
        JaxRuntime(**{field: value})

    assert str(caught.value) == f"{field} {message}"


def test_two_values_for_one_requested_flag_are_a_conflict():
    with pytest.raises(XlaFlagConflictError) as caught:
        JaxRuntime(xla_flags=("--a=1", "--b", "--a=2"))

    assert (caught.value.flag, caught.value.existing, caught.value.requested) == ("--a", "1", "2")
    assert str(caught.value) == "xla_flags: --a is '1' already, and '2' was asked for: give it one value"


def test_a_flag_given_twice_with_one_value_counts_once():
    assert JaxRuntime(xla_flags=("--a=1", "--b", "--a='1'")) == JaxRuntime(xla_flags=("--a=1", "--b"))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        pytest.param(
            "cpu_devices", 10**5000, "is more than 2147483647, expected an integer that XLA can hold", id="a count"
        ),
        pytest.param(
            "compilation_cache_dir",
            Path("/x\ud800"),
            f"is {Path(chr(47) + 'x' + chr(0xD800))!r}, expected a path that an environment variable can hold",
            id="a directory",
        ),
        pytest.param("platforms", ("c\ud800",), f"is ('c\\ud800',): 'c\\ud800' {NAME}", id="a platform"),
        pytest.param(
            "xla_flags",
            ("--a=\ud800",),
            "is '--a=\\ud800': no environment variable can hold it; leave out what is no text",
            id="a flag",
        ),
    ],
)
def test_what_no_environment_can_hold_is_refused(field, value, message):
    with pytest.raises(ValueError) as caught:
        JaxRuntime(**{field: value})

    assert str(caught.value) == f"{field} {message}"


def test_a_path_of_another_system_is_refused():
    with pytest.raises(TypeError, match=DIRECTORY):
        JaxRuntime(compilation_cache_dir=PureWindowsPath("C:/cache"))


def test_all_faults_are_reported_together():
    with pytest.raises(TypeError) as caught:
        JaxRuntime(memory_fraction=2, platforms="cpu", cpu_devices=0)

    assert (
        str(caught.value)
        == f"platforms is 'cpu', {STRINGS}; cpu_devices is 0, {COUNT}; memory_fraction is 2, {FRACTION}"
    )


def test_faults_of_domain_alone_are_a_value_error():
    with pytest.raises(ValueError) as caught:
        JaxRuntime(memory_fraction=2, cpu_devices=0)

    assert str(caught.value) == f"cpu_devices is 0, {COUNT}; memory_fraction is 2, {FRACTION}"


def test_arguments_are_keywords():
    with pytest.raises(TypeError, match="positional"):
        JaxRuntime(("cpu",))


@given(runtimes)
def test_a_runtime_is_a_value(runtime):
    for same in (copy.deepcopy(runtime), pickle.loads(pickle.dumps(runtime)), dataclasses.replace(runtime)):
        assert (same, hash(same)) == (runtime, hash(runtime))


def test_a_runtime_does_not_change_and_takes_no_other_attribute():
    runtime = JaxRuntime(cpu_devices=8)

    with pytest.raises(dataclasses.FrozenInstanceError):
        runtime.cpu_devices = 4
    # Slots and frozen together: Python 3.11 and 3.12 answer a new name with TypeError, later ones as frozen.
    with pytest.raises((AttributeError, TypeError)):
        runtime.cpu_device = 4
    assert not hasattr(runtime, "__dict__")
