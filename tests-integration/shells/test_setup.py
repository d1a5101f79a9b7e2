"""`./setup.sh` in every shell: what it asks of uv, what it refuses, what it leaves behind.

A stand-in for uv writes down how it was called; the real uv, with a real jax, is used in `installs/`.
"""

import os
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from substrax_managed_env._vendor import installed, with_settings

from posix_shells import SHELLS
from programs import BARE, run

UV = """#!/bin/sh
# Only from .venv: that is where activate.sh looks.
[ "$UV_PROJECT_ENVIRONMENT" = .venv ] || exit 90
for word in uv "$@"; do printf '%s|' "$word" >>"$UV_LOG"; done; echo >>"$UV_LOG"
case $1 in
    sync) sleep "${UV_SLEEP:-0}"; mkdir -p .venv/bin; : >.venv/pyvenv.cfg; exit "${UV_STATUS:-0}" ;;
    run) echo "written" >.demo.env ;;
esac
"""
SETTINGS = {
    "prefix": "DEMO",
    "env_file": ".demo.env",
    "root_from_here": ".",
    "extras": "dev test",
    "extras_cuda12": "gpu",
    "extras_metal": "metal more",
}
SYNC = "uv|sync|--extra|dev|--extra|test|"
WRITE = "uv|run|--no-sync|python|-m|substrax.runtime.managed_env|write|--prefix|DEMO|--backend|{}|--output|.demo.env|"
GPU = 'echo "GPU 0: NVIDIA H200 (UUID: GPU-0)"'


def command(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Project:
    """A project with setup.sh, in a directory of any name, and a stand-in for uv on PATH."""

    def __init__(self, tmp_path: Path, name: str = "p") -> None:
        self.root = tmp_path / name
        self.bin = tmp_path / "bin"
        self.log = tmp_path / "uv.log"
        command(self.bin / "uv", UV)
        self.log.touch()
        command(self.root / "setup.sh", with_settings(installed("setup.sh"), SETTINGS))
        (self.root / "pyproject.toml").write_text("[project]\n")
        self.env = BARE | {"PATH": f"{self.bin}:/usr/bin:/bin", "UV_LOG": str(self.log), "LC_ALL": "C.UTF-8"}

    def run(self, shell, *arguments, script="./setup.sh", cwd=None, timeout_s=60, **env):
        environment = {name: value for name, value in (self.env | env).items() if value is not None}
        return run([*SHELLS[shell], script, *arguments], env=environment, cwd=cwd or self.root, timeout_s=timeout_s)

    def calls(self):
        return self.log.read_text().splitlines()

    def left(self):
        return sorted(path.name for path in self.root.iterdir() if path.name not in ("setup.sh", "pyproject.toml"))


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


CPU = ("--backend", "cpu")


@pytest.mark.parametrize(
    ("arguments", "sync", "backend"),
    [
        pytest.param(CPU, SYNC, "cpu", id="cpu"),
        pytest.param(("--backend=cpu",), SYNC, "cpu", id="with an equals sign"),
        pytest.param(("--backend", "cuda12"), f"{SYNC}--extra|gpu|", "cuda12", id="the extra of a backend"),
        pytest.param(
            ("--backend", "metal"), f"{SYNC}--extra|metal|--extra|more|", "metal", id="two extras of a backend"
        ),
        pytest.param(("--backend", "rocm"), SYNC, "rocm", id="a backend without an extra"),
        pytest.param(
            (*CPU, "--extra", "a-b", "--extra=c.d"), f"{SYNC}--extra|a-b|--extra|c.d|", "cpu", id="extras of the user's"
        ),
        pytest.param((*CPU, "--python", "/my py/python"), f"{SYNC}--python|/my py/python|", "cpu", id="a Python"),
        pytest.param((), SYNC, "cpu", id="auto without nvidia-smi"),
    ],
)
def test_it_syncs_and_writes_for_one_backend(shell, project, arguments, sync, backend):
    exit_code, output, errors = project.run(shell, *arguments)

    assert (exit_code, output, project.calls()) == (0, "", [sync, WRITE.format(backend)]), errors
    assert errors.splitlines()[0] == f"setup.sh: project {project.root}, backend {backend}"
    assert errors.splitlines()[-1] == "setup.sh: done; next: . ./activate.sh"
    assert project.left() == [".demo.env", ".venv"]


@pytest.mark.parametrize(
    ("script", "backend"),
    [
        pytest.param(GPU, "cuda12", id="a GPU"),
        pytest.param('echo "No devices were found"; exit 6', "cpu", id="no GPU"),
        pytest.param(f"{GPU}; exit 9", "cpu", id="it fails"),
        pytest.param(f"{GPU} >&2", "cpu", id="on standard error alone"),
        pytest.param("trap '' TERM INT HUP; sleep 60; sleep 60", "cpu", id="it hangs"),
    ],
)
def test_auto_asks_nvidia_smi_and_not_for_ever(shell, project, script, backend):
    command(project.bin / "nvidia-smi", f"#!/bin/sh\n{script}\n")

    exit_code, _, errors = project.run(shell, timeout_s=40)

    assert (exit_code, project.calls()[-1]) == (0, WRITE.format(backend)), errors


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--backend"], "--backend needs a value"),
        (["--backend", ""], "--backend needs a value"),
        (["--backend="], "--backend needs a value"),
        (["--backend", "tpu"], "--backend is 'tpu', expected auto, cpu, cuda12, cuda13, metal or rocm"),
        (["--extra"], "--extra needs a value"),
        (["--extra", "--recreate"], "--extra needs a value, not '--recreate'"),
        (["--extra=--recreate"], "--extra needs a value, not '--recreate'"),
        (["--python=-x"], "--python needs a value, not '-x'"),
        (["a\nb"], "unknown option 'a b'"),
        (["--extra", "a b"], "--extra is 'a b', expected the name of an extra"),
        (["--extra", "$(touch pwned)"], "--extra is '$(touch pwned)', expected the name of an extra"),
        (["--python", ""], "--python needs a value"),
        (["--bogus"], "unknown option '--bogus'"),
        (["x"], "unknown option 'x'"),
        ([""], "unknown option ''"),
        (["--"], "-- needs a command after it"),
    ],
)
def test_bad_usage_is_one_line(shell, project, arguments, problem):
    assert project.run(shell, *arguments) == (2, "", f"setup.sh: error: {problem}; see ./setup.sh --help\n")
    assert (project.calls(), project.left()) == ([], [])


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_is_printed_and_nothing_done(shell, project, option):
    exit_code, output, errors = project.run(shell, option)

    assert (exit_code, output.splitlines()[0], errors) == (0, "Usage: ./setup.sh [options] [-- COMMAND...]", "")
    assert (project.calls(), project.left()) == ([], [])


# ---- from everywhere ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cwd", "script"),
    [("", "setup.sh"), ("", "./setup.sh"), ("sub", "../setup.sh"), ("..", "p/setup.sh"), ("/", "ABSOLUTE")],
)
def test_it_works_on_its_own_project_from_everywhere(shell, project, cwd, script):
    (project.root / "sub").mkdir()
    script = script.replace("ABSOLUTE", str(project.root / "setup.sh"))

    exit_code, _, errors = project.run(
        shell, *CPU, script=script, cwd=project.root / cwd, CDPATH=f"{project.root.parent}:/"
    )

    assert (exit_code, (project.root / ".demo.env").exists()) == (0, True), errors
    next_step = errors.splitlines()[-1].removeprefix("setup.sh: done; next: . ")
    assert (project.root / cwd / next_step).resolve() == project.root / "activate.sh"


@pytest.mark.parametrize("name", ["w e'i\"r$(touch pwned)`touch pwned`;&\u00e9*[a]", "new\nline", "-dash"])
def test_any_name_of_a_directory_will_do(shell, tmp_path, name):
    project = Project(tmp_path, name)

    exit_code, _, errors = project.run(shell, *CPU, script=str(project.root / "setup.sh"), cwd="/tmp")

    assert (exit_code, project.left()) == (0, [".demo.env", ".venv"]), errors


def test_a_colon_in_the_path_is_refused(shell, tmp_path):
    project = Project(tmp_path, "a:b")

    exit_code, output, errors = project.run(shell, *CPU)

    assert (exit_code, output, project.left()) == (1, "", [])
    assert (
        errors
        == f"setup.sh: error: {project.root} has a colon in it, which PATH cannot hold: .venv/bin would not be found\n"
    )


def test_a_directory_without_a_project_is_refused(shell, project):
    (project.root / "pyproject.toml").unlink()

    assert project.run(shell, *CPU) == (
        1,
        "",
        f"setup.sh: error: no pyproject.toml in {project.root}; is root_from_here right in ./setup.sh?\n",
    )


def test_what_is_set_around_it_does_not_matter(shell, project):
    around = {"VIRTUAL_ENV": "/x", "UV_PROJECT_ENVIRONMENT": "/y", "IFS": ":", "POSIXLY_CORRECT": "1", "HOME": None}

    exit_code, _, errors = project.run(shell, *CPU, **around)

    assert (exit_code, project.calls()) == (0, [SYNC, WRITE.format("cpu")]), errors


# ---- what is there already ----------------------------------------------------------------------------------------


def with_venv(project):
    command(project.root / ".venv" / "pyvenv.cfg", "")
    command(project.root / ".venv" / "old", "")


def test_recreate_makes_the_venv_anew(shell, project):
    with_venv(project)

    assert project.run(shell, *CPU, "--recreate")[0] == 0
    assert not (project.root / ".venv" / "old").exists()
    assert project.left() == [".demo.env", ".venv"]


def test_without_recreate_the_venv_stays(shell, project):
    with_venv(project)

    assert project.run(shell, *CPU)[0] == 0
    assert (project.root / ".venv" / "old").exists()


def test_recreate_touches_no_directory_that_is_no_venv(shell, project):
    command(project.root / ".venv" / "precious", "")

    assert project.run(shell, *CPU, "--recreate")[0::2] == (
        1,
        f"setup.sh: project {project.root}, backend cpu\nsetup.sh: error: {project.root}/.venv is no virtual environment, so it "
        "is not deleted; move it away yourself\n",
    )
    assert ((project.root / ".venv" / "precious").exists(), project.left(), project.calls()) == (True, [".venv"], [])


def test_recreate_removes_a_link_and_not_what_it_leads_to(shell, project, tmp_path):
    command(tmp_path / "shared" / "keep", "")
    (project.root / ".venv").symlink_to(tmp_path / "shared")

    assert project.run(shell, *CPU, "--recreate")[0] == 0
    assert ((tmp_path / "shared" / "keep").exists(), (project.root / ".venv").is_symlink()) == (True, False)


def test_a_deletion_that_was_interrupted_is_finished(shell, project):
    command(project.root / ".venv.deleted" / "half", "")

    assert project.run(shell, *CPU)[0] == 0
    assert project.left() == [".demo.env", ".venv"]


def test_force_clean_makes_everything_anew(shell, project):
    with_venv(project)
    command(project.root / ".pytest_cache" / "x", "")
    command(project.root / ".demo.env", "old")

    assert project.run(shell, *CPU, "--force-clean")[0] == 0
    assert (project.left(), (project.root / ".demo.env").read_text()) == ([".demo.env", ".venv"], "written\n")


# ---- --dry-run ----------------------------------------------------------------------------------------------------


def test_a_dry_run_changes_nothing_and_prints_what_the_real_run_does(shell, project):
    with_venv(project)
    command(project.root / ".demo.env", "old")
    arguments = [*CPU, "--force-clean", "--extra", "x", "--python", "a b'c"]

    exit_code, output, errors = project.run(shell, *arguments, "--dry-run")

    assert (exit_code, errors) == (0, f"setup.sh: project {project.root}, backend cpu\n")
    assert (project.calls(), project.left(), (project.root / ".venv" / "old").exists()) == (
        [],
        [".demo.env", ".venv"],
        True,
    )
    done = run(["sh", "-eu", "-c", output], env=project.env, cwd="/")
    pasted = project.calls()
    project.log.write_text("")
    assert (done[0], project.run(shell, *arguments)[0]) == (0, 0)
    assert pasted == project.calls() == [f"{SYNC}--extra|x|--python|a b'c|", WRITE.format("cpu")]


def test_a_dry_run_shows_the_command_too(shell, project):
    _, output, _ = project.run(shell, *CPU, "--dry-run", "--", "pytest", "-k", "a b")

    assert output.splitlines()[-3:] == [f"cd {project.root}", ". ./activate.sh", "pytest -k 'a b'"]


def test_a_dry_run_needs_no_uv_and_says_where_it_would_come_from(shell, project):
    (project.bin / "uv").unlink()

    exit_code, output, _ = project.run(shell, *CPU, "--dry-run")

    assert (exit_code, project.left()) == (0, [])
    assert [shlex.split(line)[:3] for line in output.splitlines()[1:3]] == [
        ["python3", "-m", "venv"],
        [".setup-uv/bin/python", "-m", "pip"],
    ]


# ---- failures, interruptions, and two at once -----------------------------------------------------------------------


def test_a_sync_that_fails_ends_it_with_its_status(shell, project):
    exit_code, _, errors = project.run(shell, *CPU, UV_STATUS="3")

    assert (exit_code, project.calls(), project.left()) == (3, [SYNC], [".venv"])
    assert errors.splitlines()[-1] == (
        "setup.sh: error: status 3 from: env UV_PROJECT_ENVIRONMENT=.venv uv sync --extra dev --extra test"
    )


@pytest.mark.parametrize("option", [(), ("--recreate",)], ids=["", "recreate"])
def test_without_uv_and_python_it_says_so_and_deletes_nothing(shell, project, option):
    with_venv(project)
    tools = project.root.parent / "tools"
    tools.mkdir()
    for name in {"env", "uname", "mkdir", "rm", "rmdir", "mv", "cat", "sed", "printf", "tr", "find", SHELLS[shell][0]}:
        (tools / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))

    exit_code, _, errors = project.run(shell, *CPU, *option, PATH=str(tools))

    assert (exit_code, errors.splitlines()[-1], project.left()) == (
        1,
        "setup.sh: error: neither uv nor python3 is here; install one of them",
        [".venv"],
    )
    assert (project.root / ".venv" / "old").exists()


def test_a_file_in_the_place_of_the_lock_is_named(shell, project):
    (project.root / ".demo.env.lock").touch()

    exit_code, _, errors = project.run(shell, *CPU)

    assert (exit_code, errors.splitlines()[-1]) == (
        1,
        f"setup.sh: error: {project.root}/.demo.env.lock is in the way; move it elsewhere",
    )


@pytest.mark.parametrize("where", ["/nowhere", None], ids=["no directory for temporary files", "an interruption"])
def test_the_question_for_a_gpu_leaves_nothing_behind(shell, project, tmp_path, where):
    command(project.bin / "nvidia-smi", "#!/bin/sh\nsleep 60\n" if where is None else f"#!/bin/sh\n{GPU}\n")
    if where:
        exit_code, _, errors = project.run(shell, TMPDIR=where)
        assert (exit_code, "no file can be made in /nowhere" in errors, project.calls()) == (1, True, [])
        return
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = start(shell, project, TMPDIR=str(temporary))
    wait_until(lambda: os.listdir(temporary) != [])
    os.killpg(process.pid, signal.SIGINT)

    assert (process.wait(timeout=30), os.listdir(temporary), project.left()) == (130, [], [])


def start(shell, project, *arguments, **env):
    """Run setup.sh in a process group of its own, as a terminal does."""
    return subprocess.Popen(
        [*SHELLS[shell], "./setup.sh", *arguments],
        cwd=project.root,
        env=project.env | env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("name", "status"), [("SIGHUP", 129), ("SIGINT", 130), ("SIGTERM", 143)], ids=["HUP", "INT", "TERM"]
)
def test_a_signal_ends_it_with_the_old_state_and_no_lock(shell, project, name, status):
    command(project.root / ".demo.env", "old")
    process = start(shell, project, *CPU, UV_SLEEP="30")
    wait_until(lambda: SYNC in project.calls())
    # To the whole group, as a terminal sends it.
    os.killpg(process.pid, getattr(signal, name))

    assert process.wait(timeout=30) == status
    assert (project.left(), (project.root / ".demo.env").read_text()) == ([".demo.env"], "old")


def test_a_second_one_at_the_same_time_is_refused(shell, project):
    command(project.root / ".demo.env.lock" / "owner", f"{os.getpid()} {os.uname().nodename}\n")

    exit_code, _, errors = project.run(shell, *CPU)

    assert (exit_code, project.calls()) == (1, [])
    assert errors.splitlines()[-1] == (
        f"setup.sh: error: another setup.sh is at work here (process {os.getpid()}); if that is not so: rm -r "
        f"{project.root}/.demo.env.lock"
    )


@pytest.mark.parametrize(
    ("owner", "taken_over"),
    [
        pytest.param(f"4194400 {os.uname().nodename}\n", True, id="a dead owner"),
        pytest.param("4194400 elsewhere\n", False, id="an owner on another host"),
        pytest.param(None, False, id="no owner yet"),
        pytest.param("old", True, id="no owner for long"),
        pytest.param("old takeover", True, id="a takeover that was killed"),
    ],
)
def test_the_lock_of_a_dead_process_is_taken_over(shell, project, owner, taken_over):
    lock = project.root / ".demo.env.lock"
    lock.mkdir()
    if owner == "old takeover":
        (lock / "takeover").mkdir()
        (lock / "owner").write_text(f"4194400 {os.uname().nodename}\n")
        os.utime(lock / "takeover", (0, 0))
    elif owner == "old":
        os.utime(lock, (0, 0))
    elif owner:
        (lock / "owner").write_text(owner)

    exit_code, _, errors = project.run(shell, *CPU)

    assert (exit_code == 0, project.left() == [".demo.env", ".venv"]) == (taken_over, taken_over), errors


@pytest.mark.parametrize("stale", [False, True], ids=["no lock", "a dead owner's lock"])
def test_of_many_at_once_one_works(tmp_path, stale):
    for attempt in range(3):
        project = Project(tmp_path / str(attempt))
        if stale:
            command(project.root / ".demo.env.lock" / "owner", f"4194400 {os.uname().nodename}\n")
        processes = [
            subprocess.Popen(
                ["sh", "./setup.sh", *CPU],
                cwd=project.root,
                env=project.env | {"UV_SLEEP": "3"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for _ in range(6)
        ]

        assert sorted(process.wait(timeout=60) for process in processes) == [0, 1, 1, 1, 1, 1]
        assert project.left() == [".demo.env", ".venv"]
