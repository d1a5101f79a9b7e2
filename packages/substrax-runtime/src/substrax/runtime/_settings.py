"""The one table of settings: a row a field of `JaxRuntime`, and the only place where a JAX variable is spelled.

Adding a setting is one field and one row; checking, rendering, applying and refusing are loops over the rows.
Measured with jax 0.4.30 to 0.12.0.1; what reads a variable, and when, is said row by row.
"""

from __future__ import annotations

import os
from types import SimpleNamespace

from ._errors import expected
from ._xla_flags import check_flags, merge_xla_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

__all__ = [
    "DEPRECATED_MEMORY_FRACTION",
    "DEVICE_COUNT_FLAG",
    "PLATFORM_NAME",
    "SETTINGS",
    "Setting",
    "setting",
]

DEPRECATED_MEMORY_FRACTION = "XLA_PYTHON_CLIENT_MEM_FRACTION"
"""jax reads it still, and loses the GPU when it stands beside its successor."""
PLATFORM_NAME = "JAX_PLATFORM_NAME"
"""Which started platform is the default; read after `JAX_PLATFORMS`, and lower-cased."""
DEVICE_COUNT_FLAG = "--xla_force_host_platform_device_count"
"""The XLA flag that emulates CPU devices; `JAX_NUM_CPU_DEVICES` beats it without a word."""


# Not a dataclass: making a second one would cost as much as all the other work of importing JaxRuntime.
class Setting(SimpleNamespace):
    """One row: how one field reaches a JAX process.

    A row is data about jax and has no behaviour of its own. `check`, called with the field's name and a value, raises
    `TypeError`, `ValueError` or `XlaFlagConflictError`; `write` turns a checked value into the variable's text.
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


def _strings(field: str, value: object, example: str) -> tuple[str, ...]:
    if not isinstance(value, tuple):
        raise TypeError(expected(field, value, f"a tuple of strings such as {example}"))
    for item in value:
        if not isinstance(item, str):
            raise TypeError(f"{field} is {value!r} and holds {item!r}, expected strings, such as {example}")
    return value


# jax compares names by case, and plugins choose theirs (METAL is one); of these no other spelling exists.
_LOWER_CASE_PLATFORMS = ("cpu", "cuda", "rocm", "tpu", "oneapi", "mps")


def _check_platforms(field: str, value: object) -> None:
    names = _strings(field, value, '("cuda", "cpu")')
    if not names:
        raise ValueError(expected(field, value, "at least one name, or None to let jax choose"))
    for name in names:
        holds = f"{field} is {value!r} and holds {name!r}"
        if not name or "," in name or "\0" in name or any(character.isspace() for character in name):
            raise ValueError(f"{holds}, expected one platform's name, without comma or white space")
        if name.lower() == "gpu":
            raise ValueError(
                f"{holds}, for which jax starts cuda and rocm and fails over the missing one; write 'cuda' or 'rocm'"
            )
        if name.lower() in _LOWER_CASE_PLATFORMS and name != name.lower():
            raise ValueError(f"{holds}, which jax does not know; write {name.lower()!r}")


def _check_count(field: str, value: object) -> None:
    expectation = "an integer of at least 1"
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(expected(field, value, expectation))
    if value < 1:
        raise ValueError(expected(field, value, expectation))


def _check_bool(field: str, value: object) -> None:
    # jax itself takes any non-empty string for true, "false" included.
    if not isinstance(value, bool):
        raise TypeError(expected(field, value, "True or False"))


_PRECISION_SLIPS = {"tf32": "tensorfloat32", "bf16": "bfloat16", "fp32": "float32", "f32": "float32"}


def _check_precision(field: str, value: object) -> None:
    # Not at the top: it needs typing, which would make importing this module half as slow again.
    from ._precision import MATMUL_PRECISIONS

    expectation = f"one of {', '.join(map(repr, MATMUL_PRECISIONS))}"
    if not isinstance(value, str):
        raise TypeError(expected(field, value, expectation))
    if value not in MATMUL_PRECISIONS:
        by_case = {name.lower(): name for name in MATMUL_PRECISIONS} | _PRECISION_SLIPS
        near = by_case.get(value.strip().lower())
        raise ValueError(expected(field, value, expectation) + (f" (did you mean {near!r}?)" if near else ""))


def _check_directory(field: str, value: object) -> None:
    import pathlib

    is_url = isinstance(value, str) and "://" in value
    if not (is_url or isinstance(value, pathlib.PurePath)):
        raise TypeError(expected(field, value, "an absolute pathlib.Path, or a URL string such as 'gs://bucket/dir'"))
    if "\0" in str(value):
        raise ValueError(expected(field, value, "a path without a NUL character"))
    if isinstance(value, str):
        scheme, _, rest = value.partition("://")
        if not (scheme[:1].isalpha() and scheme.isascii() and scheme.isalnum() and rest.strip("/")):
            raise ValueError(expected(field, value, "a URL such as 'gs://bucket/dir'"))
        if scheme.lower() == "file":
            raise ValueError(
                expected(field, value, f"Path('/{rest.lstrip('/')}'): jax would make a directory named 'file:'")
            )
    elif isinstance(value, pathlib.PurePath) and not value.is_absolute():
        first = str(value)
        if first.startswith("~"):
            raise ValueError(
                expected(field, value, "an absolute path: jax does not expand '~', Path.expanduser() does")
            )
        if first.partition("/")[0].endswith(":"):
            raise ValueError(expected(field, value, "an absolute path: Path mangles a URL, so give that as a str"))
        raise ValueError(expected(field, value, "an absolute path, such as Path.absolute() gives"))


def _check_flags(field: str, value: object) -> None:
    for name in check_flags(_strings(field, value, '("--xla_dump_to=/tmp/xla",)'), field):
        if name.startswith("--xla_tpu_"):
            raise ValueError(f"{field} is {value!r}, where {name} ends the process; it belongs in LIBTPU_INIT_ARGS")


def _check_fraction(field: str, value: object) -> None:
    expectation = "a number greater than 0 and at most 1"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(expected(field, value, expectation))
    if not 0 < value <= 1:
        raise ValueError(expected(field, value, expectation))


def _write_bool(value: bool) -> str:
    # The one spelling of each that jax and its GPU plugins read alike: to the plugins 'FALSE' and 'no' mean true.
    return "true" if value else "false"


def _write_number(value: float) -> str:
    # float() first: numpy 2 writes the repr of its own floats as 'np.float64(0.5)'.
    return repr(float(value))


def _write_int(value: int) -> str:
    # int() first: an enumeration's own text would be its name.
    return str(int(value))


def _write_flags(value: tuple[str, ...]) -> str:
    return merge_xla_flags("", value)


_CONFIG_OPTIONS = "https://docs.jax.dev/en/latest/config_options.html"
_GPU_MEMORY = "https://docs.jax.dev/en/latest/gpu_memory_allocation.html"

SETTINGS: tuple[Setting, ...] = (
    Setting(
        field="platforms",
        variable="JAX_PLATFORMS",
        option=None,
        read_by="jax._src.config",
        since="0.4.30",
        check=_check_platforms,
        write=",".join,
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
        check=_check_count,
        write=_write_int,
        source=_CONFIG_OPTIONS,
    ),
    Setting(
        field="enable_x64",
        variable="JAX_ENABLE_X64",
        option="jax_enable_x64",
        read_by="jax._src.config",
        since="0.4.30",
        check=_check_bool,
        write=_write_bool,
        source=_CONFIG_OPTIONS,
    ),
    Setting(
        field="matmul_precision",
        variable="JAX_DEFAULT_MATMUL_PRECISION",
        option="jax_default_matmul_precision",
        read_by="jax._src.config",
        since="0.4.30",
        check=_check_precision,
        write=str.__str__,
        source=_CONFIG_OPTIONS,
    ),
    Setting(
        field="compilation_cache_dir",
        variable="JAX_COMPILATION_CACHE_DIR",
        option="jax_compilation_cache_dir",
        read_by="jax._src.config",
        since="0.4.30",
        check=_check_directory,
        write=os.fspath,
        source="https://docs.jax.dev/en/latest/persistent_compilation_cache.html",
    ),
    Setting(
        field="xla_flags",
        variable="XLA_FLAGS",
        option=None,
        read_by="backend start",
        since="0.4.30",
        check=_check_flags,
        write=_write_flags,
        unset=(),
        source="https://docs.jax.dev/en/latest/xla_flags.html",
    ),
    Setting(
        field="preallocate",
        variable="XLA_PYTHON_CLIENT_PREALLOCATE",
        option=None,
        read_by="backend start",
        since="0.4.30",
        check=_check_bool,
        write=_write_bool,
        source=_GPU_MEMORY,
    ),
    Setting(
        field="memory_fraction",
        variable="XLA_CLIENT_MEM_FRACTION",
        option=None,
        read_by="backend start",
        since="0.4.33",
        check=_check_fraction,
        write=_write_number,
        source=_GPU_MEMORY,
    ),
)
