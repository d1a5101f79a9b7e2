"""`JaxRuntime`: what one process declares about JAX, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass

from ._errors import XlaFlagConflictError
from ._settings import SETTINGS
from ._xla_flags import flags_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from ._precision import MatmulPrecision
    from ._settings import Setting

__all__ = ["JaxRuntime", "declared"]


@dataclass(frozen=True, kw_only=True, slots=True)
class JaxRuntime:
    """How one process should start JAX.

    A field left at its default is none of our business: it renders to no variable, and what the process has stays
    as it is. There are no presets. An object that exists is valid, and equal objects hash alike.

    Raises:
        TypeError: If a value has the wrong type; a `str` is not a tuple of strings, and a `bool` is no number.
        ValueError: If a value is outside its domain.
        XlaFlagConflictError: If `xla_flags` gives one flag two different values.

    Source:
        https://docs.jax.dev/en/latest/config_options.html, and runs of jax 0.5.3 to 0.12.0.1.

    >>> JaxRuntime(platforms=("cpu",), cpu_devices=8).cpu_devices
    8
    """

    platforms: tuple[str, ...] | None = None
    """Platforms to start, best first, such as `("cuda", "cpu")`; the first is the default backend."""
    cpu_devices: int | None = None
    """Emulated CPU devices, at least 1; jax's own default is 1. Needs jax 0.5.3 or newer."""
    enable_x64: bool | None = None
    """Whether new arrays may be 64 bits wide; jax's own default is `False`."""
    matmul_precision: MatmulPrecision | None = None
    """Precision of matrix products where the call names none; of convolutions too, but for the names in capitals."""
    compilation_cache_dir: Path | str | None = None
    """Where compiled programs persist, an absolute `Path` or a `str` with a URL; jax's own default is nowhere."""
    xla_flags: tuple[str, ...] = ()
    """XLA flags that this run needs, each `--name` or `--name=value`, a value with blanks in quotes; each once."""
    preallocate: bool | None = None
    """Whether a GPU's share of memory is taken at the start; jax's own default is `True`. Read by GPU plugins alone."""
    memory_fraction: float | None = None
    """Share of each GPU's memory to take, in (0, 1]; jax's own default is 0.75. Read by GPU plugins alone."""

    def __post_init__(self) -> None:
        """Check every field, and report all faults together, in the order of the fields."""
        faults: list[Exception] = []
        for row, value in declared(self):
            try:
                row.check(row.field, value)
            except (TypeError, ValueError, XlaFlagConflictError) as fault:
                faults.append(fault)
        if len(faults) == 1:
            raise faults[0]
        if faults:
            kind = TypeError if any(isinstance(fault, TypeError) for fault in faults) else ValueError
            raise kind("; ".join(map(str, faults)))
        if self.xla_flags:
            # Given twice with one value a flag counts once, so that equal requests are equal.
            object.__setattr__(self, "xla_flags", flags_once(self.xla_flags))


def declared(runtime: JaxRuntime) -> list[tuple[Setting, object]]:
    """The rows of the fields that `runtime` sets, with the values, in the order of the table."""
    pairs = [(row, getattr(runtime, row.field)) for row in SETTINGS]
    return [(row, value) for row, value in pairs if (value is not None if row.unset is None else value != row.unset)]
