"""Environments, as values: what a runtime renders to and is read back from, and what a child process gets."""

from __future__ import annotations

import os

from ._config import JaxRuntime, declared
from ._errors import MisreadError, RuntimeConfigurationError
from ._settings import (
    CACHE_SWITCH,
    DEPRECATED_MEMORY_FRACTION,
    PLATFORM_NAME,
    SETTINGS,
    setting,
)
from ._values import DEVICE_COUNT_FLAG, FALSE, flag_count
from ._xla_flags import effective_flags, merge_xla_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

__all__ = ["child_environment", "runtime_environment", "runtime_from_environment"]

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
            platform than the first of `platforms` the default, a `JAX_ENABLE_COMPILATION_CACHE` that leaves
            `compilation_cache_dir` unused, or two numbers of emulated CPU devices.
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
    _refuse_a_cache_that_is_off(runtime, base)
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


def runtime_from_environment(environ: Mapping[str, str]) -> JaxRuntime:
    """The runtime that a process with `environ` would start with: the inverse of `runtime_environment`.

    Args:
        environ: The environment to read. The deprecated `XLA_PYTHON_CLIENT_MEM_FRACTION` counts where it is alone, and
            of two values for one XLA flag the last, as it does to XLA.

    Returns:
        A runtime whose fields hold what the variables say; a field whose variable is not set, or empty where that is no
        value to jax, is not set.

    Raises:
        RuntimeConfigurationError: If jax would refuse a value, or read it in another way than it looks, every such
            variable being named; or if another variable would have jax ignore one, as for `runtime_environment`.

    Source:
        https://docs.jax.dev/en/latest/config_options.html, and runs of jax 0.5.3 to 0.12.0.1.

    >>> runtime_from_environment({"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "on"}).enable_x64
    True
    """
    fields: dict[str, Any] = {}
    faults = []
    fraction = setting("memory_fraction")
    deprecated, current = environ.get(DEPRECATED_MEMORY_FRACTION, ""), environ.get(fraction.variable, "")
    for row in SETTINGS:
        variable = DEPRECATED_MEMORY_FRACTION if row is fraction and deprecated and not current else row.variable
        if variable in environ:
            try:
                fields[row.field] = row.read(variable, environ[variable])
            except MisreadError as fault:
                faults.append(str(fault))
    if deprecated and current:
        faults.append(
            f"{fraction.variable} is {current!r} and {DEPRECATED_MEMORY_FRACTION} is {deprecated!r}: the GPU plugin fails over "
            "the two together, and jax goes on without the GPU; unset the latter"
        )
    if faults:
        raise RuntimeConfigurationError("; ".join(faults))
    runtime = JaxRuntime(**fields)
    _refuse_another_default(runtime, environ)
    _refuse_a_cache_that_is_off(runtime, environ)
    _refuse_two_counts(runtime, environ)
    return runtime


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


def _refuse_a_cache_that_is_off(runtime: JaxRuntime, base: Mapping[str, str]) -> None:
    switch = base.get(CACHE_SWITCH, "")
    if runtime.compilation_cache_dir is not None and switch.lower() in FALSE:
        raise RuntimeConfigurationError(
            f"compilation_cache_dir is {runtime.compilation_cache_dir!r}, but {CACHE_SWITCH} is {switch!r} in the "
            "environment, and jax leaves the directory unused; unset it"
        )


def _refuse_two_counts(runtime: JaxRuntime, environment: Mapping[str, str]) -> None:
    row = setting("cpu_devices")
    if DEVICE_COUNT_FLAG not in effective_flags(" ".join(runtime.xla_flags)) or row.variable not in environment:
        return
    flag = effective_flags(environment[setting("xla_flags").variable])[DEVICE_COUNT_FLAG]
    try:
        count = row.read(row.variable, environment[row.variable])
    except MisreadError:
        # jax fails over it, or takes it for not set: it wins over no flag.
        return
    if flag_count(flag) != count:
        raise RuntimeConfigurationError(
            f"xla_flags has {DEVICE_COUNT_FLAG}={flag}, but {row.variable} is {environment[row.variable]!r}, and jax lets that "
            f"win; use cpu_devices={flag} instead of the flag"
        )
