"""What looking after settings costs, in ratios: linting to a loop, `check` to its floor, asking jaxlib to its child.

Usage: python checking.py [ROUNDS]; with a jaxlib in the environment, asking that is measured too.
"""

from __future__ import annotations

import importlib.util
import statistics
import subprocess
import sys
import timeit
from collections.abc import Callable

from substrax.runtime import check_xla_flags, lint_environment

FLOOR = "import argparse, dataclasses"
ASK = "from jaxlib import xla_client as x; x.CompileOptions()"


def main(rounds: int = 30) -> None:
    """Print each ratio with its target."""
    for size in (1_000, 10_000):
        environ = {f"SOME_VARIABLE_{number}": "value" for number in range(size)} | {"JAX_PLATFORMS": "cpu"}
        ratio = in_pairs(
            lambda environ=environ: lint_environment(environ),
            lambda environ=environ: [name for name in environ if name.startswith(("JAX_", "XLA_"))],
            200,
        )
        print(f"lint / loop over {size:6} variables: {ratio:.2f}   target: at most 3")
    ratio = in_pairs(lambda: python("-m", "substrax.runtime", "check"), lambda: python("-c", FLOOR), rounds)
    print(f"check / floor: {ratio:.2f}   target: at most 1.3")
    if importlib.util.find_spec("jaxlib") is not None:
        ratio = in_pairs(lambda: check_xla_flags("--xla_dump_to=/tmp/x"), lambda: python("-c", ASK), rounds)
        print(f"check_xla_flags / its child: {ratio:.2f}   target: at most 1.5")


def in_pairs(ours: Callable[[], object], floor: Callable[[], object], rounds: int) -> float:
    """Ratio of the median times of two calls that take turns, after two turns that fill caches."""
    pairs = [(timeit.timeit(ours, number=1), timeit.timeit(floor, number=1)) for _ in range(rounds + 2)][2:]
    mine, least = (statistics.median(column) for column in zip(*pairs, strict=True))
    return mine / least


def python(*arguments: str) -> None:
    """Run an interpreter like this one to its end."""
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
