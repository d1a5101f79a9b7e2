"""What the shell templates cost, in ratios: an activation to uv's own, a second setup to the two commands that it runs.

Usage: python shells.py [ROUNDS]

All take turns in one run, so that what else the machine does falls on each alike. Printed: median milliseconds over a
shell that does nothing, the ratio to uv's `activate`, and the same for a project with an `.env`.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from substrax_managed_env._vendor import installed, with_settings

from posix_shells import SHELLS, make_project
from programs import ROOT

# Of the shells that can source what uv writes; more than that much on top is too much in any of them.
TARGETS = {"bash": 2.5, "bash --posix": 2.5, "zsh": 2.5, "zsh as sh": 2.5, "ksh93": 2.5, "dash": 3.0, "busybox": 3.0}
ON_TOP_MS = 10
SECOND_SETUP = 1.3


def main(rounds: int = 60) -> None:
    """Measure and print both."""
    with tempfile.TemporaryDirectory() as folder:
        activation(Path(folder), rounds)
        second_setup(Path(folder), max(rounds // 4, 5))


def activation(folder: Path, rounds: int) -> None:
    """The activation, in every shell that is here."""
    plain, with_env = make_project(folder / "plain"), make_project(folder / "with-env")
    (with_env / ".env").write_text("".join(f"NAME_{number}=value\n" for number in range(20)))
    scripts = {"nothing": ":", "uv": ". ./.venv/bin/activate", "ours": ". ./activate.sh"}
    for root in (plain, with_env):
        for name, code in scripts.items():
            (root / f"{name}.sh").write_text(f"{code}\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    for shell, command in SHELLS.items():
        if shell == "yash" or shutil.which(command[0]) is None:
            continue

        def source(name: str, root: Path = plain, command: list[str] = command) -> Callable[[], None]:
            return lambda: run([*command, f"{name}.sh"], root, env)

        took = in_turns({**{name: source(name) for name in scripts}, "env": source("ours", with_env)}, rounds)
        uv, ours, more = ((took[name] - took["nothing"]) * 1000 for name in ("uv", "ours", "env"))
        target = f"at most {TARGETS[shell]}, and " if shell in TARGETS else ""
        print(
            f"{shell:12} uv {uv:5.2f} ms  ours {ours:5.2f} ms  ratio {ours / uv:4.2f}  on top {ours - uv:5.2f} ms"
            f"  with 20 lines of .env {more:5.2f} ms   target: {target}at most {ON_TOP_MS} ms on top"
        )


def second_setup(folder: Path, rounds: int) -> None:
    """A `setup.sh` that has nothing to do, and the `uv sync` and `write` that it runs."""
    root = folder / "project"
    root.mkdir()
    names = ("substrax-runtime", "substrax-managed-env")
    sources = "".join(f'{name} = {{ path = "{ROOT}/packages/{name}", editable = true }}\n' for name in names)
    (root / "pyproject.toml").write_text(
        '[project]\nname = "demo"\nversion = "0"\nrequires-python = ">=3.11"\n'
        f"dependencies = {list(names)}\n[tool.uv]\npackage = false\n[tool.uv.sources]\n{sources}"
    )
    settings = {"prefix": "DEMO", "env_file": ".demo.env", "root_from_here": "."}
    (root / "setup.sh").write_text(with_settings(installed("setup.sh"), settings))
    env = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    env["UV_PROJECT_ENVIRONMENT"] = ".venv"
    write = ("python", "-m", "substrax.runtime.managed_env", "write")
    options = ("--prefix", "DEMO", "--backend", "cpu", "--output", ".demo.env")
    setup = ["sh", "./setup.sh", "--backend", "cpu"]
    run(setup, root, env)
    commands = {
        "uv sync": lambda: run(["uv", "sync"], root, env),
        "write": lambda: run(["uv", "run", "--no-sync", *write, *options], root, env),
        "setup.sh": lambda: run(setup, root, env),
    }
    took = in_turns(commands, rounds)
    print("  ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in took.items()))
    ratio = took["setup.sh"] / (took["uv sync"] + took["write"])
    print(f"second setup.sh / (uv sync + write): {ratio:.2f}   target: at most {SECOND_SETUP}")


def in_turns(commands: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """The median time in seconds of each, after a first turn that fills caches."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            command()
            if turn:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


def run(command: list[str], cwd: Path, env: dict[str, str]) -> None:
    """Run it, and stop if it fails."""
    subprocess.run(command, cwd=cwd, env=env, capture_output=True, check=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
