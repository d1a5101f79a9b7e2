"""Property tests: as random as they can be at a desk, the same in every CI run, and never a matter of time."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "substrax", deadline=None, derandomize=bool(os.environ.get("CI")), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("substrax")
