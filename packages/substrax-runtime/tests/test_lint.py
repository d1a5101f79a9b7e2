import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from substrax.runtime import Finding, lint_environment, runtime_environment

from strategies import runtimes

COUNT = "--xla_force_host_platform_device_count"


def found(environ):
    return [(finding.variable, finding.value, finding.effect, finding.remedy) for finding in lint_environment(environ)]


@pytest.mark.parametrize(
    ("environ", "findings"),
    [
        pytest.param(
            {"JAX_ENABLE_X64": ""},
            [
                (
                    "JAX_ENABLE_X64",
                    "",
                    "import jax fails, since it is no truth value",
                    "write true or false, or unset it",
                )
            ],
            id="an empty value that fails the import",
        ),
        pytest.param(
            {"XLA_PYTHON_CLIENT_PREALLOCATE": "FALSE"},
            [
                (
                    "XLA_PYTHON_CLIENT_PREALLOCATE",
                    "FALSE",
                    "a GPU plugin reads it as true: only false, False and 0 mean off",
                    "write false or true",
                )
            ],
            id="a spelling that means the opposite",
        ),
        pytest.param(
            {"XLA_CLIENT_MEM_FRACTION": ".5", "XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"},
            [
                (
                    "XLA_PYTHON_CLIENT_MEM_FRACTION",
                    ".5",
                    "beside XLA_CLIENT_MEM_FRACTION it makes the GPU plugin fail, and jax goes on without the GPU",
                    "unset it",
                )
            ],
            id="both names of the fraction",
        ),
        pytest.param(
            {"XLA_PYTHON_CLIENT_ALLOCATOR": "cuda"},
            [
                (
                    "XLA_PYTHON_CLIENT_ALLOCATOR",
                    "cuda",
                    "the GPU plugin fails, and jax goes on without the GPU",
                    "write one of default, platform, bfc, cuda_async, vmm, address, or unset it",
                )
            ],
            id="an allocator that there is not",
        ),
        pytest.param(
            {"JAX_PLATFORM_NAME": "gpu"},
            [
                (
                    "JAX_PLATFORM_NAME",
                    "gpu",
                    "a legacy name: it only picks the default among the platforms that JAX_PLATFORMS starts, or all there are",
                    "unset it, and write JAX_PLATFORMS=cuda",
                )
            ],
            id="a legacy name",
        ),
        pytest.param(
            {"XLA_FLAGS": "--a=1 --b --a=2"},
            [("XLA_FLAGS", "--a=1 --b --a=2", "XLA takes the last of 2 values for --a, '2'", "give it once")],
            id="a flag with two values",
        ),
        pytest.param(
            {"XLA_FLAGS": f"{COUNT}=8", "JAX_NUM_CPU_DEVICES": "4"},
            [("XLA_FLAGS", f"{COUNT}=8", f"JAX_NUM_CPU_DEVICES is '4' and wins over {COUNT}=8", "take the flag out")],
            id="two device counts",
        ),
        pytest.param(
            {"JAX_COMPILATION_CACHE_DIR": "/c", "JAX_ENABLE_COMPILATION_CACHE": "false"},
            [
                (
                    "JAX_ENABLE_COMPILATION_CACHE",
                    "false",
                    "JAX_COMPILATION_CACHE_DIR stays unused",
                    "unset it, or unset JAX_COMPILATION_CACHE_DIR",
                )
            ],
            id="a cache that is switched off",
        ),
        pytest.param(
            {"JAX_PLATFORMS": "cuda,cpu", "CUDA_VISIBLE_DEVICES": ""},
            [
                (
                    "CUDA_VISIBLE_DEVICES",
                    "",
                    "it hides every GPU, while JAX_PLATFORMS is 'cuda,cpu'",
                    "name the GPUs, or unset it",
                )
            ],
            id="a GPU that is hidden",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_effect_and_remedy(environ, findings):
    assert found(environ) == findings


@pytest.mark.parametrize(
    ("environ", "remedy"),
    [
        ({"JAX_PLATFORM_NAME": "cpu"}, "unset it, and write JAX_PLATFORMS=cpu"),
        ({"JAX_PLATFORM_NAME": "METAL"}, "unset it, and write JAX_PLATFORMS=METAL"),
        ({"JAX_PLATFORM_NAME": "cpu", "JAX_PLATFORMS": "cpu"}, "unset it"),
    ],
)
def test_the_legacy_name_has_the_remedy_that_fits(environ, remedy):
    assert [finding[3] for finding in found(environ)] == [remedy]


def test_a_count_that_jax_takes_for_not_set_wins_over_no_flag():
    [finding] = lint_environment({"JAX_NUM_CPU_DEVICES": "-1", "XLA_FLAGS": f"{COUNT}=4"})

    assert finding.variable == "JAX_NUM_CPU_DEVICES"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("JAX_PLATFORM", "JAX_PLATFORMS"),
        ("JAX_ENABLE_X46", "JAX_ENABLE_X64"),
        ("XLA_FLAG", "XLA_FLAGS"),
        ("JAX_CPU_DEVICES", "JAX_NUM_CPU_DEVICES"),
        ("JAX_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR"),
        ("JAX_MATMUL_PRECISION", "JAX_DEFAULT_MATMUL_PRECISION"),
        ("XLA_PYTHON_CLIENT_MEMORY_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION"),
        ("JAX_DEBUG_NAN", "JAX_DEBUG_NANS"),
        ("jax_enable_x64", "JAX_ENABLE_X64"),
    ],
)
def test_a_name_that_no_jax_reads_is_reported_with_the_one_that_is_near(name, meant):
    assert found({name: "1"}) == [(name, "1", "no jax reads that name", f"did you mean {meant}?")]


CASES = [
    ("JAX_PLATFORMS", "gpu"),
    ("JAX_PLATFORMS", "CPU"),
    ("JAX_PLATFORMS", "tpu, cpu"),
    ("JAX_NUM_CPU_DEVICES", "0"),
    ("JAX_NUM_CPU_DEVICES", "-1"),
    ("JAX_NUM_CPU_DEVICES", "4.0"),
    ("JAX_DEFAULT_MATMUL_PRECISION", ""),
    ("JAX_DEFAULT_MATMUL_PRECISION", "tf32"),
    ("JAX_COMPILATION_CACHE_DIR", "~/c"),
    ("JAX_COMPILATION_CACHE_DIR", "c"),
    ("XLA_FLAGS", " "),
    ("XLA_FLAGS", "'--xla_force_host_platform_device_count=3'"),
    ("XLA_FLAGS", "${XLA_FLAGS} --a=1"),
    ("XLA_FLAGS", "\u2013xla_force_host_platform_device_count=4"),
    ("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"),
    ("XLA_FLAGS", "--xla_tpu_enable_async_collective_fusion=true"),
    ("XLA_FLAGS", "--a='x y"),
    ("XLA_CLIENT_MEM_FRACTION", "50%"),
    ("XLA_CLIENT_MEM_FRACTION", "100"),
    ("XLA_PYTHON_CLIENT_MEM_FRACTION", "50%"),
    ("XLA_PYTHON_CLIENT_ALLOCATOR", ""),
    ("XLA_PYTHON_CLIENT_ABORT_COLLECTIVES_ON_FAILURE", "true"),
    ("XLA_FLAGS", "--xla_dump_to=${HOME}/x"),
    ("XLA_FLAGS", f"{COUNT}=0"),
    ("XLA_FLAGS", f"{COUNT}=two"),
    ("JAX_NUM_CPU_DEVICES", "3000000000"),
    ("JAX_DEBUG_NANS", ""),
    ("JAX_DEBUG_NANS", "maybe"),
    ("JAX_ENABLE_COMPILATION_CACHE", ""),
    ("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", ""),
]


@pytest.mark.parametrize(("variable", "value"), CASES)
def test_each_case_of_the_record_is_one_finding(variable, value):
    assert [(name, text) for name, text, _, _ in found({variable: value})] == [(variable, value)]


BASE = {"PATH": "/usr/bin", "HOME": "/home/me", "LANG": "C.UTF-8"}
IN_ORDER = {
    "nothing of jax's": {},
    "a workstation on the CPU": {"JAX_PLATFORMS": "cpu"},
    "a workstation with a GPU": {"JAX_PLATFORMS": "cuda", "CUDA_VISIBLE_DEVICES": "0"},
    "a GPU with the CPU behind": {"JAX_PLATFORMS": "cuda,cpu", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
    "an empty platform": {"JAX_PLATFORMS": ""},
    "a TPU VM": {"JAX_PLATFORMS": "tpu,cpu", "LIBTPU_INIT_ARGS": "--xla_tpu_a=1", "TPU_NAME": "local"},
    "a Mac": {"JAX_PLATFORMS": "METAL"},
    "a Mac with mps": {"JAX_PLATFORMS": "mps"},
    "emulated devices": {"JAX_NUM_CPU_DEVICES": "8"},
    "emulated devices by a flag": {"XLA_FLAGS": f"{COUNT}=8"},
    "both, alike": {"XLA_FLAGS": f"{COUNT}=8", "JAX_NUM_CPU_DEVICES": "8"},
    "x64 as shells write it": {"JAX_ENABLE_X64": "1"},
    "x64 as Python writes it": {"JAX_ENABLE_X64": "True"},
    "Colab": {"COLAB_GPU": "1", "TF_FORCE_GPU_ALLOW_GROWTH": "true", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
    "the fraction's old name": {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".8", "XLA_PYTHON_CLIENT_ALLOCATOR": "platform"},
    "the fraction's old name, empty": {"XLA_CLIENT_MEM_FRACTION": ".8", "XLA_PYTHON_CLIENT_MEM_FRACTION": ""},
    "SLURM": {
        "SLURM_JOB_ID": "1",
        "SLURM_LOCALID": "3",
        "CUDA_VISIBLE_DEVICES": "2,3",
        "JAX_COORDINATOR_ADDRESS": "n1:1234",
    },
    "Kubernetes": {
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "JAX_COORDINATOR_ADDRESS": "jax-0:6666",
        "JAX_NUM_PROCESSES": "4",
        "JAX_PROCESS_ID": "0",
    },
    "conda": {"CONDA_PREFIX": "/c", "CONDA_DEFAULT_ENV": "jax", "XLA_FLAGS": "--xla_gpu_cuda_data_dir=/c/lib"},
    "a CI image": {"CI": "true", "GITHUB_ACTIONS": "true", "JAX_PLATFORMS": "cpu", "JAX_NUM_GENERATED_CASES": "1"},
    "NVIDIA's image": {
        "JAX_TOOLBOX_REF": "abc",
        "XLA_FLAGS": "--xla_gpu_enable_latency_hiding_scheduler=true --xla_gpu_enable_command_buffer=''",
        "NVIDIA_VISIBLE_DEVICES": "all",
    },
    "a cache that fills": {
        "JAX_COMPILATION_CACHE_DIR": "/var/cache/jax",
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_ENABLE_COMPILATION_CACHE": "true",
    },
    "a cache in a bucket": {"JAX_COMPILATION_CACHE_DIR": "gs://bucket/dir"},
    "debugging": {
        "JAX_DEBUG_NANS": "1",
        "JAX_LOG_COMPILES": "1",
        "JAX_TRACEBACK_FILTERING": "off",
        "JAX_DISABLE_JIT": "0",
    },
    "a dump with a blank in its path": {"XLA_FLAGS": "--xla_dump_to='/tmp/two words' --xla_dump_hlo_as_text"},
    "names of people's own": {
        "JAX_HOME": "/j",
        "JAX_VERSION": "1",
        "JAX_PORT": "1",
        "XLA_DIR": "/x",
        "JAX_TEST_SEED": "1",
    },
    "a count in other spellings": {"XLA_FLAGS": f"{COUNT}=+4", "JAX_NUM_CPU_DEVICES": " 4"},
    "a regular expression": {"XLA_FLAGS": "--xla_dump_hlo_module_re=jit_step$"},
    "an empty text of jax's": {"JAX_DUMP_IR_TO": ""},
    "a flag given twice alike": {"XLA_FLAGS": "--a=1 --b --a='1'"},
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_an_environment_that_is_in_order_has_no_finding(name):
    assert lint_environment(BASE | IN_ORDER[name]) == ()


@given(runtimes)
def test_what_we_render_has_no_finding(runtime):
    # A dollar sign may be meant; it is reported, since it seldom is.
    assume(not any("$" in flag for flag in runtime.xla_flags))

    assert lint_environment(runtime_environment(runtime, {})) == ()


@given(st.dictionaries(st.from_regex(r"(JAX|XLA)_[A-Z_]{0,10}", fullmatch=True), st.text(max_size=5), max_size=3))
def test_any_environment_can_be_linted(environ):
    assert all(isinstance(finding, Finding) and finding.variable in environ for finding in lint_environment(environ))


def test_a_finding_is_one_line():
    [finding] = lint_environment({"JAX_PLATFORM": "a\nb"})

    assert str(finding) == "JAX_PLATFORM is 'a\\nb': no jax reads that name; did you mean JAX_PLATFORMS?"
