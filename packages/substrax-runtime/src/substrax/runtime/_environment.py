"""Environments, as values: what a runtime renders to, and what a child process gets. Nothing here touches a process."""

from __future__ import annotations

import os

from ._config import declared
from ._errors import RuntimeConfigurationError
from ._settings import DEPRECATED_MEMORY_FRACTION, DEVICE_COUNT_FLAG, PLATFORM_NAME, setting
from ._xla_flags import effective_flags, merge_xla_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from ._config import JaxRuntime

__all__ = ["child_environment", "runtime_environment"]

_READ_BY_JAX = ("JAX_", "XLA_")


def runtime_environment(
    runtime: JaxRuntime, base: Mapping[str, str], *, on_conflict: Literal["raise", "keep", "replace"] = "raise"
) -> dict[str, str]:
    """The variables that apply `runtime` to a process that has not imported jax.

    Args:
        runtime: What to apply.
        base: The environment that the variables will be added to; read, never changed.
        on_conflict: What to do with an XLA flag that `base` has with a different value: see `merge_xla_flags`.

    Returns:
        Only the variables that `runtime` sets, in the order of the fields. Each replaces what `base` holds, but for
        `XLA_FLAGS`, which holds the flags of `base` too.

    Raises:
        XlaFlagConflictError: If an XLA flag has a different value in `base` and `on_conflict` is `"raise"`.
        RuntimeConfigurationError: If something in `base` would make jax refuse or ignore a setting:
            `XLA_PYTHON_CLIENT_MEM_FRACTION` beside `memory_fraction`, a `JAX_PLATFORM_NAME` that makes another
            platform than the first of `platforms` the default, or two numbers of emulated CPU devices.
        ValueError: If `base` has an `XLA_FLAGS` that XLA would not read in full.

    Source:
        https://docs.jax.dev/en/latest/config_options.html, and runs of jax 0.5.3 to 0.12.0.1.

    >>> from substrax.runtime import JaxRuntime
    >>> runtime_environment(JaxRuntime(platforms=("cpu",), cpu_devices=8), {})
    {'JAX_PLATFORMS': 'cpu', 'JAX_NUM_CPU_DEVICES': '8'}
    """
    rendered = {row.variable: row.write(value) for row, value in declared(runtime)}
    if runtime.xla_flags:
        variable = setting("xla_flags").variable
        rendered[variable] = merge_xla_flags(base.get(variable, ""), runtime.xla_flags, on_conflict=on_conflict)
    _refuse_two_fractions(runtime, base)
    _refuse_another_default(runtime, base)
    _refuse_two_counts(runtime, {**base, **rendered})
    return rendered


def child_environment(
    runtime: JaxRuntime, env: Mapping[str, str] | None = None, *, parent: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The whole environment of a child process that is to run as `runtime` says.

    Args:
        runtime: What the child's jax is to run with.
        env: Variables of the child's own, which come before those of `parent`.
        parent: The environment to start from; this process's when `None`. Its `JAX_*` and `XLA_*` variables do
            not reach the child; `CUDA_VISIBLE_DEVICES`, `SLURM_*` and everything else do.

    Returns:
        The environment for `subprocess.run(..., env=...)`. `os.environ` is not touched.

    Raises:
        XlaFlagConflictError: If an XLA flag has a different value in `env`.
        RuntimeConfigurationError: If something in `env` would make jax refuse or ignore a setting.
        ValueError: If `env` has an `XLA_FLAGS` that XLA would not read in full.

    >>> from substrax.runtime import JaxRuntime
    >>> child_environment(JaxRuntime(enable_x64=True), parent={"HOME": "/home/me", "JAX_PLATFORMS": "cuda"})
    {'HOME': '/home/me', 'JAX_ENABLE_X64': 'true'}
    """
    inherited = os.environ if parent is None else parent
    base = {name: value for name, value in inherited.items() if not name.startswith(_READ_BY_JAX)}
    base.update(env or {})
    return {**base, **runtime_environment(runtime, base)}


def _refuse_two_fractions(runtime: JaxRuntime, base: Mapping[str, str]) -> None:
    deprecated = base.get(DEPRECATED_MEMORY_FRACTION, "")
    # An empty one is no value to jax.
    if runtime.memory_fraction is not None and deprecated:
        raise RuntimeConfigurationError(
            f"memory_fraction is {runtime.memory_fraction!r}, but {DEPRECATED_MEMORY_FRACTION} is {deprecated!r} in the "
            f"environment, and beside {setting('memory_fraction').variable} it costs jax the GPU; unset it"
        )


def _refuse_another_default(runtime: JaxRuntime, base: Mapping[str, str]) -> None:
    preferred = base.get(PLATFORM_NAME, "")
    if runtime.platforms is None or not preferred:
        return
    first = runtime.platforms[0]
    if preferred.lower() != first.lower() and not (preferred.lower() == "gpu" and first in ("cuda", "rocm")):
        raise RuntimeConfigurationError(
            f"platforms is {runtime.platforms!r}, but {PLATFORM_NAME} is {preferred!r} in the environment, which makes "
            f"another platform than {first!r} the default or ends in an error; unset it"
        )


def _refuse_two_counts(runtime: JaxRuntime, environment: Mapping[str, str]) -> None:
    flag = effective_flags(" ".join(runtime.xla_flags)).get(DEVICE_COUNT_FLAG)
    variable = setting("cpu_devices").variable
    count = environment.get(variable)
    if flag is not None and count is not None and flag != count:
        raise RuntimeConfigurationError(
            f"xla_flags has {DEVICE_COUNT_FLAG}={flag}, but {variable} is {count!r}, and jax lets that win; "
            f"use cpu_devices={flag} instead of the flag"
        )
