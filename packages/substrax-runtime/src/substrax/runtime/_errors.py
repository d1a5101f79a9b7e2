"""The errors that callers may catch, and the words every refusal of a value shares."""

__all__ = ["MisreadError", "RuntimeConfigurationError", "XlaFlagConflictError", "expected"]


class RuntimeConfigurationError(RuntimeError):
    """A setting cannot be applied, or conflicts with one that is in place."""


class XlaFlagConflictError(RuntimeConfigurationError):
    """One XLA flag was given two different values.

    Attributes:
        flag: The flag's name with its dashes, such as `--xla_dump_to`.
        existing: The value that is in place; `None` for a flag given without one.
        requested: The value that was asked for; `None` for a flag given without one.
    """

    where = ""
    """Which field or argument gave both values, where one did; shown in the message."""

    def __init__(self, flag: str, existing: str | None, requested: str | None) -> None:
        # Pickle and copy rebuild an exception from its args, so they mirror this signature.
        super().__init__(flag, existing, requested)
        self.flag = flag
        self.existing = existing
        self.requested = requested

    def __str__(self) -> str:
        """Name the flag, show both values, and say what would do."""
        message = f"{self.flag} is {self.existing!r} already, and {self.requested!r} was asked for"
        values = {self.existing, self.requested}
        if None in values and {"true", "1"} & values:
            written = self.flag if self.existing is None else f"{self.flag}={self.existing}"
            alike = "XLA reads a boolean flag alike without a value and with 'true'"
            return f"{self._prefix()}{message}: {alike}, so write it the same way in both places, as {written}"
        choice = "" if self.where else ", or choose with on_conflict='keep' or on_conflict='replace'"
        return f"{self._prefix()}{message}: give it one value{choice}"

    def _prefix(self) -> str:
        return f"{self.where}: " if self.where else ""


class MisreadError(ValueError):
    """A text that jax or XLA would refuse, or not read as its author meant."""

    def __init__(self, subject: str, value: str, effect: str, remedy: str) -> None:
        super().__init__(subject, value, effect, remedy)
        self.subject = subject
        self.value = value
        self.effect = effect
        self.remedy = remedy

    def __str__(self) -> str:
        """Name the variable, show the value, say what is done with it and what would do."""
        return f"{self.subject} is {self.value!r}: {self.effect}; {self.remedy}"


def expected(name: str, value: object, expectation: str) -> str:
    """One sentence for a refused value: which setting, what we got, what would do."""
    return f"{name} is {value!r}, expected {expectation}"
