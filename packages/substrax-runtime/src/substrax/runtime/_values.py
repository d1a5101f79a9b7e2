"""The values of settings: how each kind is checked when it is declared, written as text, and read as jax reads it.

A `check_` is called with a field's name and a value, and raises `TypeError`, `ValueError` or `XlaFlagConflictError`. A
`write_` turns a checked value into text. A `read_` is its inverse, called with a variable's name and a text: it gives
the field's default for a text that is no value to jax, and raises `MisreadError` for one that jax refuses, or reads in
another way than it looks. Measured with jax 0.4.30 to 0.12.0.1.
"""

from __future__ import annotations

from ._errors import MisreadError, expected
from ._xla_flags import check_flags, fits_environment, flag_history, merge_xla_flags

__all__ = [
    "DEVICE_COUNT_FLAG",
    "FALSE",
    "TRUE",
    "check_bool",
    "check_count",
    "check_directory",
    "check_fraction",
    "check_platforms",
    "check_precision",
    "check_xla_flags",
    "flag_count",
    "read_count",
    "read_directory",
    "read_fraction",
    "read_platforms",
    "read_preallocate",
    "read_precision",
    "read_x64",
    "read_xla_flags",
    "write_bool",
    "write_int",
    "write_number",
    "write_xla_flags",
]


def _strings(field: str, value: object, example: str) -> tuple[str, ...]:
    if not isinstance(value, tuple):
        raise TypeError(expected(field, value, f"a tuple of strings such as {example}"))
    for item in value:
        if not isinstance(item, str):
            raise TypeError(f"{field} is {value!r} and holds {item!r}, expected strings, such as {example}")
    return value


# jax compares names by case, and plugins choose theirs (METAL is one); of these no other spelling exists.
_LOWER_CASE_PLATFORMS = ("cpu", "cuda", "rocm", "tpu", "oneapi", "mps")


def _why_no_platform(name: str) -> tuple[str, str] | None:
    """What jax makes of a name that no platform has, and what would do."""
    if not name or "," in name or not fits_environment(name) or any(character.isspace() for character in name):
        return f"{name!r} is no name of a platform, white space included", "give one name each, and commas between"
    if name.lower() == "gpu":
        return f"for {name!r} jax starts cuda and rocm, and fails over the missing one", "write 'cuda' or 'rocm'"
    if name.lower() in _LOWER_CASE_PLATFORMS and name != name.lower():
        return f"jax compares names by case and knows no {name!r}", f"write {name.lower()!r}"
    return None


def check_platforms(field: str, value: object) -> None:
    names = _strings(field, value, '("cuda", "cpu")')
    if not names:
        raise ValueError(expected(field, value, "at least one name, or None to let jax choose"))
    for name in names:
        if fault := _why_no_platform(name):
            raise ValueError(f"{field} is {value!r}: {fault[0]}; {fault[1]}")


def read_platforms(variable: str, text: str) -> tuple[str, ...] | None:
    if not text:
        return None
    for name in text.split(","):
        if fault := _why_no_platform(name):
            raise MisreadError(variable, text, *fault)
    return tuple(text.split(","))


_MOST_DEVICES = 2**31 - 1


def check_count(field: str, value: object) -> None:
    expectation = "an integer of at least 1"
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(expected(field, value, expectation))
    if value < 1:
        raise ValueError(expected(field, value, expectation))
    if value > _MOST_DEVICES:
        # Not shown: Python itself refuses to write out a number of thousands of digits.
        raise ValueError(f"{field} is more than {_MOST_DEVICES}, expected an integer that XLA can hold")


def read_count(variable: str, text: str) -> int:
    remedy = "write an integer of at least 1, or unset it"
    try:
        # As jax does: it takes ' 4', '+4' and '1_0' too.
        count = int(text)
    except ValueError:
        raise MisreadError(variable, text, "import jax fails, since it is no integer", remedy) from None
    if count == 0:
        raise MisreadError(variable, text, "jax fails at its first operation, with words about a process_index", remedy)
    if count < 0:
        raise MisreadError(variable, text, "jax takes it for not set", remedy)
    if count > _MOST_DEVICES:
        raise MisreadError(variable, text, "jax fails at its first operation, since XLA cannot hold it", remedy)
    return count


def check_bool(field: str, value: object) -> None:
    # jax itself takes any non-empty string for true, "false" included.
    if not isinstance(value, bool):
        raise TypeError(expected(field, value, "True or False"))


TRUE = ("y", "yes", "t", "true", "on", "1")
FALSE = ("n", "no", "f", "false", "off", "0")


def read_x64(variable: str, text: str) -> bool:
    if text.lower() in TRUE or text.lower() in FALSE:
        return text.lower() in TRUE
    raise MisreadError(
        variable, text, "import jax fails, since it is no truth value", "write true or false, or unset it"
    )


def read_preallocate(variable: str, text: str) -> bool | None:
    # Another reader than jax's own: a GPU plugin, to which only these three mean off.
    if text in ("", "false", "False", "0"):
        return False if text else None
    if text.lower() in TRUE:
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


def check_precision(field: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(expected(field, value, _why_no_precision("")))
    if names := _why_no_precision(value):
        raise ValueError(expected(field, value, names))


def read_precision(variable: str, text: str) -> str:
    if names := _why_no_precision(text):
        raise MisreadError(variable, text, "import jax fails, since it is no precision", f"write {names}, or unset it")
    return text


def check_directory(field: str, value: object) -> None:
    import pathlib

    is_url = isinstance(value, str) and "://" in value
    # The pure class of this system: a Windows path is no absolute path elsewhere.
    if not (is_url or isinstance(value, type(pathlib.PurePath()))):
        raise TypeError(expected(field, value, "an absolute pathlib.Path, or a URL string such as 'gs://bucket/dir'"))
    if not fits_environment(str(value)):
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


def read_directory(variable: str, text: str) -> object:
    import pathlib

    if not text:
        return None
    if text.startswith("~"):
        remedy = "write the path in full"
        raise MisreadError(variable, text, "jax makes a directory that is named '~', which it does not expand", remedy)
    value = text if "://" in text else pathlib.Path(text)
    try:
        check_directory(variable, value)
    except ValueError:
        relative = "jax makes a directory of that name in the current directory of each process"
        effect = "it is no URL that jax could use" if "://" in text and not text.startswith("file:") else relative
        raise MisreadError(variable, text, effect, "write an absolute path, or a URL such as gs://bucket/dir") from None
    return value


DEVICE_COUNT_FLAG = "--xla_force_host_platform_device_count"
"""The XLA flag that emulates CPU devices; `JAX_NUM_CPU_DEVICES` beats it without a word."""


def _why_no_use(name: str, value: str | None) -> tuple[str, str] | None:
    """What becomes of a flag that is well written, but of no use in `XLA_FLAGS`, and what would do."""
    if name.startswith("--xla_tpu_"):
        return f"XLA ends the process over {name}", "put it into LIBTPU_INIT_ARGS"
    if name == DEVICE_COUNT_FLAG and flag_count(value) is None:
        return f"jax cannot start with {value!r} for {name}", "write an integer of at least 1"
    return None


def flag_count(value: str | None) -> int | None:
    """The number of devices that XLA makes of the value of `DEVICE_COUNT_FLAG`, if it makes any."""
    digits = (value or "").removeprefix("+")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= 10 and int(digits) > 0 else None


def check_xla_flags(field: str, value: object) -> None:
    for name, flag_value in check_flags(_strings(field, value, '("--xla_dump_to=/tmp/xla",)'), field).items():
        if fault := _why_no_use(name, flag_value):
            raise ValueError(f"{field} is {value!r}: {fault[0]}; {fault[1]}")


def read_xla_flags(variable: str, text: str) -> tuple[str, ...]:
    if text and not text.strip(" \t\r\n"):
        raise MisreadError(variable, text, "XLA takes it for the name of a file, and ends the process", "unset it")
    history = flag_history(text)
    for name, given in history.items():
        if fault := _why_no_use(name, given[-1][0]):
            raise MisreadError(variable, text, *fault)
    return tuple(given[-1][1] for given in history.values())


def check_fraction(field: str, value: object) -> None:
    expectation = "a number greater than 0 and at most 1"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(expected(field, value, expectation))
    if not 0 < value <= 1:
        raise ValueError(expected(field, value, expectation))


def read_fraction(variable: str, text: str) -> float | None:
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


def write_bool(value: bool) -> str:
    # The one spelling of each that jax and its GPU plugins read alike: to the plugins 'FALSE' and 'no' mean true.
    return "true" if value else "false"


def write_number(value: float) -> str:
    # float() first: numpy 2 writes the repr of its own floats as 'np.float64(0.5)'.
    return repr(float(value))


def write_int(value: int) -> str:
    # int() first: an enumeration's own text would be its name.
    return str(int(value))


def write_xla_flags(value: tuple[str, ...]) -> str:
    return merge_xla_flags("", value)
