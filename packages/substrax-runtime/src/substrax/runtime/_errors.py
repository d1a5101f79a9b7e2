"""The errors that callers may catch, and the words every refusal of a value shares."""

__all__ = ["RuntimeConfigurationError", "XlaFlagConflictError", "expected"]


class RuntimeConfigurationError(RuntimeError):
    """A setting cannot be applied, or conflicts with one that is in place."""


class XlaFlagConflictError(RuntimeConfigurationError):
    """One XLA flag was given two different values.

    Attributes:
        flag: The flag's name with its dashes, such as `--xla_dump_to`.
        existing: The value that is in place; `None` for a flag given without one.
        requested: The value that was asked for; `None` for a flag given without one.
    """

    def __init__(self, flag: str, existing: str | None, requested: str | None) -> None:
        # Pickle and copy rebuild an exception from its args, so they mirror this signature.
        super().__init__(flag, existing, requested)
        self.flag = flag
        self.existing = existing
        self.requested = requested

    def __str__(self) -> str:
        """Name the flag, show both values, and say what would do."""
        message = f"{self.flag} is {self.existing!r} already, and {self.requested!r} was asked for"
        if (self.existing is None) != (self.requested is None):
            written = self.flag if self.existing is None else f"{self.flag}={self.existing}"
            return (
                f"{message}: XLA reads a boolean flag alike without a value and with 'true', so write it the same "
                f"way in both places, as {written}"
            )
        return f"{message}: give it one value (where flags are merged, on_conflict='keep' or 'replace' chooses)"


def expected(name: str, value: object, expectation: str) -> str:
    """One sentence for a refused value: which setting, what we got, what would do."""
    return f"{name} is {value!r}, expected {expectation}"
