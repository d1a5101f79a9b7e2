"""The one table of settings: a row a field of `JaxRuntime`, and the only place where a JAX variable is spelled.

Adding a setting is one field and one row; checking, rendering, applying and refusing are loops over the rows.
Measured with jax 0.4.30 to 0.12.0.1; what reads a variable, and when, is said row by row.
"""

from __future__ import annotations

import os
from types import SimpleNamespace

from ._values import (
    check_bool,
    check_count,
    check_directory,
    check_fraction,
    check_platforms,
    check_precision,
    check_xla_flags,
    read_count,
    read_directory,
    read_fraction,
    read_platforms,
    read_preallocate,
    read_precision,
    read_x64,
    read_xla_flags,
    write_bool,
    write_int,
    write_number,
    write_xla_flags,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

__all__ = [
    "ABORT_SWITCH",
    "ALLOCATOR",
    "ALLOCATORS",
    "CACHE_SWITCH",
    "DEPRECATED_MEMORY_FRACTION",
    "PLATFORM_NAME",
    "SETTINGS",
    "Setting",
    "release",
    "setting",
]

DEPRECATED_MEMORY_FRACTION = "XLA_PYTHON_CLIENT_MEM_FRACTION"
"""jax reads it still, and loses the GPU when it stands beside its successor."""
PLATFORM_NAME = "JAX_PLATFORM_NAME"
"""Which started platform is the default; read after `JAX_PLATFORMS`, and lower-cased."""
ALLOCATOR = "XLA_PYTHON_CLIENT_ALLOCATOR"
"""Read by GPU plugins, lower-cased; any other value than `ALLOCATORS` costs jax the GPU, the empty one too."""
ALLOCATORS = {
    "default": "0.4.30",
    "platform": "0.4.30",
    "bfc": "0.4.30",
    "cuda_async": "0.4.30",
    "vmm": "0.10.0",
    "address": "0.11.0",
}
"""Names to the first jax that knows each."""
ABORT_SWITCH = "XLA_PYTHON_CLIENT_ABORT_COLLECTIVES_ON_FAILURE"
"""A number to GPU plugins; with a word they fail."""
CACHE_SWITCH = "JAX_ENABLE_COMPILATION_CACHE"
"""Off, it makes jax leave a cache directory unused, without a word."""


# Not a dataclass: making a second one would cost as much as all the other work of importing JaxRuntime.
class Setting(SimpleNamespace):
    """One row: how one field reaches a JAX process.

    A row is data about jax and has no behaviour of its own; `check`, `write` and `read` are as `_values` says.
    """

    field: str
    """Field of `JaxRuntime`."""
    variable: str
    """Environment variable that carries it."""
    option: str | None
    """Option of `jax.config` that still works after import; `None`: too late once jax is imported."""
    read_by: Literal["jax._src.config", "jax._src.xla_bridge", "backend start"]
    """The module of jax that reads the variable while it is imported, or the start of the backends."""
    since: str
    """First jax that reads the variable; `0.4.30` is the oldest that was measured."""
    check: Callable[[str, object], None]
    write: Callable[[Any], str]
    read: Callable[[str, str], object]
    accepts: str
    """What the variable may hold, in words."""
    source: str
    """Where the behaviour is documented, or the upstream file."""
    option_since: str = "0.4.30"
    """First jax that has the option."""
    late_refused_since: str = "0.4.30"
    """First jax that refuses a value which comes too late for it; an older one takes it, and ignores it."""
    unset: object = None
    """The field's default, which leaves the process's present value alone."""


def setting(field: str) -> Setting:
    """The row of one field."""
    return next(row for row in SETTINGS if row.field == field)


def release(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with: `(0, 5, 3)` for `0.5.3.dev1`."""
    numbers = []
    for part in version.split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    return tuple(numbers)


_CONFIG_OPTIONS = "https://docs.jax.dev/en/latest/config_options.html"
_GPU_MEMORY = "https://docs.jax.dev/en/latest/gpu_memory_allocation.html"

SETTINGS: tuple[Setting, ...] = (
    Setting(
        field="platforms",
        variable="JAX_PLATFORMS",
        option=None,
        read_by="jax._src.config",
        since="0.4.30",
        check=check_platforms,
        write=",".join,
        read=read_platforms,
        accepts="names of platforms, commas between",
        source=_CONFIG_OPTIONS,
    ),
    Setting(
        field="cpu_devices",
        variable="JAX_NUM_CPU_DEVICES",
        option="jax_num_cpu_devices",
        read_by="jax._src.xla_bridge",
        since="0.5.1",
        option_since="0.5.0",
        late_refused_since="0.5.3",
        check=check_count,
        write=write_int,
        read=read_count,
        accepts="an integer of at least 1",
        source=_CONFIG_OPTIONS,
    ),
    Setting(
        field="enable_x64",
        variable="JAX_ENABLE_X64",
        option="jax_enable_x64",
        read_by="jax._src.config",
        since="0.4.30",
        check=check_bool,
        write=write_bool,
        read=read_x64,
        accepts="true or false",
        source=_CONFIG_OPTIONS,
    ),
    Setting(
        field="matmul_precision",
        variable="JAX_DEFAULT_MATMUL_PRECISION",
        option="jax_default_matmul_precision",
        read_by="jax._src.config",
        since="0.4.30",
        check=check_precision,
        write=str.__str__,
        read=read_precision,
        accepts="a name of a precision",
        source=_CONFIG_OPTIONS,
    ),
    Setting(
        field="compilation_cache_dir",
        variable="JAX_COMPILATION_CACHE_DIR",
        option="jax_compilation_cache_dir",
        read_by="jax._src.config",
        since="0.4.30",
        check=check_directory,
        write=os.fspath,
        read=read_directory,
        accepts="an absolute path or a URL",
        source="https://docs.jax.dev/en/latest/persistent_compilation_cache.html",
    ),
    Setting(
        field="xla_flags",
        variable="XLA_FLAGS",
        option=None,
        read_by="backend start",
        since="0.4.30",
        check=check_xla_flags,
        write=write_xla_flags,
        unset=(),
        read=read_xla_flags,
        accepts="XLA flags, blanks between",
        source="https://docs.jax.dev/en/latest/xla_flags.html",
    ),
    Setting(
        field="preallocate",
        variable="XLA_PYTHON_CLIENT_PREALLOCATE",
        option=None,
        read_by="backend start",
        since="0.4.30",
        check=check_bool,
        write=write_bool,
        read=read_preallocate,
        accepts="true or false",
        source=_GPU_MEMORY,
    ),
    Setting(
        field="memory_fraction",
        variable="XLA_CLIENT_MEM_FRACTION",
        option=None,
        read_by="backend start",
        since="0.4.33",
        check=check_fraction,
        write=write_number,
        read=read_fraction,
        accepts="a number in (0, 1]",
        source=_GPU_MEMORY,
    ),
)
