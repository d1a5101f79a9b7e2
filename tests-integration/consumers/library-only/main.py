"""An entry point: what it declares, and what it logs."""

import logging
import os
import sys

from substrax.runtime import JaxRuntime, apply_runtime, configure_entry_point_logging


def main() -> int:
    configure_entry_point_logging()
    apply_runtime(JaxRuntime(platforms=("cpu",), cpu_devices=2))
    logging.getLogger("main").info("JAX_NUM_CPU_DEVICES=%s", os.environ["JAX_NUM_CPU_DEVICES"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
