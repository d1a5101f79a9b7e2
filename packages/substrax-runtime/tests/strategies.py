"""Hypothesis strategies for what the library takes."""

import string
from pathlib import PurePosixPath

from hypothesis import strategies as st

from substrax.runtime import JaxRuntime
from substrax.runtime._precision import MATMUL_PRECISIONS

_NAME = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=12).filter(lambda n: n[0] != "-")
# What an environment variable can hold, as Python decodes it: anything but NUL and lone surrogates.
_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)

_URL = st.from_regex(r"(gs|s3)://[a-z]{1,5}(/[a-z]{1,5})?", fullmatch=True)


def spellings(value: str) -> st.SearchStrategy[str]:
    """Ways to spell `value` behind the `=` of a flag, by XLA's grammar."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    ways = [f'"{escaped}"']
    if "'" not in value:
        ways.append(f"'{value}'")
    if not value.startswith(("'", '"')) and not any(blank in value for blank in " \t\r\n"):
        ways.append(value)
    return st.sampled_from(ways)


@st.composite
def flags(draw: st.DrawFn, names: st.SearchStrategy[str] = _NAME) -> tuple[str, str | None, str]:
    """Name, value and spelling of one flag."""
    name = f"--{draw(names)}"
    value = draw(st.none() | _TEXT)
    return (name, None, name) if value is None else (name, value, f"{name}={draw(spellings(value))}")


flag_lists = st.lists(flags(), max_size=6, unique_by=lambda flag: flag[0])

runtimes = st.builds(
    JaxRuntime,
    platforms=st.none() | st.lists(st.sampled_from(["cpu", "cuda", "tpu", "rocm", "METAL"]), min_size=1).map(tuple),
    cpu_devices=st.none() | st.integers(1, 4096),
    enable_x64=st.none() | st.booleans(),
    matmul_precision=st.none() | st.sampled_from(MATMUL_PRECISIONS),
    compilation_cache_dir=st.none() | _TEXT.map(lambda text: PurePosixPath(f"/{text}")) | _URL,
    # Some of them twice.
    xla_flags=flag_lists.map(lambda found: tuple(spelling for _, _, spelling in [*found, *found[:2]])),
    preallocate=st.none() | st.booleans(),
    memory_fraction=st.none() | st.floats(0, 1, exclude_min=True),
)
