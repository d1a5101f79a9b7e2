"""Decides what the tests run on, before anything imports jax."""

import importlib.util
import os

from substrax.runtime import apply_runtime, resolve_test_runtime

cuda = any(importlib.util.find_spec(name) for name in ("jax_cuda12_plugin", "jax_cuda13_plugin"))
apply_runtime(resolve_test_runtime(os.environ, prefix="DATARAX_TEST_", cuda_plugin_available=cuda))
