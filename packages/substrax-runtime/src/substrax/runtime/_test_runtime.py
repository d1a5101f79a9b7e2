"""`resolve_test_runtime`: on what a test run should run, decided from its environment alone."""

from __future__ import annotations

from ._config import JaxRuntime
from ._errors import RuntimeConfigurationError, expected
from ._settings import setting
from ._values import DEVICE_COUNT_FLAG
from ._xla_flags import effective_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["resolve_test_runtime"]


def resolve_test_runtime(
    env: Mapping[str, str], *, prefix: str, cuda_plugin_available: bool, default_cpu_devices: int = 8
) -> JaxRuntime:
    """The runtime for a test process: the CPU, unless the project's own variable names an accelerator.

    Args:
        env: The environment to decide from; an inherited `JAX_PLATFORMS` never moves tests onto an accelerator.
        prefix: What the project's own variables begin with: `{prefix}JAX_PLATFORMS`, a list of platforms in which
            blanks and empty entries do not count, and `{prefix}DEVICE_COUNT`, a number of emulated CPU devices.
        cuda_plugin_available: Whether jax's CUDA plugin is installed.
        default_cpu_devices: Emulated CPU devices where nothing in `env` says how many; 0 for no emulation.

    Returns:
        For the CPU: the count of `{prefix}DEVICE_COUNT`; else `None`, which keeps a count that `env` hands to jax
        already; else the default. Count 0 gives `None`, or 1 where an inherited variable would still emulate.
        For an accelerator: no emulation; and where several pytest-xdist workers share it, no preallocation, which
        would give the first of them most of its memory.

    Raises:
        RuntimeConfigurationError: If CUDA is asked for and its plugin is not available.
        ValueError: If a count is not a non-negative integer in ASCII digits, or a platform is not one that jax can
            know, or `XLA_FLAGS` is not one that XLA would read in full.

    >>> resolve_test_runtime({"JAX_PLATFORMS": "cuda"}, prefix="DEMO_", cuda_plugin_available=True)
    JaxRuntime(platforms=('cpu',), cpu_devices=8, enable_x64=None, matmul_precision=None, \
compilation_cache_dir=None, xla_flags=(), preallocate=None, memory_fraction=None)
    """
    requested = f"{prefix}JAX_PLATFORMS"
    counted = f"{prefix}DEVICE_COUNT"
    names = (name.strip() for name in env.get(requested, "").split(","))
    platforms = tuple(name for name in names if name) or ("cpu",)
    try:
        runtime = JaxRuntime(platforms=platforms)
    except ValueError as error:
        raise ValueError(f"{requested} is {env[requested]!r}: {error}") from None
    if "cuda" in platforms and not cuda_plugin_available:
        raise RuntimeConfigurationError(
            f"{requested} is {env[requested]!r}, but jax's CUDA plugin is not installed; install jax[cuda12] or "
            f"jax[cuda13], or unset {requested} to test on the CPU"
        )
    count = _count(counted, env[counted]) if counted in env else None
    if set(platforms) != {"cpu"}:
        return JaxRuntime(platforms=platforms, preallocate=False) if _shares_the_accelerator(env) else runtime
    variable = setting("cpu_devices").variable
    named = _named_count(env)
    # jax fails over an empty variable and over 0, so that a count has to be written over them.
    unusable = env.get(variable) in ("", "0")
    if count is None and named is not None:
        return JaxRuntime(platforms=platforms, cpu_devices=named) if unusable else runtime
    devices = default_cpu_devices if count is None else count
    if devices == 0:
        return JaxRuntime(platforms=platforms, cpu_devices=1) if unusable or named not in (None, 1) else runtime
    return JaxRuntime(platforms=platforms, cpu_devices=devices)


def _count(variable: str, text: str) -> int:
    # Ten digits hold every count that XLA can.
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        raise ValueError(expected(variable, text, "a non-negative integer in ASCII digits, such as '8'"))
    return int(text)


def _named_count(env: Mapping[str, str]) -> int | None:
    """The count that `env` hands to jax already; the variable wins over the flag."""
    variable = setting("cpu_devices").variable
    if env.get(variable, "") not in ("", "0"):
        return _count(variable, env[variable])
    flag = effective_flags(env.get(setting("xla_flags").variable, "")).get(DEVICE_COUNT_FLAG)
    return None if flag is None else _count(DEVICE_COUNT_FLAG, flag)


def _shares_the_accelerator(env: Mapping[str, str]) -> bool:
    workers = env.get("PYTEST_XDIST_WORKER_COUNT", "")
    return workers.isdecimal() and int(workers) > 1 and setting("preallocate").variable not in env
