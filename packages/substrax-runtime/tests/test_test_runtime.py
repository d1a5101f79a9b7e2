import pytest

from substrax.runtime import JaxRuntime, RuntimeConfigurationError, resolve_test_runtime

FLAG = "--xla_force_host_platform_device_count"


def resolve(env, *, plugin=False, **options):
    return resolve_test_runtime(env, prefix="P_", cuda_plugin_available=plugin, **options)


def cpu(devices):
    return JaxRuntime(platforms=("cpu",), cpu_devices=devices)


@pytest.mark.parametrize(
    ("env", "runtime"),
    [
        pytest.param({}, cpu(8), id="nothing said"),
        pytest.param({"JAX_PLATFORMS": "cuda"}, cpu(8), id="an inherited platform moves nothing"),
        pytest.param({"P_JAX_PLATFORMS": ""}, cpu(8), id="an empty platform is not set"),
        pytest.param({"P_JAX_PLATFORMS": " , ,"}, cpu(8), id="blank entries are dropped"),
        pytest.param({"P_JAX_PLATFORMS": " cpu "}, cpu(8), id="spaces are dropped"),
        pytest.param({"P_DEVICE_COUNT": "4"}, cpu(4), id="a count"),
        pytest.param({"P_DEVICE_COUNT": "4", "JAX_NUM_CPU_DEVICES": "2"}, cpu(4), id="a count over an inherited one"),
        pytest.param({"JAX_NUM_CPU_DEVICES": "2"}, cpu(None), id="an inherited variable is kept"),
        pytest.param({"XLA_FLAGS": f"--a {FLAG}=2"}, cpu(None), id="an inherited flag is kept"),
        pytest.param({"XLA_FLAGS": f"{FLAG}=2 {FLAG}=3"}, cpu(None), id="an inherited flag, given twice"),
        pytest.param({"JAX_NUM_CPU_DEVICES": ""}, cpu(8), id="an empty inherited variable, which jax would refuse"),
        pytest.param({"JAX_NUM_CPU_DEVICES": "0"}, cpu(8), id="an inherited 0, which jax would refuse"),
        pytest.param(
            {"JAX_NUM_CPU_DEVICES": "", "XLA_FLAGS": f"{FLAG}=4"}, cpu(4), id="a flag behind an empty variable"
        ),
        pytest.param(
            {"JAX_NUM_CPU_DEVICES": "", "P_DEVICE_COUNT": "0"}, cpu(1), id="no emulation over an empty variable"
        ),
        pytest.param({"P_DEVICE_COUNT": "0"}, cpu(None), id="no emulation"),
        pytest.param({"P_DEVICE_COUNT": "0", "JAX_NUM_CPU_DEVICES": "2"}, cpu(1), id="no emulation over a variable"),
        pytest.param({"P_DEVICE_COUNT": "0", "XLA_FLAGS": f"{FLAG}=2"}, cpu(1), id="no emulation over a flag"),
        pytest.param({"P_DEVICE_COUNT": "0", "JAX_NUM_CPU_DEVICES": "1"}, cpu(None), id="no emulation, as inherited"),
        pytest.param({"P_JAX_PLATFORMS": "rocm"}, JaxRuntime(platforms=("rocm",)), id="an accelerator"),
        pytest.param(
            {"P_JAX_PLATFORMS": "rocm, cpu", "P_DEVICE_COUNT": "4", "JAX_NUM_CPU_DEVICES": "2"},
            JaxRuntime(platforms=("rocm", "cpu")),
            id="an accelerator is used without emulation",
        ),
        pytest.param(
            {"P_JAX_PLATFORMS": "rocm", "PYTEST_XDIST_WORKER_COUNT": "4"},
            JaxRuntime(platforms=("rocm",), preallocate=False),
            id="workers share an accelerator",
        ),
        pytest.param(
            {"P_JAX_PLATFORMS": "rocm", "PYTEST_XDIST_WORKER_COUNT": "4", "XLA_PYTHON_CLIENT_PREALLOCATE": "true"},
            JaxRuntime(platforms=("rocm",)),
            id="workers share an accelerator as the user wants it",
        ),
        pytest.param({"PYTEST_XDIST_WORKER_COUNT": "4"}, cpu(8), id="workers on the CPU"),
    ],
)
def test_where_tests_run(env, runtime):
    assert resolve(env) == runtime


def test_cuda_is_used_where_its_plugin_is():
    assert resolve({"P_JAX_PLATFORMS": "cuda"}, plugin=True) == JaxRuntime(platforms=("cuda",))


def test_the_default_count_is_the_callers():
    assert resolve({}, default_cpu_devices=3) == cpu(3)
    assert resolve({}, default_cpu_devices=0) == cpu(None)


@pytest.mark.parametrize("asked", ["cuda", "cuda,cpu", " cpu, cuda"])
def test_cuda_without_its_plugin_is_refused(asked):
    with pytest.raises(RuntimeConfigurationError) as caught:
        resolve({"P_JAX_PLATFORMS": asked})

    assert str(caught.value) == (
        f"P_JAX_PLATFORMS is {asked!r}, but jax's CUDA plugin is not installed; install jax[cuda12] or jax[cuda13], or "
        "unset P_JAX_PLATFORMS to test on the CPU"
    )


DIGITS = "expected a non-negative integer in ASCII digits, such as '8'"


@pytest.mark.parametrize("text", ["", "-1", "+4", " 4", "4.0", "0x4", "1_0", "eight", "9" * 5000, "\u0664", "\u00b2"])
@pytest.mark.parametrize("platform", ["cpu", "rocm"])
def test_a_count_that_is_no_integer_is_refused(text, platform):
    with pytest.raises(ValueError) as caught:
        resolve({"P_DEVICE_COUNT": text, "P_JAX_PLATFORMS": platform})

    assert str(caught.value) == f"P_DEVICE_COUNT is {text!r}, {DIGITS}"


@pytest.mark.parametrize(
    ("env", "message"),
    [
        pytest.param(
            {"JAX_NUM_CPU_DEVICES": "-1"}, f"JAX_NUM_CPU_DEVICES is '-1', {DIGITS}", id="an inherited variable"
        ),
        pytest.param({"XLA_FLAGS": f"{FLAG}=two"}, f"{FLAG} is 'two', {DIGITS}", id="an inherited flag"),
        pytest.param(
            {"P_JAX_PLATFORMS": "CPU"},
            "P_JAX_PLATFORMS is 'CPU': platforms is ('CPU',): jax compares names by case and knows no 'CPU'; write 'cpu'",
            id="a platform in capitals",
        ),
    ],
)
def test_an_inherited_value_that_jax_cannot_use_is_named(env, message):
    with pytest.raises(ValueError) as caught:
        resolve(env)

    assert str(caught.value) == message
