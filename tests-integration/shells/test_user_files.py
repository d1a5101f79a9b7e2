"""`.env` and `.env.local`: what reaches Python, and what sh would not read as docker, python-dotenv and uv do."""

import os
import shutil

import pytest

from posix_shells import ACTIVE, AS_BEFORE, SHELLS, SHOW, make_project, quiet, run_in, without_set_e
from programs import BARE, run


def test_the_users_files_come_last_and_reach_python(shell, tmp_path):
    root = make_project(tmp_path / "p", shell)
    (root / ".env").write_text(
        'PLAIN=p\nQUOTED="a b"\nexport EXPORTED=e\nJAX_PLATFORMS=tpu\nREF=${PLAIN}x\nNOT=$MISSING.\n'
    )
    (root / ".env.local").write_text("PLAIN=local\n[ -n '' ]\n")
    code = """set -u; . ./activate.sh
python -c "import os; print(*(os.environ[n] for n in 'PLAIN QUOTED EXPORTED JAX_PLATFORMS REF NOT'.split()), sep='|')"
case $- in *a*) echo allexport ;; esac; case $- in *u*) echo nounset ;; esac
set -a; . ./activate.sh; case $- in *a*) echo allexport ;; esac"""

    assert run_in(shell, code, cwd=root) == (0, "local|a b|e|tpu|px|.\nnounset\nallexport\n", quiet(root) * 2)


@pytest.mark.parametrize("line", ["false", "VERSION=$(exit 3)", "return 3", "nowhere-to-be-found", "[ -n '' ]"])
def test_a_line_that_fails_in_the_users_files_does_not_end_the_caller(shell, tmp_path, line):
    without_set_e(shell)
    root = make_project(tmp_path / "p", shell)
    (root / ".env").write_text(f"A=1\n{line}\n")
    code = f"{SHOW}set -e; . ./activate.sh || echo handled; show $?; case $- in *e*) echo errexit ;; esac"

    exit_code, output, errors = run_in(shell, code, cwd=root)

    assert (exit_code, output, errors.splitlines()[-1]) == (0, f"{ACTIVE}errexit\n", quiet(root).rstrip())


NOT_ALL = (
    "the value of {} has a blank, a quote, a backslash or one of ( ; & | < > that is not within quotes, so sh would not "
    "take all of it; write {}={}"
)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        *(
            pytest.param(line, NOT_ALL.format(name, name, '"..."' if "'" in line else "'...'"), id=line)
            for name, line in [
                ("XLA_FLAGS", "XLA_FLAGS=--xla_a=1 --xla_b=2"),
                ("K", "K=a b"),
                ("K", "  export K=a b"),
                ("K", "K= a"),
                ("K", "K=A=1 B=2"),
                ("K", "\tK=a\tb"),
                ("K", 'K={"a": 1}'),
                ("K", 'K={"a":1}'),
                ("K", "K=it's"),
                ("K", "K=C:\\new"),
                ("K", "K=https://x/?a=1&b=2"),
                ("K", "K=a;b"),
                ("K", "K=a|b"),
                ("K", "K=a>b"),
                ("K", "K=x > pwned"),
                ("K", "K=a | cat"),
                ("K", "K=a & b"),
                ("K", "K=a&"),
                ("K", "K=a|"),
                ("K", "K=(a)"),
                ("K", "K=foo(bar)"),
                ("K", 'K="a" b'),
                ("K", 'K=a "b c"'),
                ("XLA_FLAGS", 'XLA_FLAGS="--xla_a=1" --xla_b=2'),
                ("K", "export\tK=a b"),
            ]
        ),
        pytest.param("K = v", "sh would run 'K'; write K=... without a blank before the equals sign", id="K = v"),
        *(
            pytest.param(
                f"{name}=1", f"'{name}' is no name of a variable, so sh would run the line; rename it", id=name
            )
            for name in ("A-B", "1A", "a.b", "\ufeffA", "\ufeffexport A", "")
        ),
        *(
            pytest.param(
                f"{name}=1",
                f"{name} is a variable of the shell itself, which cannot be set, or changes who you are; rename it",
                id=name,
            )
            for name in ("UID", "USERNAME", "status")
        ),
        pytest.param(
            "K=v\r",
            "it ends in a carriage return, or another control character, which sh keeps; save the file with LF line ends",
            id="CR",
        ),
    ],
)
def test_what_sh_would_run_or_misread_is_refused_by_its_line(shell, tmp_path, line, problem):
    if shell == "posh" and ("\t" in line or "\r" in line):
        pytest.skip("posh has no classes of characters in patterns, with which a tab and a carriage return are told")
    root = make_project(tmp_path / "p", shell)
    (root / ".env").write_text(f"# don't mind: K=a b\nA=1\n{line}\nB=2\n", newline="")

    assert run_in(shell, f'{SHOW}. ./activate.sh; show $?; echo "${{A-unset}}"', cwd=root) == (
        0,
        f"1 {AS_BEFORE}unset\n",
        f"activate.sh: error: {root}/.env, line 3: {problem}\n",
    )


def test_a_line_behind_a_value_of_several_lines_is_judged_again(shell, tmp_path):
    root = make_project(tmp_path / "p", shell)
    (root / ".env").write_text('A="x\n\\"y\nz"\nB=\'x\n"y\n\'\nK=a b\n')

    exit_code, _, errors = run_in(shell, ". ./activate.sh", cwd=root)

    assert (exit_code != 0, f"{root}/.env, line 7: the value of K has" in errors) == (True, True)


SHELL_ON_PURPOSE = """# it's a comment: K=a b
A=1
 B=2   # it's fine
export C=3;
D='a b' # x
E="multi
X=a b
end"
F=$(echo a b)
G=1; export G
H=1 && I=2
if [ "$A" = 1 ]; then
    J=5
fi
L=v#n
M=
N='https://x/?a=1&b=2'
case $A in
    1) O=1 ;;
esac
P="x"$A
Q="he said \\"hi\\"
X=a b
end" R='r' # and more
export\tS='s' T="t"
U='u
X=a b'
V=1; echo >/dev/null
( W=1 )
[ a = b ] || :
export Y Z"""


def test_what_sh_reads_as_it_is_meant_is_read(shell, tmp_path):
    root = make_project(tmp_path / "p", shell)
    text = SHELL_ON_PURPOSE
    if not shell.startswith("zsh"):
        # To zsh that is the path of a command.
        text = f"true == x\n{text}"
    # Without a line feed at the end.
    (root / ".env.local").write_text(text.replace("\t", " ") if shell == "posh" else text)
    names = "A B C D E F G H I J L M N O P Q R S T U V"
    code = f"""{SHOW}. ./activate.sh; show $?
python -c "import os; print(*(os.environ[name] for name in '{names}'.split()), sep='|')\""""

    assert run_in(shell, code, cwd=root) == (
        0,
        f"{ACTIVE}1|2|3|a b|multi\nX=a b\nend|a b|1|1|2|5|v#n||https://x/?a=1&b=2|1|x1|"
        'he said "hi"\nX=a b\nend|r|s|t|u\nX=a b|1\n',
        quiet(root),
    )


def test_a_check_starts_nothing_that_the_files_name(shell, tmp_path):
    root = make_project(tmp_path / "p", shell)
    (root / ".env").write_text("A=$(touch pwned)\nB=`touch pwned`\ntouch pwned\nK=a touch pwned\n")

    exit_code, _, errors = run_in(shell, ". ./activate.sh", cwd=root)

    assert (exit_code != 0, "line 4: the value of K" in errors, (root / "pwned").exists()) == (True, True, False)


SEEN = """seen() { sh -c 'echo "${JAX_NUM_CPU_DEVICES-unset} ${LIST-unset} ${OWN-unset} ${LOCAL-unset} ${UNEXPORTED-unset}"'; }
UNEXPORTED=mine
"""
OF_A = "JAX_NUM_CPU_DEVICES=4\nexport LIST=a:$LIST\nOWN=\n  UNEXPORTED=a\n"


def test_what_they_assign_to_comes_back(shell, tmp_path):
    root = make_project(tmp_path / "p", shell)
    (root / ".env").write_text(OF_A)
    (root / ".env.local").write_text("LOCAL='x y' OWN=z\nLOCAL=2\n")
    env = {"LIST": "before", "OWN": "1"}
    code = f'{SEEN}. ./activate.sh; seen; . ./activate.sh; seen; deactivate; seen; echo "$UNEXPORTED"'

    assert run_in(shell, code, cwd=root, env=env) == (
        0,
        "4 a:before z 2 a\n" * 2 + "unset before 1 unset unset\nmine\n",
        quiet(root) * 2,
    )


def test_those_of_one_project_do_not_reach_the_next(shell, tmp_path):
    first, second = make_project(tmp_path / "a", shell), make_project(tmp_path / "b", shell, prefix="OTHER")
    (first / ".env").write_text(OF_A)
    code = f"{SEEN}. {first}/activate.sh; . {second}/activate.sh; seen; deactivate; seen"

    assert run_in(shell, code, cwd=first, env={"LIST": "before"})[:2] == (0, "unset before unset unset unset\n" * 2)


def test_a_readonly_variable_of_theirs_is_refused(shell, tmp_path):
    if shell == "posh":
        pytest.skip("posh unsets a readonly variable with status 0")
    root = make_project(tmp_path / "p", shell)
    (root / ".env").write_text("A=1\nMINE=2\n")

    assert run_in(shell, f'{SHOW}readonly MINE=1; . ./activate.sh; show $?; echo "${{A-unset}}"', cwd=root) == (
        0,
        f"1 {AS_BEFORE}unset\n",
        f"activate.sh: error: {root}/.env or .env.local sets a variable that is readonly here; use a new shell\n",
    )


def test_a_file_that_cannot_be_read_is_refused(shell, tmp_path):
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("for root every file can be read, and there is no setpriv to be somebody else")
    if shell == "busybox" and os.geteuid() == 0:
        pytest.skip("busybox takes it that root can read every file")
    root = make_project(tmp_path / "p", shell)
    (root / ".env").write_text("A=1\n")
    (root / ".env").chmod(0)
    (root / "script").write_text(f"{SHOW}. ./activate.sh; show $?\n")
    command = [*SHELLS[shell], "script"]
    if os.geteuid() == 0:
        # Root without the right to pass over modes.
        capabilities = "-dac_override,-dac_read_search"
        command = ["setpriv", f"--bounding-set={capabilities}", f"--inh-caps={capabilities}", *command]

    done = run(command, cwd=root, env=BARE)
    if done[2].startswith("setpriv: "):
        pytest.skip("root may not give up its own rights here")

    assert done == (
        0,
        f"1 {AS_BEFORE}",
        f"activate.sh: error: {root}/.env cannot be read; give yourself the right to read it, or remove it\n",
    )


@pytest.mark.parametrize("kind", ["a pipe", "a link to nothing", "a directory", "/dev/null"])
def test_what_is_no_file_is_refused_if_somebody_may_have_meant_it_as_one(shell, tmp_path, kind):
    root = make_project(tmp_path / "p", shell)
    if kind == "a pipe":
        os.mkfifo(root / ".env")
    elif kind == "a directory":
        # As some name their virtual environment.
        (root / ".env").mkdir()
    else:
        (root / ".env").symlink_to("/dev/null" if kind == "/dev/null" else "nowhere")
    problem = ".env is a pipe, or a link to what is not there; put a file in its place, or remove it"
    refused = (0, f"1 {AS_BEFORE}", f"activate.sh: error: {root}/{problem}\n")

    assert run_in(shell, f"{SHOW}. ./activate.sh; show $?", cwd=root) == (
        refused if kind in ("a pipe", "a link to nothing") else (0, ACTIVE, quiet(root))
    )


def test_a_long_value_is_read(shell, tmp_path):
    root = make_project(tmp_path / "p", shell)
    (root / ".env").write_text(f"K={'a' * 100_000}\n")
    code = f'{SHOW}. ./activate.sh; show $?; echo "${{#K}}"'

    # Where shortening a word is quadratic this takes up to a minute, which is longer than run_in waits.
    assert run_in(shell, code, cwd=root)[:2] == (0, f"{ACTIVE}100000\n")
