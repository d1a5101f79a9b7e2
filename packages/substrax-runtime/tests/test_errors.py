import copy
import pickle

import pytest

from substrax.runtime import RuntimeConfigurationError, XlaFlagConflictError


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_a_conflict_survives_copy_and_pickle(clone):
    error = XlaFlagConflictError("--a", None, "2")
    error.where = "xla_flags"

    same = clone(error)

    assert type(same) is XlaFlagConflictError
    assert (same.flag, same.existing, same.requested, str(same)) == ("--a", None, "2", str(error))


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_a_refusal_survives_copy_and_pickle(clone):
    same = clone(RuntimeConfigurationError("cpu_devices is 8, but ..."))

    assert (type(same), str(same)) == (RuntimeConfigurationError, "cpu_devices is 8, but ...")


def test_a_conflict_is_a_refusal_and_a_runtime_error():
    assert issubclass(XlaFlagConflictError, RuntimeConfigurationError)
    assert issubclass(RuntimeConfigurationError, RuntimeError)


@pytest.mark.parametrize(
    ("existing", "requested", "message"),
    [
        pytest.param(
            "1",
            "2",
            "--a is '1' already, and '2' was asked for: give it one value, or choose with on_conflict='keep' or "
            "on_conflict='replace'",
            id="two values",
        ),
        pytest.param(
            None,
            "false",
            "--a is None already, and 'false' was asked for: give it one value, or choose with on_conflict='keep' or "
            "on_conflict='replace'",
            id="a bare flag, then one that is off",
        ),
        pytest.param(
            None,
            "true",
            "--a is None already, and 'true' was asked for: XLA reads a boolean flag alike without a value and with "
            "'true', so write it the same way in both places, as --a",
            id="a bare flag, then one with a value",
        ),
        pytest.param(
            "true",
            None,
            "--a is 'true' already, and None was asked for: XLA reads a boolean flag alike without a value and with "
            "'true', so write it the same way in both places, as --a=true",
            id="a flag with a value, then a bare one",
        ),
    ],
)
def test_a_conflict_says_both_values_and_what_would_do(existing, requested, message):
    assert str(XlaFlagConflictError("--a", existing, requested)) == message
