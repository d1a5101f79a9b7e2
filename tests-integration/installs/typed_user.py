"""What a user writes, for the type checkers: exact types through the lazy package, and misuse that they catch."""

from pathlib import Path
from typing import assert_type

import substrax.runtime
import substrax.runtime.managed_env
from substrax.runtime import JaxRuntime, MatmulPrecision, XlaFlagConflictError, merge_xla_flags, parse_xla_flags

precision: MatmulPrecision = "highest"
runtime = JaxRuntime(platforms=("cpu",), matmul_precision=precision, compilation_cache_dir=Path("/cache"))
assert_type(runtime.cpu_devices, int | None)
assert_type(parse_xla_flags("--a"), dict[str, str | None])
assert_type(merge_xla_flags("", ["--a"], on_conflict="keep"), str)
assert_type(substrax.runtime.runtime_environment(runtime, {}), dict[str, str])
assert_type(XlaFlagConflictError("--a", None, "1").requested, str | None)
assert_type(substrax.runtime.managed_env.main(["--help"]), int)

JaxRuntime(matmul_precision="tf32")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
JaxRuntime(("cpu",))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
substrax.runtime.JaxRuntimes  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue] # noqa: B018
runtime.cpu_devices = 8  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
