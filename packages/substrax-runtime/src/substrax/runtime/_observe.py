"""Asking a real jax what it runs with: the one of this process, or a child's that tries it first."""

from __future__ import annotations

import json
import os
import sys

from . import _observe_jax
from ._compare import Observation, refuse_what_is_not_in_effect
from ._config import declared
from ._environment import child_environment
from ._errors import RuntimeConfigurationError
from ._report import RuntimeReport
from ._settings import setting
from ._xla_flags import parse_xla_flags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._config import JaxRuntime

__all__ = ["check_xla_flags", "observe_runtime", "probe_runtime", "verify_runtime"]


def observe_runtime() -> RuntimeReport:
    """What is in effect in this process; starts jax's backends if they have not started.

    Returns:
        The report of this process's jax.

    Raises:
        RuntimeConfigurationError: If jax cannot start its backends, with its own error as `__cause__`.
        ModuleNotFoundError: If jax is not installed.

    Source:
        https://docs.jax.dev/en/latest/jax.extend.backend.html; run with jax 0.5.3 to 0.12.0.1.
    """
    return _observed_here().report


def verify_runtime(runtime: JaxRuntime) -> RuntimeReport:
    """Compare what is in effect in this process with what was declared; starts jax's backends if they have not started.

    A program that must not fall back to the CPU calls it after its first operation.

    Args:
        runtime: What was declared.

    Returns:
        The report of this process's jax, in which everything declared is in effect: all of `platforms` have started and
        the first is the one that jax runs on, `cpu_devices` is the number of this process's CPU devices, and so on.

    Raises:
        RuntimeConfigurationError: If a field is not in effect; every such field is named, with the value declared, the
            one in effect and the likely reason. Also if jax cannot start its backends, with its own words.
        ModuleNotFoundError: If jax is not installed.

    Source:
        https://docs.jax.dev/en/latest/jax.extend.backend.html; run with jax 0.5.3 to 0.12.0.1.
    """
    observation = _observed_here(runtime)
    refuse_what_is_not_in_effect(runtime, observation, os.environ)
    return observation.report


def probe_runtime(
    runtime: JaxRuntime,
    env: Mapping[str, str] | None = None,
    *,
    parent: Mapping[str, str] | None = None,
    python: str | os.PathLike[str] | None = None,
    timeout_s: float = 120.0,
) -> RuntimeReport:
    """Start a child with `runtime`, let its jax start, and compare what is in effect there with what was declared.

    What only a real start shows becomes an exception before a long job begins: an XLA flag that ends the process, a
    plugin that fails, a `cuda,cpu` that silently becomes the CPU.

    Args:
        runtime: What the child declares.
        env: Variables of the child's own; as for `child_environment`.
        parent: The environment to start from; this process's when `None`.
        python: The interpreter to ask, which needs jax but not this library; this process's when `None`.
        timeout_s: Seconds to wait for the child, default 120.

    Returns:
        The report of the child's jax, in which everything declared is in effect.

    Raises:
        RuntimeConfigurationError: If a field is not in effect in the child, or it ends or does not answer in time, with
            its own words. Also as `child_environment`.

    Source:
        Runs of jax 0.5.3 to 0.12.0.1; jaxlib ends the process over a flag that it does not know.
    """
    child = child_environment(runtime, env, parent=parent)
    exit_code, output, errors = _run_child(python, _program(), child, timeout_s)
    lines = [line for line in output.splitlines() if line.startswith(_observe_jax.MARK)]
    if exit_code != 0 or not lines:
        words = _last_words(errors)
        if plugin := _plugin_words(errors):
            words = f"{words}; before that: {plugin}"
        raise RuntimeConfigurationError(
            f"a child process with {_rendered(runtime)} ended with status {exit_code}: {words}"
        )
    report, options, failures, reads_urls = json.loads(lines[-1].removeprefix(_observe_jax.MARK))
    observation = Observation(_report(report), options, failures, reads_urls, _plugin_words(errors))
    refuse_what_is_not_in_effect(runtime, observation, child)
    return observation.report


def check_xla_flags(value: str, *, python: str | os.PathLike[str] | None = None, timeout_s: float = 30.0) -> None:
    """Ask the installed jaxlib whether it takes an `XLA_FLAGS` string; costs a tenth of a second and no import of jax.

    Args:
        value: The string, of which XLA would read every flag.
        python: The interpreter whose jaxlib to ask; this process's when `None`.
        timeout_s: Seconds to wait for it, default 30.

    Raises:
        ValueError: If XLA would not read `value` in full; as `parse_xla_flags`.
        XlaFlagConflictError: If one flag has two values.
        RuntimeConfigurationError: If jaxlib does not know a flag or refuses a value, or is not there, in its own words.

    Source:
        Runs of jaxlib 0.5.3 to 0.12.0.1, which parses the variable when compile options are made.
    """
    parse_xla_flags(value)
    variable = setting("xla_flags").variable
    child = {name: text for name, text in os.environ.items() if name != variable} | {variable: value}
    exit_code, _, errors = _run_child(
        python, "from jaxlib import xla_client as x; x.CompileOptions()", child, timeout_s
    )
    if exit_code != 0:
        raise RuntimeConfigurationError(f"{variable} is {value!r}, which this jaxlib refuses: {_last_words(errors)}")


# ---- observing ----------------------------------------------------------------------------------------------------


def _observed_here(runtime: JaxRuntime | None = None) -> Observation:
    try:
        report = _report(_observe_jax.observe())
    except ModuleNotFoundError:
        raise
    except Exception as error:
        of_what = "" if runtime is None or runtime.platforms is None else f"platforms is {runtime.platforms!r}, but "
        words = f"{type(error).__name__}: {error}" if str(error) else f"{type(error).__name__}, {_NO_GPU}"
        raise RuntimeConfigurationError(f"{of_what}jax cannot start its backends: {words}") from error
    return Observation(
        report, _observe_jax.xla_debug_options(), _observe_jax.backend_errors(), _observe_jax.reads_urls()
    )


# What jax does where a platform needs an NVIDIA GPU and none is visible: it says nothing at all.
_NO_GPU = "which is what jax raises when no NVIDIA GPU is visible to the process"


def _report(plain: dict[str, Any]) -> RuntimeReport:
    return RuntimeReport(**{**plain, "platforms": tuple(plain["platforms"])})


def _program() -> str:
    from importlib.resources import files

    return files("substrax.runtime").joinpath("_observe_jax.py").read_text(encoding="utf-8")


def _run_child(
    python: str | os.PathLike[str] | None, code: str, env: Mapping[str, str], timeout_s: float
) -> tuple[int, str, str]:
    import signal
    import subprocess
    from contextlib import suppress

    # jaxlib logs more than its errors unless jax, which is not imported first everywhere, has told it so.
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "1", **env}
    command = [os.fspath(python or sys.executable), "-c", code]
    try:
        process = subprocess.Popen(
            command,
            env=quiet,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="backslashreplace",
            start_new_session=True,
        )
    except OSError as error:
        raise RuntimeConfigurationError(f"python is {python!r}, which cannot be started: {error.strerror}") from error
    with process:
        try:
            output, errors = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            # The group, since a child of the child may hold the pipes.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise RuntimeConfigurationError(
                f"timeout_s is {timeout_s!r}, and a child process has not answered"
            ) from None
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, output, errors


def _last_words(errors: str) -> str:
    """What a process that ended says of the reason: XLA's sentence, or the last line, which is Python's."""
    import re

    lines = [line for line in errors.splitlines() if line.strip()]
    # XLA's log: a letter, time and place, then `]`; the usage text that follows says nothing.
    fatal = [match[1] for line in lines if (match := re.match(r"(?:[EF]\d{4}|\S+ \S+: [EF]) .*?\] (.*)", line))]
    if fatal:
        return fatal[0]
    if lines and lines[-1].strip() == "AssertionError":
        return f"AssertionError, {_NO_GPU}"
    return lines[-1] if lines else "it said nothing"


def _plugin_words(errors: str) -> str:
    """The error of a plugin that failed to register, which jax logs and goes on without it."""
    _, failed, after = errors.partition("Jax plugin configuration error: ")
    if not failed:
        return ""
    raised = [line for line in after.splitlines()[2:] if line and not line[0].isspace()]
    return f"{after.splitlines()[0]}: {raised[0]}" if raised else after.splitlines()[0]


def _rendered(runtime: JaxRuntime) -> str:
    return ", ".join(f"{row.field}={value!r}" for row, value in declared(runtime)) or "no setting of its own"
