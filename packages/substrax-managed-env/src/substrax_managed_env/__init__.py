"""Write and inspect the environment file that a repository's `activate.sh` sources, and vendor that script.

Run it as `python -m substrax.runtime.managed_env`. Importing it loads no jax and starts no process.
"""

import substrax as _namespace

__version__ = "0.1.0"

if getattr(_namespace, "__file__", None) is not None:
    # Repeated from substrax.runtime, of which no line runs when a regular package `substrax` hides it.
    raise ImportError(
        f"substrax_managed_env of the distribution 'substrax-managed-env' cannot work beside the unrelated distribution "
        f"'substrax' at {_namespace.__file__}; remove both and install ours again: "
        "python -m pip uninstall substrax substrax-runtime; python -m pip install substrax-managed-env"
    )

from ._backends import BACKENDS, nvidia_gpu_visible, resolve_backend
from ._cli import main
from ._environment import managed_environment
from ._shell_file import render

__all__ = ["BACKENDS", "main", "managed_environment", "nvidia_gpu_visible", "render", "resolve_backend"]
