"""Running code in a fresh interpreter, since what we claim about a process is shown by a process."""

import subprocess
import sys


def run_python(*arguments: str, **env: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a new interpreter that sees no variable but those in `env`."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr
