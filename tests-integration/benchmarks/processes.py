"""What a process of ours costs, in ratios: to the floor, and to the like-named distribution in its own environment.

Usage: python processes.py PYTHON_OF_PEER [ROUNDS]

All commands take turns in one run, so that what else the machine does falls on each alike. Printed: the median wall
time of each in milliseconds, and the ratios with their targets. The peer is run as a black box.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

USE = "from substrax.runtime import JaxRuntime; JaxRuntime(cpu_devices=4)"
WRITE = ["-m", "substrax.runtime.managed_env", "write", "--prefix", "DATARAX", "--backend", "cpu", "--output", "file"]


def main(peer: str, rounds: int = 40) -> None:
    """Time every command in turn and print the ratios."""
    commands = {
        "bare": [sys.executable, "-c", "pass"],
        "dataclasses": [sys.executable, "-c", "import dataclasses"],
        "import": [sys.executable, "-c", "import substrax.runtime"],
        "use": [sys.executable, "-c", USE],
        "peer use": [peer, "-c", USE],
        "write": [sys.executable, *WRITE],
        "peer write": [peer, *WRITE],
    }
    env = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    times: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds + 2):
            for name, command in commands.items():
                start = time.perf_counter()
                subprocess.run(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True)
                # The first two turns write bytecode and fill caches.
                if turn >= 2:
                    times[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    for name, median in medians.items():
        print(f"{name:12} {median * 1000:7.1f} ms")
    for name, floor, target in [
        ("use", "dataclasses", 1.15),
        ("use", "peer use", 0.5),
        ("write", "peer write", 0.6),
        ("import", "bare", None),
    ]:
        wanted = "" if target is None else f"   target: at most {target}"
        print(f"{name} / {floor}: {medians[name] / medians[floor]:.2f}{wanted}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
