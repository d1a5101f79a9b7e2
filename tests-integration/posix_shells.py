"""The shells and how to run something in them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from substrax_managed_env import managed_environment, render
from substrax_managed_env._vendor import installed, with_settings

from programs import BARE, run

SHELLS = {
    "bash": ["bash"],
    "bash --posix": ["bash", "--posix"],
    "dash": ["dash"],
    "zsh": ["zsh", "-f"],
    "zsh as sh": ["zsh", "--emulate", "sh", "-f"],
    "ksh93": ["ksh93"],
    "mksh": ["mksh"],
    "busybox": ["busybox", "ash"],
    "yash": ["yash"],
    "posh": ["posh"],
}

# Says, after a status, what an activation changes; and what it says with the activated project A, and without.
SHOW = """show() {
    echo "$1 backend=${DEMO_BACKEND-unset} platforms=${JAX_PLATFORMS-unset} tag=${TAG-unset} venv=${VIRTUAL_ENV:+yes}"
}
"""
ACTIVE = "0 backend=cpu platforms=cpu tag=A venv=yes\n"
AS_BEFORE = "backend=unset platforms=unset tag=unset venv=\n"


def quiet(root: Path, prefix: str = "DEMO", backend: str = "cpu") -> str:
    """What a successful activation prints on standard error."""
    return f"{prefix} environment active: backend {backend}, root {root}\n"


def require(shell: str) -> None:
    """Skip by name where a shell is not installed; in CI, where all of them have to be, fail instead."""
    program = SHELLS.get(shell, [shell])[0]
    if shutil.which(program) is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"the shell {program} is not installed")


def without_set_e(shell: str) -> None:
    """Skip where the venv's own script ends a shell under `set -e`."""
    if shell == "posh":
        pytest.skip("posh has no builtin `hash`, so that the venv's own script ends it under `set -e`")


def run_in(shell: str, code: str, *, cwd: str | Path, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Run `code` as a script of `shell` in `cwd`; a script and not `-c`, where some shells behave otherwise."""
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
        script.write(f"{code}\n")
        script.flush()
        return run(
            [*SHELLS[shell], script.name], cwd=cwd, env=BARE | {"LC_ALL": "C.UTF-8", **(env or {})}, timeout_s=60
        )


def make_project(
    path: Path,
    shell: str = "dash",
    *,
    prefix: str = "DEMO",
    tag: str = "A",
    backend: str = "cpu",
    extra: Mapping[str, str] | None = None,
    **settings: str,
) -> Path:
    """A project as a user has it after setup.sh: the templates with other settings, a venv, an environment file.

    The venv is made by uv, whose script needs more of a shell than the one of the standard library; for yash, which
    cannot read it, by the standard library.
    """
    lower = prefix.lower()
    path.mkdir(parents=True)
    settings = {"prefix": prefix, "env_file": f".{lower}.env", "root_from_here": "."} | settings
    (path / "activate.sh").write_text(with_settings(installed("activate.sh"), settings))
    make_venv(path, by="venv" if shell == "yash" else "uv")
    managed = managed_environment(
        prefix=prefix, backend=backend, project_root=path, extra={"TAG": tag, **(extra or {})}
    )
    (path / f".{lower}.env").write_bytes(os.fsencode(render(prefix=prefix, values=managed)))
    return path


def make_venv(path: Path, *, by: str) -> None:
    """`.venv` in `path`, without pip."""
    command = ["uv", "venv", "--quiet", ".venv"] if by == "uv" else ["venv", "--without-pip", ".venv"]
    done = run([sys.executable, "-m", *command], cwd=path, env=dict(os.environ))
    assert done[0] == 0, done
