"""Declare eight emulated CPU devices, and let a real jax say what it runs with."""

from substrax.runtime import JaxRuntime, apply_runtime

runtime = JaxRuntime(cpu_devices=8, enable_x64=True, matmul_precision="highest")
apply_runtime(runtime)

import jax  # noqa: E402 - after the settings, which jax reads while it is imported

cpu_devices = jax.devices("cpu")
print(f"declared   {runtime}")
print(f"jax        {jax.__version__}")
print(f"platform   {jax.default_backend()}, {jax.device_count()} devices")
print(f"CPU        {len(cpu_devices)} devices")
print(f"x64        {jax.numpy.arange(3.0).dtype == 'float64'}")
print(f"precision  {jax.config.jax_default_matmul_precision}")
