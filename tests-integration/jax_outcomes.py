"""What a real jax makes of each setting, by each way to apply it; each is tried once in a test run.

Run as a program it writes the rows of the jax that it runs with into the compatibility table of the docs.
"""

from __future__ import annotations

import functools
import json
import re
import sys
import tempfile
from pathlib import Path

from substrax.runtime import JaxRuntime, child_environment
from substrax.runtime._settings import SETTINGS

from programs import BARE, ROOT, run

TABLE = ROOT / "docs" / "reference" / "compatibility.md"

# What jax and the option reader of its GPU plugins run with; one line of JSON.
OBSERVE = """
import json, os, jax
from jaxlib import xla_client
def fills(directory):
    # Every compilation is kept, whichever directory it goes to.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.jit(lambda x: x - 1)(1.0)
    return os.path.isdir(directory) and os.listdir(directory) != []
def observe():
    options = xla_client.generate_pjrt_gpu_plugin_options()
    # Both kept alive: without them the memory that `debug` shows is somebody else's.
    compile_options = xla_client.CompileOptions()
    build = compile_options.executable_build_options
    debug = build.debug_options
    return {
        "platforms": [device.platform for device in jax.devices()][:1],
        "cpu_devices": jax.device_count(),
        "enable_x64": str(jax.numpy.arange(1.0).dtype) == "float64",
        "matmul_precision": jax.config.jax_default_matmul_precision,
        "lowered": "HIGHEST" in jax.jit(lambda a: a @ a).lower(jax.numpy.ones((2, 2))).as_text(),
        "compilation_cache_dir": fills(os.environ["CACHE"]),
        "xla_flags": debug.xla_cpu_enable_fast_math,
        "preallocate": options.get("preallocate"),
        "memory_fraction": options.get("memory_fraction"),
    }
print(json.dumps(observe()))
"""
UNTOUCHED = {
    "platforms": ["cpu"],
    "cpu_devices": 1,
    "enable_x64": False,
    "matmul_precision": None,
    "lowered": False,
    "compilation_cache_dir": False,
    "xla_flags": False,
    "preallocate": None,
    "memory_fraction": None,
}
# A value of each field, and what is other than untouched when it is in effect.
CASES = {
    "platforms": (("cpu",), {"platforms": ["cpu"]}),
    "cpu_devices": (5, {"cpu_devices": 5}),
    "enable_x64": (True, {"enable_x64": True}),
    "matmul_precision": ("highest", {"matmul_precision": "highest", "lowered": True}),
    # Each time another directory, which has to fill.
    "compilation_cache_dir": (Path("/"), {"compilation_cache_dir": True}),
    "xla_flags": (("--xla_cpu_enable_fast_math",), {"xla_flags": True}),
    "preallocate": (False, {"preallocate": False}),
    "memory_fraction": (0.25, {"memory_fraction": 0.25}),
}
# A platform that there is not: only a jax that reads what is applied over it starts at all.
ELSEWHERE = {"platforms": {"JAX_PLATFORMS": "nowhere"}}
PARENT = BARE | {"JAX_PLATFORMS": "nowhere", "JAX_ENABLE_X64": "", "XLA_FLAGS": "--nope", "JAX_NUM_CPU_DEVICES": "3"}

APPLY = """
from pathlib import PosixPath
from substrax.runtime import JaxRuntime, RuntimeConfigurationError, apply_runtime
try:
    apply_runtime(JaxRuntime({field}={value!r}))
except RuntimeConfigurationError as error:
    assert "{field}" in str(error), error
    print("refused")
"""
WAYS = {
    "A child's environment": "",
    "`apply_runtime` before import": APPLY,
    "`apply_runtime` after import": f"import jax{APPLY}",
    "`apply_runtime` after the first operation": f"import jax; jax.random.key(0){APPLY}",
}


@functools.cache
def outcome(field: str, way: str) -> str:
    """`in effect`; `refused`, with nothing changed; or `ignored`, which no cell of the table may say."""
    value, expected = CASES[field]
    with tempfile.TemporaryDirectory() as cache:
        if field == "compilation_cache_dir":
            value = Path(cache)
        code = WAYS[way].format(field=field, value=value) + OBSERVE
        if way == "A child's environment":
            env = child_environment(JaxRuntime(**{field: value}), {"CACHE": cache}, parent=PARENT)
        else:
            env = BARE | {"CACHE": cache} | (ELSEWHERE.get(field, {}) if "before" in way else {})
        exit_code, output, errors = run([sys.executable, "-c", code], env=env)
    assert exit_code == 0, errors
    *said, observed = output.splitlines()
    if said == ["refused"]:
        return "refused" if json.loads(observed) == UNTOUCHED else "half applied"
    return "in effect" if json.loads(observed) == UNTOUCHED | expected else "ignored"


def expected_outcome(field: str, way: str) -> str:
    """What the contract says."""
    [row] = [row for row in SETTINGS if row.field == field]
    if "after" in way and row.option is None:
        return "refused"
    return "refused" if way.endswith("first operation") and field == "cpu_devices" else "in effect"


def table_row(version: str, way: str) -> str:
    """The line of one jax in the table of one way."""
    return f"| {version} | {' | '.join(outcome(row.field, way) for row in SETTINGS)} |"


def main() -> None:
    """Put this jax's line into each table, in the order of the versions."""
    import jax

    text = TABLE.read_text(encoding="utf-8")
    introduction = text.partition("\n## ")[0].rstrip()
    columns = [f"`{row.field}`" for row in SETTINGS]
    head = [f"| jax | {' | '.join(columns)} |", f"|{'---|' * (len(columns) + 1)}"]
    sections = []
    for way in WAYS:
        old = text.partition(f"## {way}\n")[2].partition("\n## ")[0]
        lines = {line.split()[1]: line for line in re.findall(r"^\| \d.*$", old, re.MULTILINE)}
        lines[jax.__version__] = table_row(jax.__version__, way)
        ordered = sorted(lines, key=lambda version: [int(part) for part in version.split(".")])
        sections.append("\n".join([f"## {way}", "", *head, *(lines[version] for version in ordered)]))
    TABLE.write_text("\n\n".join([introduction, *sections]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
