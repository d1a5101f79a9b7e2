"""What the jax of this process runs with, as plain data; imports nothing of ours.

`observe_runtime` calls `observe` in its own process. `probe_runtime` runs the text of this file with another
interpreter, which need not have our library, and reads the line that it prints.
"""

# pyright: reportMissingImports=false
# jax is where this runs, and not where it is checked.

import os
import sys

__all__ = ["MARK", "observe", "xla_debug_options"]

MARK = "substrax-runtime-observed "


def observe() -> dict[str, object]:
    """Versions, platforms, devices and settings that are in effect; starts jax's backends if they have not started."""
    import jax
    import jaxlib
    from jax.extend import backend

    # By the names of JAX_PLATFORMS: jax.default_backend() says 'gpu' for cuda and rocm alike.
    default = backend.get_backend()
    clients = dict(backend.backends())
    options = gpu_options() if {"cuda", "rocm", "oneapi"} & clients.keys() else {}
    return {
        "jax_version": jax.__version__,
        "jaxlib_version": jaxlib.__version__,
        "platforms": list(clients),
        "default_backend": next((name for name, client in clients.items() if client is default), default.platform),
        "device_counts": {name: client.local_device_count() for name, client in clients.items()},
        "enable_x64": bool(jax.config.jax_enable_x64),
        "matmul_precision": jax.config.jax_default_matmul_precision,
        "compilation_cache_dir": cache_directory(),
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
        "preallocate": options.get("preallocate"),
        "memory_fraction": options.get("memory_fraction"),
    }


def gpu_options() -> dict[str, object]:
    """What the option reader of jax's GPU plugins makes of the environment."""
    from jaxlib import xla_client

    return dict(xla_client.generate_pjrt_gpu_plugin_options())


def cache_directory() -> str | None:
    """The directory that compiled programs go to: the one in use, which later settings do not change."""
    import jax
    from jax.extend import backend

    # jax has no public name for the cache that is in use.
    module = sys.modules.get("jax._src.compilation_cache")
    in_use = getattr(getattr(module, "_cache", None), "_path", None)
    if in_use is not None:
        return str(in_use)
    if not jax.config.jax_enable_compilation_cache or backend.get_backend().platform not in _WITH_A_CACHE:
        return None
    directory = jax.config.jax_compilation_cache_dir
    # Asked for, and not made when it was first needed.
    return None if getattr(module, "_cache_initialized", False) else directory


# For other platforms, METAL and mps among them, jax leaves the directory unused.
_WITH_A_CACHE = ("cpu", "gpu", "cuda", "rocm", "tpu", "neuron")


def reads_urls() -> bool:
    """Whether jax can use a cache directory that is a URL, for which it needs etils; without it jax only warns."""
    try:
        import etils.epath  # noqa: F401 - what jax itself imports
    except ImportError:
        return False
    return True


def xla_debug_options() -> dict[str, object]:
    """The XLA flags that jaxlib shows, by name with dashes, with the values that XLA has parsed."""
    from jaxlib import xla_client

    # All three are kept alive: without its owners the memory of the last is somebody else's.
    compile_options = xla_client.CompileOptions()
    build_options = compile_options.executable_build_options
    debug_options = build_options.debug_options
    names = [name for name in dir(debug_options) if name.startswith("xla_")]
    return {f"--{name}": value for name in names if isinstance(value := getattr(debug_options, name), bool | int | str)}


def main() -> None:
    """Print one line of JSON, behind a mark that no other output has."""
    import json

    print(f"\n{MARK}{json.dumps([observe(), xla_debug_options(), backend_errors(), reads_urls()])}", flush=True)


def backend_errors() -> dict[str, str]:
    """Why platforms did not start, in jax's own words; jax has no public name for them."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    return {str(name): str(words) for name, words in getattr(bridge, "_backend_errors", {}).items()}


if __name__ == "__main__":
    main()
