"""What this host has: whether an NVIDIA GPU is visible, and which backend `auto` means here."""

import sys

__all__ = ["BACKENDS", "nvidia_gpu_visible", "resolve_backend"]

BACKENDS = ("auto", "cpu", "cuda12", "metal", "cuda13", "rocm")
"""What `--backend` takes; `auto` is resolved before anything is written."""

_PATIENCE_S = 5.0


def nvidia_gpu_visible() -> bool:
    """Whether `nvidia-smi -L` lists at least one GPU.

    Returns:
        `False` also where the command is missing, fails, prints nothing, or has not answered after 5 s; its whole
        process group is killed then, and not waited for, since a process stuck in the driver outlives its kill.

    Source:
        `nvidia-smi --help`, option `-L`: one line `GPU 0: NAME (UUID: ...)` a GPU.
    """
    import signal
    import subprocess
    from contextlib import suppress
    from os import killpg

    try:
        process = subprocess.Popen(
            ["nvidia-smi", "-L"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    try:
        listing, _ = process.communicate(timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired:
        # The group, because a child that holds the pipe open would keep us as well.
        with suppress(ProcessLookupError, PermissionError):
            killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
        if process.stdout is not None:
            process.stdout.close()
        return False
    return process.returncode == 0 and any(line.startswith(b"GPU ") for line in listing.splitlines())


def resolve_backend(requested: str) -> str:
    """The backend that `requested` means on this host.

    Args:
        requested: `"auto"`, or any other name, which is returned as it is.

    Returns:
        For `"auto"`: `"cuda12"` on Linux when `nvidia-smi` lists a GPU, `"metal"` on Apple Silicon, else `"cpu"`.
    """
    if requested != "auto":
        return requested
    if sys.platform == "linux" and nvidia_gpu_visible():
        return "cuda12"
    if sys.platform == "darwin" and _machine() == "arm64":
        return "metal"
    return "cpu"


def _machine() -> str:
    from os import uname

    return uname().machine
