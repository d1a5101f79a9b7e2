"""Stands for the tests of the project."""

import os

import jax


def test_the_tests_run_on_the_backend_of_their_session():
    on_cpu = os.environ["DATARAX_TEST_JAX_PLATFORMS"] == "cpu"

    assert jax.default_backend() == ("cpu" if on_cpu else "gpu")
    assert jax.device_count() == 8 or not on_cpu
    assert jax.numpy.arange(2.0).dtype == "float32"


def test_nothing_that_the_developer_has_exported_is_here():
    # What the runtime has applied, and no more.
    assert {name for name in os.environ if name.startswith(("JAX_", "XLA_"))} <= {"JAX_PLATFORMS", "JAX_NUM_CPU_DEVICES"}
