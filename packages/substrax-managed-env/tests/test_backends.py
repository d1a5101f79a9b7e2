import os
import stat
import sys
import time

import pytest

from substrax_managed_env import BACKENDS, nvidia_gpu_visible, resolve_backend

LISTING = "GPU 0: NVIDIA H200 (UUID: GPU-0)"


@pytest.fixture
def nvidia_smi(tmp_path, monkeypatch):
    """Put an `nvidia-smi` of one's own, a real process, before everything else that is found."""

    def install(script):
        command = tmp_path / "nvidia-smi"
        command.write_text(f"#!/bin/sh\n{script}\n")
        command.chmod(command.stat().st_mode | stat.S_IXUSR)

    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return install


@pytest.mark.parametrize(
    ("script", "visible"),
    [
        pytest.param(f'echo "{LISTING}"', True, id="a GPU"),
        pytest.param(f'[ "$*" = -L ] && echo "{LISTING}"', True, id="asked with -L"),
        pytest.param(f'echo "a warning"; echo "{LISTING}"', True, id="a GPU after a warning"),
        pytest.param(":", False, id="nothing printed"),
        pytest.param('echo "No devices were found"', False, id="no GPU"),
        pytest.param(f'echo "{LISTING}"; exit 9', False, id="failed"),
        pytest.param(f'echo "{LISTING}" >&2', False, id="on standard error alone"),
        pytest.param(r'printf "\377\376"', False, id="bytes that are no text"),
    ],
)
def test_a_gpu_is_visible_when_nvidia_smi_lists_it(nvidia_smi, script, visible):
    nvidia_smi(script)

    assert nvidia_gpu_visible() is visible


def test_no_nvidia_smi_is_no_gpu(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert nvidia_gpu_visible() is False


@pytest.mark.parametrize(
    "script", ["sleep 60", "trap '' TERM INT HUP; sleep 60; sleep 60"], ids=["sleeps", "ignores signals"]
)
def test_a_hanging_nvidia_smi_costs_seconds_and_is_no_gpu(nvidia_smi, script, monkeypatch):
    monkeypatch.setattr("substrax_managed_env._backends._PATIENCE_S", 0.3)
    nvidia_smi(script)
    start = time.monotonic()

    visible = nvidia_gpu_visible()

    # Far from both ends: the wait is 0.3 s, and 60 s if the pipe of the sleeping child is waited for.
    assert (visible, time.monotonic() - start < 20) == (False, True)


@pytest.mark.parametrize("name", [*BACKENDS[1:], "anything"])
def test_a_named_backend_is_taken_as_it_is(name):
    assert resolve_backend(name) == name


@pytest.mark.parametrize(
    ("script", "backend"), [(f'echo "{LISTING}"', "cuda12"), ("exit 6", "cpu")], ids=["GPU", "no GPU"]
)
def test_auto_is_cuda_on_linux_when_a_gpu_is_listed(monkeypatch, nvidia_smi, script, backend):
    monkeypatch.setattr(sys, "platform", "linux")
    nvidia_smi(script)

    assert resolve_backend("auto") == backend


@pytest.mark.parametrize(("machine", "backend"), [("arm64", "metal"), ("x86_64", "cpu")])
def test_auto_is_metal_on_apple_silicon_alone(monkeypatch, nvidia_smi, machine, backend):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("substrax_managed_env._backends._machine", lambda: machine)
    nvidia_smi(f'echo "{LISTING}"')

    assert resolve_backend("auto") == backend
