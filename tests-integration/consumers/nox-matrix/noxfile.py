"""The tests over versions of jax, each with a Python that it supports, and over backends."""

import os
import shutil
import subprocess

import nox

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "uv|virtualenv"

JAX = [("3.12", "0.9.2"), ("3.13", "0.10.2")]
# What brings jax with a backend, and the platform that the tests are to run on.
BACKENDS = {
    "cpu": ("jax", "cpu"),
    "cuda12": ("jax[cuda12]", "cuda"),
    "cuda13": ("jax[cuda13]", "cuda"),
    "rocm": ("jax[rocm7-local]", "rocm"),
}


@nox.session
@nox.parametrize("python,jax", JAX)
@nox.parametrize("backend", list(BACKENDS))
def tests(session, jax, backend):
    """Run the tests with one jax on one backend; skipped by name where the machine does not have it."""
    if reason := why_not(backend):
        session.skip(f"{backend}: {reason}")
    requirement, platform = BACKENDS[backend]
    session.install("pytest", f"{requirement}=={jax}", "substrax-runtime")
    # What the developer's shell says to jax must not reach the tests; None takes a variable away.
    inherited = {name: None for name in os.environ if name.startswith(("JAX_", "XLA_"))}
    session.run("pytest", *session.posargs, env={**inherited, "DATARAX_TEST_JAX_PLATFORMS": platform})


def why_not(backend):
    """Why this machine cannot run the tests on `backend`; empty if it can."""
    if backend.startswith("cuda"):
        if shutil.which("nvidia-smi") is None:
            return "there is no nvidia-smi on this machine"
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout
        return "" if listed.startswith("GPU ") else "nvidia-smi lists no GPU"
    if backend == "rocm" and not os.path.exists("/dev/kfd"):
        return "there is no /dev/kfd, so no AMD GPU, on this machine"
    return ""
