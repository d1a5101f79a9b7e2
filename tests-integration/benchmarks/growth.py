"""How rendering and merging grow with the number of flags: the time a flag, from 10 to 10,000 of them.

Usage: python growth.py

Linear growth shows as a time a flag that does not grow; printed with its ratio to the smallest.
"""

from __future__ import annotations

import timeit

from substrax.runtime import JaxRuntime, merge_xla_flags, parse_xla_flags, runtime_environment


def main() -> None:
    """Print microseconds a flag for each function and size."""
    for name in ("parse_xla_flags", "merge_xla_flags", "JaxRuntime", "runtime_environment"):
        row = []
        for size in (10, 100, 1_000, 10_000):
            flags = tuple(f"--xla_flag_{number}='a {number}'" for number in range(size))
            text = " ".join(flags)
            runtime = JaxRuntime(xla_flags=flags)
            call = {
                "parse_xla_flags": lambda text=text: parse_xla_flags(text),
                "merge_xla_flags": lambda text=text, flags=flags: merge_xla_flags(text, flags),
                "JaxRuntime": lambda flags=flags: JaxRuntime(xla_flags=flags),
                "runtime_environment": lambda runtime=runtime, text=text: runtime_environment(
                    runtime, {"XLA_FLAGS": text}
                ),
            }[name]
            repeats = max(1, 10_000 // size)
            row.append(min(timeit.repeat(call, number=repeats, repeat=5)) / repeats / size * 1e6)
        steps = "  ".join(f"{size:6}: {cost:6.2f}" for size, cost in zip((10, 100, 1_000, 10_000), row, strict=True))
        print(f"{name:20} us a flag  {steps}   10,000 / 10: {row[-1] / row[0]:.2f}")


if __name__ == "__main__":
    main()
