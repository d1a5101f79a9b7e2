"""`RuntimeReport`: what a jax process was seen to run with."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

__all__ = ["RuntimeReport"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RuntimeReport:
    """What a jax process runs with. `str()` of it is a table."""

    jax_version: str
    jaxlib_version: str
    platforms: tuple[str, ...]
    """Platforms that have started, by the names of `JAX_PLATFORMS`."""
    default_backend: str
    """The platform that jax runs on, by its name in `JAX_PLATFORMS`."""
    device_counts: dict[str, int]
    """Devices of this process on each started platform."""
    enable_x64: bool
    matmul_precision: str | None
    compilation_cache_dir: str | None
    """Where compiled programs go; `None` where jax would use no directory."""
    xla_flags: str
    """`XLA_FLAGS` of the process."""
    preallocate: bool | None
    """As a GPU plugin reads it; `None` for its default, or where no GPU plugin has started."""
    memory_fraction: float | None
    """As a GPU plugin reads it; `None` for its default, or where no GPU plugin has started."""

    def __str__(self) -> str:
        """The report as lines of name and value."""
        return "\n".join(f"{name:<22} {_told(value)}" for name, value in asdict(self).items())

    def to_json(self) -> str:
        """The report as one JSON object, with the fields as its keys."""
        return json.dumps(asdict(self))


def _told(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {count}" for name, count in value.items())
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "not set" if value in (None, "") else str(value)
