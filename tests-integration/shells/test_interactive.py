"""Sourcing at a prompt: what is refused leaves the shell open, and errors of special builtins do not end it."""

import shutil

import pexpect
import pytest

from posix_shells import SHELLS, make_project
from programs import BARE

OPTIONS = {"bash": ["--norc", "--noprofile"], "zsh": ["+o", "zle"], "yash": ["--norcfile"]}


class Terminal:
    """A shell at a terminal, in `cwd`."""

    def __init__(self, shell: str, cwd: str) -> None:
        command = [*SHELLS[shell], *OPTIONS.get(SHELLS[shell][0], []), "-i"]
        env = BARE | {"TERM": "dumb", "PS1": "READY> ", "PS2": "", "LC_ALL": "C.UTF-8", "HOME": cwd}
        self.child = pexpect.spawn(command[0], command[1:], cwd=cwd, env=env, encoding="utf-8", timeout=30, echo=False)
        self.child.delaybeforesend = None
        self.count = 0
        # For root, some shells take another one than that of the environment.
        self.run("PS1='READY> '")

    def run(self, line: str) -> tuple[int, str]:
        """Status and output of `line`; a shell that has gone raises `pexpect.EOF`."""
        self.count += 1
        # Not as it will be printed, since some shells print what is typed.
        self.child.sendline(line)
        self.child.sendline(f"echo 'MARK'{self.count}:$?:")
        self.child.expect(rf"MARK{self.count}:(\d+):")
        return int(self.child.match[1]), self.child.before.replace("\r", "")

    def value(self, name: str) -> str:
        """What a process sees of the variable `name`."""
        self.count += 1
        self.child.sendline(f"sh -c 'echo \"MARK\"{self.count}:${{{name}-unset}}:'")
        self.child.expect(rf"MARK{self.count}:([^\r\n]*):")
        return self.child.match[1]


@pytest.fixture
def project(tmp_path, shell):
    return make_project(tmp_path / "p", shell)


@pytest.fixture
def terminal(project, shell):
    opened = Terminal(shell, str(project))
    yield opened
    opened.child.close(force=True)


def test_activate_and_deactivate_at_a_prompt(terminal, project):
    status, output = terminal.run(". ./activate.sh")
    during = terminal.value("JAX_PLATFORMS"), terminal.value("VIRTUAL_ENV")
    _, prompt = terminal.run('printf "%s\\n" "[$PS1]"')
    left = terminal.run("deactivate")[0]

    assert (status, during, left) == (0, ("cpu", f"{project}/.venv"), 0)
    assert f"DEMO environment active: backend cpu, root {project}" in output
    assert "(.venv) READY> ]" in prompt
    assert (terminal.value("JAX_PLATFORMS"), terminal.value("VIRTUAL_ENV")) == ("unset", "unset")
    assert "[READY> ]" in terminal.run('printf "%s\\n" "[$PS1]"')[1]


@pytest.mark.parametrize(
    "trouble",
    ["no venv", "no file", "damaged", "bad .env", "misread .env", "readonly", "readonly list"],
)
def test_what_is_refused_leaves_the_shell_open(terminal, project, trouble):
    file = project / ".demo.env"
    if trouble == "no venv":
        shutil.rmtree(project / ".venv")
    elif trouble == "no file":
        file.unlink()
    elif trouble == "damaged":
        file.write_text(file.read_text()[:-5])
    elif trouble == "bad .env":
        (project / ".env").write_text("if\n")
    elif trouble == "misread .env":
        (project / ".env").write_text("K=a b\n")
    elif trouble == "readonly":
        terminal.run("readonly JAX_PLATFORMS")
    else:
        terminal.run("readonly DEMO_MANAGED_ENV_VARS")

    status, output = terminal.run(". ./activate.sh")

    assert (status, "activate.sh: error: " in output) == (1, True), output
    assert (terminal.value("JAX_PLATFORMS"), terminal.value("TAG"), terminal.value("VIRTUAL_ENV")) == (("unset",) * 3)
    assert "42" in terminal.run("echo $((40 + 2))")[1].split()


def test_an_activation_at_a_prompt_where_unset_variables_are_errors(terminal):
    terminal.run("set -u")

    assert (terminal.run(". ./activate.sh")[0], terminal.value("JAX_PLATFORMS")) == (0, "cpu")
    assert (terminal.run("deactivate")[0], terminal.value("JAX_PLATFORMS")) == (0, "unset")
    assert "42" in terminal.run("echo $((40 + 2))")[1].split()


def test_a_deactivation_that_is_refused_leaves_the_shell_open(terminal, shell):
    if shell == "posh":
        pytest.skip("posh unsets a readonly variable with status 0")
    terminal.run(". ./activate.sh; readonly TAG")

    status, output = terminal.run("deactivate")

    assert (status, "a variable that it would give back has become readonly" in output) == (1, True)
    assert terminal.value("JAX_PLATFORMS") == "cpu"


def test_aliases_of_commands_do_not_matter(terminal, shell):
    if shell == "posh":
        pytest.skip("posh has no aliases")
    for name in ("cat", "readlink", "sh", "echo", "printf", "grep", "sed", "cd", "test"):
        terminal.run(f"alias {name}='echo aliased'")

    assert terminal.run(". ./activate.sh")[0] == 0
    assert terminal.run("case $JAX_PLATFORMS$TAG in cpuA) ;; *) false ;; esac")[0] == 0
    assert terminal.run("deactivate")[0] == 0
