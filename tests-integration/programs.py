"""Running programs as users do: a fresh process, its environment spelled out, a timeout, three results in one tuple."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# jax writes there and nowhere else: it must not read what the tester's home holds.
BARE = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}


def run(
    command: Sequence[str], *, env: Mapping[str, str], cwd: str | Path | None = None, timeout_s: float = 120
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `command`, which sees no variable but those in `env`."""
    done = subprocess.run(
        command, env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, check=False
    )
    return done.returncode, os.fsdecode(done.stdout), os.fsdecode(done.stderr)


def run_python(code: str, **env: str) -> tuple[int, str, str]:
    """Run `code` in a new interpreter like this one."""
    return run([sys.executable, "-c", code], env=BARE | env)
