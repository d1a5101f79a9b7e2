"""`runtime_from_environment`: the inverse of `runtime_environment`, and strict where jax is not."""

from pathlib import Path

import pytest
from hypothesis import given

from substrax.runtime import JaxRuntime, RuntimeConfigurationError, runtime_environment, runtime_from_environment

from strategies import runtimes


@given(runtimes)
def test_reading_back_is_the_inverse_of_rendering(runtime):
    assert runtime_from_environment(runtime_environment(runtime, {})) == runtime


@pytest.mark.parametrize(
    ("environ", "fields"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param({"HOME": "/h", "JAX_LOG_COMPILES": "1", "CUDA_VISIBLE_DEVICES": ""}, {}, id="nothing of ours"),
        pytest.param(
            {
                "JAX_PLATFORMS": "",
                "JAX_COMPILATION_CACHE_DIR": "",
                "XLA_FLAGS": "",
                "XLA_PYTHON_CLIENT_PREALLOCATE": "",
                "XLA_CLIENT_MEM_FRACTION": "",
            },
            {},
            id="empty where that is no value",
        ),
        pytest.param({"JAX_PLATFORMS": "tpu,cpu"}, {"platforms": ("tpu", "cpu")}, id="platforms"),
        *(
            pytest.param({"JAX_NUM_CPU_DEVICES": text}, {"cpu_devices": 4}, id=f"count {text!r}")
            for text in ["4", " 4", "+4"]
        ),
        *(
            pytest.param({"JAX_ENABLE_X64": text}, {"enable_x64": True}, id=f"x64 {text!r}")
            for text in ["1", "TRUE", "yes", "T"]
        ),
        *(
            pytest.param({"JAX_ENABLE_X64": text}, {"enable_x64": False}, id=f"x64 {text!r}")
            for text in ["0", "False", "off"]
        ),
        pytest.param({"JAX_COMPILATION_CACHE_DIR": "/c"}, {"compilation_cache_dir": Path("/c")}, id="a directory"),
        pytest.param({"JAX_COMPILATION_CACHE_DIR": "gs://b/d"}, {"compilation_cache_dir": "gs://b/d"}, id="a URL"),
        pytest.param(
            {"XLA_FLAGS": " --a='x y'\t--b --a=2"}, {"xla_flags": ("--a=2", "--b")}, id="the last of two flags"
        ),
        *(
            pytest.param({"XLA_PYTHON_CLIENT_PREALLOCATE": text}, {"preallocate": False}, id=f"preallocate {text!r}")
            for text in ["false", "False", "0"]
        ),
        *(
            pytest.param({"XLA_PYTHON_CLIENT_PREALLOCATE": text}, {"preallocate": True}, id=f"preallocate {text!r}")
            for text in ["true", "True", "1", "TRUE", "yes", "on"]
        ),
        pytest.param({"XLA_CLIENT_MEM_FRACTION": ".5"}, {"memory_fraction": 0.5}, id="a fraction"),
        pytest.param(
            {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"}, {"memory_fraction": 0.5}, id="the deprecated fraction alone"
        ),
        pytest.param(
            {"XLA_CLIENT_MEM_FRACTION": ".5", "XLA_PYTHON_CLIENT_MEM_FRACTION": ""},
            {"memory_fraction": 0.5},
            id="a fraction beside an empty deprecated one",
        ),
    ],
)
def test_values_are_read_as_jax_reads_them(environ, fields):
    assert runtime_from_environment(environ) == JaxRuntime(**fields)


COUNT = "write an integer of at least 1, or unset it"
TRUTH = "import jax fails, since it is no truth value; write true or false, or unset it"
SHARE = "write a number greater than 0 and at most 1, such as 0.75"
NO_GPU = f"the GPU plugin fails, and jax goes on without the GPU; {SHARE}"
DIRECTORY = (
    "jax makes a directory of that name in the current directory of each process; write an absolute path, or a URL such as "
    "gs://bucket/dir"
)


@pytest.mark.parametrize(
    ("variable", "text", "problem"),
    [
        *(("JAX_ENABLE_X64", text, TRUTH) for text in ["", " true", "2", "maybe"]),
        *(
            ("JAX_NUM_CPU_DEVICES", text, f"import jax fails, since it is no integer; {COUNT}")
            for text in ["", "abc", "4.0", "0x4"]
        ),
        ("JAX_NUM_CPU_DEVICES", "0", f"jax fails at its first operation, with words about a process_index; {COUNT}"),
        ("JAX_NUM_CPU_DEVICES", "-1", f"jax takes it for not set; {COUNT}"),
        (
            "JAX_PLATFORMS",
            "cuda, cpu",
            "' cpu' is no name of a platform, white space included; give one name each, and commas between",
        ),
        (
            "JAX_PLATFORMS",
            "cpu,",
            "'' is no name of a platform, white space included; give one name each, and commas between",
        ),
        ("JAX_PLATFORMS", "CPU", "jax compares names by case and knows no 'CPU'; write 'cpu'"),
        (
            "JAX_PLATFORMS",
            "gpu",
            "for 'gpu' jax starts cuda and rocm, and fails over the missing one; write 'cuda' or 'rocm'",
        ),
        (
            "JAX_COMPILATION_CACHE_DIR",
            "~/c",
            "jax makes a directory that is named '~', which it does not expand; write the path in full",
        ),
        ("JAX_COMPILATION_CACHE_DIR", "c", DIRECTORY),
        ("JAX_COMPILATION_CACHE_DIR", "file:///c", DIRECTORY),
        (
            "JAX_COMPILATION_CACHE_DIR",
            "gs://",
            "it is no URL that jax could use; write an absolute path, or a URL such as gs://bucket/dir",
        ),
        ("JAX_NUM_CPU_DEVICES", "3000000000", f"jax fails at its first operation, since XLA cannot hold it; {COUNT}"),
        (
            "XLA_FLAGS",
            "--xla_force_host_platform_device_count=0",
            "jax cannot start with '0' for --xla_force_host_platform_device_count; write an integer of at least 1",
        ),
        ("XLA_FLAGS", " ", "XLA takes it for the name of a file, and ends the process; unset it"),
        (
            "XLA_FLAGS",
            "--a junk --b",
            "'junk' is no flag, and XLA stops reading there and drops every flag after it; write it as --name or "
            "--name=value, or leave it out",
        ),
        ("XLA_FLAGS", "--xla_tpu_a=1", "XLA ends the process over --xla_tpu_a; put it into LIBTPU_INIT_ARGS"),
        *(
            (
                "XLA_PYTHON_CLIENT_PREALLOCATE",
                text,
                "a GPU plugin reads it as true: only false, False and 0 mean off; write false or true",
            )
            for text in ["FALSE", "no", "off", " false", "f", "None"]
        ),
        *(("XLA_CLIENT_MEM_FRACTION", text, NO_GPU) for text in ["50%", "abc"]),
        *(
            ("XLA_CLIENT_MEM_FRACTION", text, f"the GPU plugin takes it as it is, and cannot give that share; {SHARE}")
            for text in ["100", "0", "-1", "nan", "inf"]
        ),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", "50%", NO_GPU),
    ],
)
def test_what_jax_refuses_or_misreads_is_refused(variable, text, problem):
    with pytest.raises(RuntimeConfigurationError) as caught:
        runtime_from_environment({variable: text})

    assert str(caught.value) == f"{variable} is {text!r}: {problem}"


@pytest.mark.parametrize("text", ["", "HIGHEST", "tf32"])
def test_a_precision_that_jax_does_not_have_is_refused(text):
    with pytest.raises(RuntimeConfigurationError) as caught:
        runtime_from_environment({"JAX_DEFAULT_MATMUL_PRECISION": text})

    assert str(caught.value).startswith(
        f"JAX_DEFAULT_MATMUL_PRECISION is {text!r}: import jax fails, since it is no precision; write one of 'default', 'high'"
    )


def test_both_fractions_are_refused():
    with pytest.raises(RuntimeConfigurationError) as caught:
        runtime_from_environment({"XLA_CLIENT_MEM_FRACTION": ".5", "XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"})

    assert str(caught.value) == (
        "XLA_CLIENT_MEM_FRACTION is '.5' and XLA_PYTHON_CLIENT_MEM_FRACTION is '.5': the GPU plugin fails over the two "
        "together, and jax goes on without the GPU; unset the latter"
    )


def test_all_faults_are_named_together():
    with pytest.raises(RuntimeConfigurationError) as caught:
        runtime_from_environment({"JAX_ENABLE_X64": "", "JAX_NUM_CPU_DEVICES": "x"})

    assert str(caught.value) == (
        f"JAX_NUM_CPU_DEVICES is 'x': import jax fails, since it is no integer; {COUNT}; JAX_ENABLE_X64 is '': {TRUTH}"
    )


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        (
            {"JAX_PLATFORMS": "cuda,cpu", "JAX_PLATFORM_NAME": "cpu"},
            "which makes another platform than 'cuda' the default",
        ),
        ({"JAX_COMPILATION_CACHE_DIR": "/x", "JAX_ENABLE_COMPILATION_CACHE": "0"}, "jax leaves the directory unused"),
    ],
)
def test_what_another_variable_would_have_jax_ignore_is_refused(environ, words):
    with pytest.raises(RuntimeConfigurationError, match=words):
        runtime_from_environment(environ)


def test_two_counts_are_refused():
    environ = {"JAX_NUM_CPU_DEVICES": "2", "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}

    with pytest.raises(RuntimeConfigurationError, match="and jax lets that win"):
        runtime_from_environment(environ)
