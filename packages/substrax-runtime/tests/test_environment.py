import os
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrax.runtime import (
    JaxRuntime,
    RuntimeConfigurationError,
    XlaFlagConflictError,
    child_environment,
    parse_xla_flags,
    runtime_environment,
)

from strategies import flag_lists, runtimes

COUNT = "--xla_force_host_platform_device_count"


def test_only_the_variables_of_the_runtime_come_back():
    base = {"HOME": "/h", "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cuda", "XLA_FLAGS": "--a=1"}

    assert runtime_environment(JaxRuntime(platforms=("cpu",)), base) == {"JAX_PLATFORMS": "cpu"}


@pytest.mark.parametrize(
    ("base", "on_conflict", "flags"),
    [
        pytest.param({}, "raise", "--l=4 --m", id="nothing there"),
        pytest.param({"XLA_FLAGS": " "}, "raise", "--l=4 --m", id="a blank one there"),
        pytest.param({"XLA_FLAGS": "--k --m"}, "raise", "--k --m --l=4", id="others there"),
        pytest.param({"XLA_FLAGS": "--l=5"}, "keep", "--l=5 --m", id="the environment wins"),
        pytest.param({"XLA_FLAGS": "--l=5"}, "replace", "--l=4 --m", id="the runtime wins"),
    ],
)
def test_flags_merge_into_those_of_the_base(base, on_conflict, flags):
    runtime = JaxRuntime(xla_flags=("--l=4", "--m"))

    assert runtime_environment(runtime, base, on_conflict=on_conflict) == {"XLA_FLAGS": flags}


def test_another_value_of_a_flag_in_the_base_is_a_conflict():
    with pytest.raises(XlaFlagConflictError) as caught:
        runtime_environment(JaxRuntime(xla_flags=("--l=4",)), {"XLA_FLAGS": "--l=5"})

    assert (caught.value.flag, caught.value.existing, caught.value.requested) == ("--l", "5", "4")


def test_no_flag_is_added_behind_a_word_where_xla_stops_reading():
    base = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}

    with pytest.raises(ValueError, match="'intra_op_parallelism_threads=1' is no flag, and XLA stops reading there"):
        runtime_environment(JaxRuntime(xla_flags=("--l=4",)), base)


@pytest.mark.parametrize(
    ("runtime", "base", "message"),
    [
        pytest.param(
            JaxRuntime(memory_fraction=0.5),
            {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".9"},
            "memory_fraction is 0.5, but XLA_PYTHON_CLIENT_MEM_FRACTION is '.9' in the environment, and beside "
            "XLA_CLIENT_MEM_FRACTION it costs jax the GPU; unset it",
            id="the deprecated memory fraction",
        ),
        pytest.param(
            JaxRuntime(platforms=("cpu",)),
            {"JAX_PLATFORM_NAME": "gpu"},
            "platforms is ('cpu',), but JAX_PLATFORM_NAME is 'gpu' in the environment, which makes another platform than "
            "'cpu' the default or ends in an error; unset it",
            id="the legacy platform name",
        ),
        pytest.param(
            JaxRuntime(compilation_cache_dir="gs://b/d"),
            {"JAX_ENABLE_COMPILATION_CACHE": "False"},
            "compilation_cache_dir is 'gs://b/d', but JAX_ENABLE_COMPILATION_CACHE is 'False' in the environment, and jax leaves "
            "the directory unused; unset it",
            id="a cache that is switched off",
        ),
        pytest.param(
            JaxRuntime(xla_flags=(f"{COUNT}=4",)),
            {"JAX_NUM_CPU_DEVICES": "2"},
            f"xla_flags has {COUNT}=4, but JAX_NUM_CPU_DEVICES is '2', and jax lets that win; use cpu_devices=4 instead of the "
            "flag",
            id="another count in the environment",
        ),
        pytest.param(
            JaxRuntime(xla_flags=(f"{COUNT}=4",), cpu_devices=2),
            {},
            f"xla_flags has {COUNT}=4, but JAX_NUM_CPU_DEVICES is '2', and jax lets that win; use cpu_devices=4 instead of the "
            "flag",
            id="another count in the runtime",
        ),
    ],
)
def test_what_jax_would_ignore_or_refuse_beside_the_base_is_refused(runtime, base, message):
    with pytest.raises(RuntimeConfigurationError) as caught:
        runtime_environment(runtime, base)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("runtime", "base", "rendered"),
    [
        pytest.param(
            JaxRuntime(memory_fraction=0.5),
            {"XLA_PYTHON_CLIENT_MEM_FRACTION": ""},
            {"XLA_CLIENT_MEM_FRACTION": "0.5"},
            id="an empty deprecated fraction",
        ),
        pytest.param(
            JaxRuntime(enable_x64=True),
            {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".9"},
            {"JAX_ENABLE_X64": "true"},
            id="a deprecated fraction alone",
        ),
        pytest.param(
            JaxRuntime(platforms=("cuda", "cpu")),
            {"JAX_PLATFORM_NAME": "GPU"},
            {"JAX_PLATFORMS": "cuda,cpu"},
            id="a legacy name for the same platform",
        ),
        pytest.param(
            JaxRuntime(cpu_devices=4),
            {"XLA_FLAGS": f"{COUNT}=8"},
            {"JAX_NUM_CPU_DEVICES": "4"},
            id="a count in inherited flags, which ours beats",
        ),
        pytest.param(
            JaxRuntime(xla_flags=(f"{COUNT}=4",), cpu_devices=4),
            {},
            {"JAX_NUM_CPU_DEVICES": "4", "XLA_FLAGS": f"{COUNT}=4"},
            id="the same count twice",
        ),
        pytest.param(
            JaxRuntime(xla_flags=(f"{COUNT}=4",)),
            {"JAX_NUM_CPU_DEVICES": " 4"},
            {"XLA_FLAGS": f"{COUNT}=4"},
            id="the same count in another spelling",
        ),
        pytest.param(
            JaxRuntime(xla_flags=(f"{COUNT}=4",)),
            {"JAX_NUM_CPU_DEVICES": "-1"},
            {"XLA_FLAGS": f"{COUNT}=4"},
            id="a variable that jax takes for not set",
        ),
    ],
)
def test_what_does_no_harm_is_let_be(runtime, base, rendered):
    assert runtime_environment(runtime, base) == rendered


def test_a_kept_flag_is_the_one_that_has_to_agree_with_the_count():
    base = {"XLA_FLAGS": f"{COUNT}=8", "JAX_NUM_CPU_DEVICES": "8"}

    rendered = runtime_environment(JaxRuntime(xla_flags=(f"{COUNT}=4",)), base, on_conflict="keep")

    assert rendered == {"XLA_FLAGS": f"{COUNT}=8"}


@given(runtimes, flag_lists)
def test_the_base_is_read_and_never_changed(runtime, flags):
    base = {"XLA_FLAGS": " ".join(spelling for *_, spelling in flags)}
    read_only = MappingProxyType(base)

    rendered = runtime_environment(runtime, read_only, on_conflict="keep")

    assert parse_xla_flags(rendered.get("XLA_FLAGS", "")) == (
        {**parse_xla_flags(" ".join(runtime.xla_flags)), **{name: value for name, value, _ in flags}}
        if runtime.xla_flags
        else {}
    )


PARENT = {
    "HOME": "/h",
    "JAX_PLATFORMS": "cuda",
    "JAX_ENABLE_X64": "",
    "XLA_CLIENT_MEM_FRACTION": ".9",
    "XLA_PYTHON_CLIENT_MEM_FRACTION": ".9",
    "XLA_FLAGS": "--nope",
    "CUDA_VISIBLE_DEVICES": "2,3",
    "SLURM_LOCALID": "3",
    "LIBTPU_INIT_ARGS": "--xla_tpu_a",
}


def test_a_child_gets_no_setting_of_its_parent_but_everything_else():
    assert child_environment(JaxRuntime(platforms=("cpu",)), parent=PARENT) == {
        "HOME": "/h",
        "CUDA_VISIBLE_DEVICES": "2,3",
        "SLURM_LOCALID": "3",
        "LIBTPU_INIT_ARGS": "--xla_tpu_a",
        "JAX_PLATFORMS": "cpu",
    }


def test_a_child_gets_its_own_variables_over_its_parents_and_the_runtime_over_both():
    env = {"HOME": "/other", "XLA_FLAGS": "--a=1", "JAX_PLATFORMS": "tpu", "JAX_LOG_COMPILES": "1"}

    child = child_environment(JaxRuntime(platforms=("cpu",), xla_flags=("--b",)), env, parent={"HOME": "/h", "X": "1"})

    assert child == {
        "HOME": "/other",
        "X": "1",
        "XLA_FLAGS": "--a=1 --b",
        "JAX_PLATFORMS": "cpu",
        "JAX_LOG_COMPILES": "1",
    }


def test_a_child_starts_from_this_process_and_leaves_it_alone(monkeypatch):
    monkeypatch.setenv("SUBSTRAX_TEST", "here")
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    before = dict(os.environ)

    child = child_environment(JaxRuntime(cpu_devices=2), {"A": "1"})
    with pytest.raises(XlaFlagConflictError):
        child_environment(JaxRuntime(xla_flags=("--a=1",)), {"XLA_FLAGS": "--a=2"})

    expected = {name: value for name, value in before.items() if not name.startswith(("JAX_", "XLA_"))}
    assert child == {**expected, "A": "1", "JAX_NUM_CPU_DEVICES": "2"}
    assert dict(os.environ) == before


@given(runtimes, st.dictionaries(st.sampled_from(list(PARENT)), st.just("1")))
def test_a_childs_environment_is_text_to_text(runtime, parent):
    child = child_environment(runtime, parent=parent)

    assert all(type(name) is str and type(value) is str for name, value in child.items())
