"""How many processes an activation starts, counted; what that costs is measured in `benchmarks/shells.py`."""

import pytest

from posix_shells import SHELLS, make_project
from programs import BARE, run


@pytest.mark.parametrize("much", [False, True], ids=["plain", "with all there is to do"])
def test_an_activation_starts_at_most_six_processes(shell, tmp_path, much):
    """In a PID namespace of its own the numbers of processes follow each other."""
    root = make_project(tmp_path / "p", shell, backend="cuda12" if much else "cpu")
    env = BARE | {"LC_ALL": "C.UTF-8"}
    if much:
        env |= {"JAX_PLATFORMS": "tpu", "TAG": "mine", "LD_LIBRARY_PATH": "/usr/local/cuda/lib64"}
        (root / ".env").write_text("A=1\n")
        (root / ".env.local").write_text("B=2\n")
    (root / "count.sh").write_text(". ./activate.sh; sh -c 'echo $$'\n:\n")

    command = ["unshare", "--pid", "--fork", "--mount-proc", *SHELLS[shell], "count.sh"]
    exit_code, output, errors = run(command, cwd=root, env=env)
    if exit_code != 0 and "unshare" in errors:
        pytest.skip("a PID namespace of its own needs privileges that this process does not have")

    # The shell is number 1, and the one that says its number is the last.
    started = int(output) - 2
    assert "environment active" in errors
    # posh has neither -ef nor printf, and starts processes instead; yash tries .venv's script once more.
    assert started <= {"posh": 8, "yash": 7}.get(shell, 6)
    if shell == "bash" and not much:
        # Two of the three are those of .venv's script.
        assert started == 3
