"""The one table of settings: a row a field of `JaxRuntime`, and the only place where a JAX variable is spelled.

Adding a setting is one field and one row; checking, rendering, applying and refusing are loops over the rows.
Measured with jax 0.4.30 to 0.12.0.1; what reads a variable, and when, is said row by row.
"""

from __future__ import annotations

import os
from types import SimpleNamespace

from ._errors import MisreadError, expected
from ._xla_flags import check_flags, flag_history, merge_xla_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

__all__ = [
    "ALLOCATOR",
    "ALLOCATORS",
    "CACHE_SWITCH",
    "DEPRECATED_MEMORY_FRACTION",
    "DEVICE_COUNT_FLAG",
    "FALSE",
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
ALLOCATORS = ("default", "platform", "bfc", "cuda_async", "vmm", "address")
"""`vmm` since jaxlib 0.10.0, `address` since 0.11.0."""
CACHE_SWITCH = "JAX_ENABLE_COMPILATION_CACHE"
"""Off, it makes jax leave a cache directory unused, without a word."""
DEVICE_COUNT_FLAG = "--xla_force_host_platform_device_count"
"""The XLA flag that emulates CPU devices; `JAX_NUM_CPU_DEVICES` beats it without a word."""


# Not a dataclass: making a second one would cost as much as all the other work of importing JaxRuntime.
class Setting(SimpleNamespace):
    """One row: how one field reaches a JAX process.

    A row is data about jax and has no behaviour of its own. `check`, called with the field's name and a value, raises
    `TypeError`, `ValueError` or `XlaFlagConflictError`; `write` turns a checked value into the variable's text. `read`,
    called with the variable's name and a text, is its inverse: it gives `unset` for a text that is no value to jax, and
    raises `MisreadError` for one that jax refuses or reads in another way than it looks.
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


def _strings(field: str, value: object, example: str) -> tuple[str, ...]:
    if not isinstance(value, tuple):
        raise TypeError(expected(field, value, f"a tuple of strings such as {example}"))
    for item in value:
        if not isinstance(item, str):
            raise TypeError(f"{field} is {value!r} and holds {item!r}, expected strings, such as {example}")
    return value


def _fits_environment(text: str) -> bool:
    """Whether an environment variable can hold `text`."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return "\0" not in text


# jax compares names by case, and plugins choose theirs (METAL is one); of these no other spelling exists.
_LOWER_CASE_PLATFORMS = ("cpu", "cuda", "rocm", "tpu", "oneapi", "mps")


def _why_no_platform(name: str) -> tuple[str, str] | None:
    """What jax makes of a name that no platform has, and what would do."""
    if not name or "," in name or not _fits_environment(name) or any(character.isspace() for character in name):
        return f"{name!r} is no name of a platform, white space included", "give one name each, and commas between"
    if name.lower() == "gpu":
        return f"for {name!r} jax starts cuda and rocm, and fails over the missing one", "write 'cuda' or 'rocm'"
    if name.lower() in _LOWER_CASE_PLATFORMS and name != name.lower():
        return f"jax compares names by case and knows no {name!r}", f"write {name.lower()!r}"
    return None


def _check_platforms(field: str, value: object) -> None:
    names = _strings(field, value, '("cuda", "cpu")')
    if not names:
        raise ValueError(expected(field, value, "at least one name, or None to let jax choose"))
    for name in names:
        if fault := _why_no_platform(name):
            raise ValueError(f"{field} is {value!r}: {fault[0]}; {fault[1]}")


def _read_platforms(variable: str, text: str) -> tuple[str, ...] | None:
    if not text:
        return None
    for name in text.split(","):
        if fault := _why_no_platform(name):
            raise MisreadError(variable, text, *fault)
    return tuple(text.split(","))


_MOST_DEVICES = 2**31 - 1


def _check_count(field: str, value: object) -> None:
    expectation = "an integer of at least 1"
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(expected(field, value, expectation))
    if value < 1:
        raise ValueError(expected(field, value, expectation))
    if value > _MOST_DEVICES:
        # Not shown: Python itself refuses to write out a number of thousands of digits.
        raise ValueError(f"{field} is more than {_MOST_DEVICES}, expected an integer that XLA can hold")


def _read_count(variable: str, text: str) -> int:
    remedy = "write an integer of at least 1, or unset it"
    try:
        # As jax does: it takes ' 4', '+4' and '1_0' too.
        count = int(text)
        _check_count(variable, max(count, 1))
    except ValueError:
        raise MisreadError(variable, text, "import jax fails, since it is no integer", remedy) from None
    if count == 0:
        raise MisreadError(variable, text, "jax fails at its first operation, with words about a process_index", remedy)
    if count < 0:
        raise MisreadError(variable, text, "jax takes it for not set", remedy)
    return count


def _check_bool(field: str, value: object) -> None:
    # jax itself takes any non-empty string for true, "false" included.
    if not isinstance(value, bool):
        raise TypeError(expected(field, value, "True or False"))


_TRUE = ("y", "yes", "t", "true", "on", "1")
FALSE = ("n", "no", "f", "false", "off", "0")


def _read_x64(variable: str, text: str) -> bool:
    if text.lower() in _TRUE or text.lower() in FALSE:
        return text.lower() in _TRUE
    raise MisreadError(
        variable, text, "import jax fails, since it is no truth value", "write true or false, or unset it"
    )


def _read_preallocate(variable: str, text: str) -> bool | None:
    # Another reader than jax's own: a GPU plugin, to which only these three mean off.
    if text in ("", "false", "False", "0"):
        return False if text else None
    if text.lower() in _TRUE:
        return True
    raise MisreadError(
        variable, text, "a GPU plugin reads it as true: only false, False and 0 mean off", "write false or true"
    )


_PRECISION_SLIPS = {"tf32": "tensorfloat32", "bf16": "bfloat16", "fp32": "float32", "f32": "float32"}


def _why_no_precision(name: str) -> str:
    """Which names would do, and the one that is probably meant; empty for one that jax has."""
    # Not at the top: it needs typing, which would make importing this module half as slow again.
    from ._precision import MATMUL_PRECISIONS

    if name in MATMUL_PRECISIONS:
        return ""
    by_case = {known.lower(): known for known in MATMUL_PRECISIONS} | _PRECISION_SLIPS
    near = by_case.get(name.strip().lower())
    return f"one of {', '.join(map(repr, MATMUL_PRECISIONS))}" + (f" (did you mean {near!r}?)" if near else "")


def _check_precision(field: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(expected(field, value, _why_no_precision("")))
    if names := _why_no_precision(value):
        raise ValueError(expected(field, value, names))


def _read_precision(variable: str, text: str) -> str:
    if names := _why_no_precision(text):
        raise MisreadError(variable, text, "import jax fails, since it is no precision", f"write {names}, or unset it")
    return text


def _check_directory(field: str, value: object) -> None:
    import pathlib

    is_url = isinstance(value, str) and "://" in value
    # The pure class of this system: a Windows path is no absolute path elsewhere.
    if not (is_url or isinstance(value, type(pathlib.PurePath()))):
        raise TypeError(expected(field, value, "an absolute pathlib.Path, or a URL string such as 'gs://bucket/dir'"))
    if not _fits_environment(str(value)):
        raise ValueError(expected(field, value, "a path that an environment variable can hold"))
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


def _read_directory(variable: str, text: str) -> object:
    import pathlib

    if not text:
        return None
    if text.startswith("~"):
        remedy = "write the path in full"
        raise MisreadError(variable, text, "jax makes a directory that is named '~', which it does not expand", remedy)
    value = text if "://" in text else pathlib.Path(text)
    try:
        _check_directory(variable, value)
    except ValueError:
        effect = "jax makes a directory of that name in the current directory of each process"
        raise MisreadError(variable, text, effect, "write an absolute path, or a URL such as gs://bucket/dir") from None
    return value


_TPU_FLAGS = "--xla_tpu_"


def _check_flags(field: str, value: object) -> None:
    flags = _strings(field, value, '("--xla_dump_to=/tmp/xla",)')
    if not all(map(_fits_environment, flags)):
        raise ValueError(expected(field, value, "flags that an environment variable can hold"))
    for name in check_flags(flags, field):
        if name.startswith(_TPU_FLAGS):
            raise ValueError(f"{field} is {value!r}, where {name} ends the process; it belongs in LIBTPU_INIT_ARGS")


def _read_flags(variable: str, text: str) -> tuple[str, ...]:
    if text and not text.strip(" \t\r\n"):
        raise MisreadError(variable, text, "XLA takes it for the name of a file, and ends the process", "unset it")
    history = flag_history(text)
    for name in history:
        if name.startswith(_TPU_FLAGS):
            raise MisreadError(variable, text, f"XLA ends the process over {name}", "put it into LIBTPU_INIT_ARGS")
    return tuple(given[-1][1] for given in history.values())


def _check_fraction(field: str, value: object) -> None:
    expectation = "a number greater than 0 and at most 1"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(expected(field, value, expectation))
    if not 0 < value <= 1:
        raise ValueError(expected(field, value, expectation))


def _read_fraction(variable: str, text: str) -> float | None:
    if not text:
        return None
    remedy = "write a number greater than 0 and at most 1, such as 0.75"
    try:
        fraction = float(text)
    except ValueError:
        raise MisreadError(variable, text, "the GPU plugin fails, and jax goes on without the GPU", remedy) from None
    if not 0 < fraction <= 1:
        raise MisreadError(variable, text, "the GPU plugin takes it as it is, and cannot give that share", remedy)
    return fraction


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
        read=_read_platforms,
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
        check=_check_count,
        write=_write_int,
        read=_read_count,
        accepts="an integer of at least 1",
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
        read=_read_x64,
        accepts="true or false",
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
        read=_read_precision,
        accepts="a name of a precision",
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
        read=_read_directory,
        accepts="an absolute path or a URL",
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
        read=_read_flags,
        accepts="XLA flags, blanks between",
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
        read=_read_preallocate,
        accepts="true or false",
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
        read=_read_fraction,
        accepts="a number in (0, 1]",
        source=_GPU_MEMORY,
    ),
)
