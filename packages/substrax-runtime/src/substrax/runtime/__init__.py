"""Declare how a process starts JAX, and have it in effect or refused with the reason.

The public names are loaded at their first use, so that importing this package costs nothing and loads no jax.
"""

import substrax as _namespace

__version__ = "0.1.0"

if getattr(_namespace, "__file__", None) is not None:
    # `substrax` is a namespace of ours and has no file; a regular package of that name hides or mixes with it.
    raise ImportError(
        f"substrax.runtime of the distribution 'substrax-runtime' cannot work beside the unrelated distribution "
        f"'substrax' at {_namespace.__file__}; remove both and install ours again: "
        "python -m pip uninstall substrax substrax-runtime; python -m pip install substrax-runtime"
    )

_HOMES = {
    "Finding": "_lint",
    "JaxRuntime": "_config",
    "MatmulPrecision": "_precision",
    "RuntimeConfigurationError": "_errors",
    "RuntimeReport": "_report",
    "XlaFlagConflictError": "_errors",
    "apply_runtime": "_apply",
    "check_xla_flags": "_observe",
    "child_environment": "_environment",
    "configure_entry_point_logging": "_logging",
    "lint_environment": "_lint",
    "merge_xla_flags": "_xla_flags",
    "observe_runtime": "_observe",
    "parse_xla_flags": "_xla_flags",
    "probe_runtime": "_observe",
    "resolve_test_runtime": "_test_runtime",
    "runtime_environment": "_environment",
    "runtime_from_environment": "_environment",
    "verify_runtime": "_observe",
}

__all__ = [
    "Finding",
    "JaxRuntime",
    "MatmulPrecision",
    "RuntimeConfigurationError",
    "RuntimeReport",
    "XlaFlagConflictError",
    "apply_runtime",
    "check_xla_flags",
    "child_environment",
    "configure_entry_point_logging",
    "lint_environment",
    "merge_xla_flags",
    "observe_runtime",
    "parse_xla_flags",
    "probe_runtime",
    "resolve_test_runtime",
    "runtime_environment",
    "runtime_from_environment",
    "verify_runtime",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._apply import apply_runtime
    from ._config import JaxRuntime
    from ._environment import child_environment, runtime_environment, runtime_from_environment
    from ._errors import RuntimeConfigurationError, XlaFlagConflictError
    from ._lint import Finding, lint_environment
    from ._logging import configure_entry_point_logging
    from ._observe import check_xla_flags, observe_runtime, probe_runtime, verify_runtime
    from ._precision import MatmulPrecision
    from ._report import RuntimeReport
    from ._test_runtime import resolve_test_runtime
    from ._xla_flags import merge_xla_flags, parse_xla_flags
else:
    # Not visible to type checkers: with a module __getattr__ they take any misspelt name for an object.
    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
