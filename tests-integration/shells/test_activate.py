"""`. ./activate.sh` and `deactivate`, in every shell, as their users do them."""

import os
import re
import shutil

import pytest

from substrax_managed_env._environment import _RESERVED, _RESERVED_BEGINNINGS
from substrax_managed_env._vendor import installed, with_settings

from posix_shells import (
    ACTIVE,
    AS_BEFORE,
    SHELLS,
    SHOW,
    make_project,
    make_venv,
    quiet,
    require,
    run_in,
    without_set_e,
)
from programs import BARE, ROOT, run

# ---- from everywhere ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(". ./activate.sh; show $?", id="in the project"),
        pytest.param("f() { . ./activate.sh; }; f argument; show $?", id="in a function"),
        pytest.param("( . ./activate.sh; show $? )", id="in a subshell"),
        pytest.param("IFS=:; . ./activate.sh; show $?", id="IFS of its own"),
        pytest.param("IFS=_; . ./activate.sh; show $?", id="IFS that splits names"),
        pytest.param("unset IFS; . ./activate.sh; show $?", id="no IFS"),
        pytest.param("CDPATH=/tmp:/; export CDPATH; . ./activate.sh; show $?", id="CDPATH"),
        pytest.param("cd() { echo CD; }; . ./activate.sh; show $?", id="a cd function"),
        pytest.param("unset HOME; . ./activate.sh; show $?", id="no HOME"),
        *(
            pytest.param(f"set {option}; . ./activate.sh; show $?", id=f"set {option}")
            for option in ("-u", "-f", "-C", "-a")
        ),
    ],
)
def test_it_activates(shell, a, code):
    assert run_in(shell, SHOW + code, cwd=a) == (0, ACTIVE, quiet(a))


@pytest.mark.parametrize("options", ["-e", "-eu", "-eufC"])
def test_it_activates_where_no_command_may_fail(shell, a, options):
    without_set_e(shell)

    code = f"set {options}; . ./activate.sh; show $?; deactivate; show $?"

    assert run_in(shell, SHOW + code, cwd=a) == (0, f"{ACTIVE}0 {AS_BEFORE}", quiet(a))


@pytest.mark.parametrize(
    ("where", "how"),
    [("b", "../a/activate.sh"), ("b", "$A/activate.sh"), ("/", "$A/activate.sh"), ("a/.venv", "../activate.sh")],
)
@pytest.mark.parametrize("call", [". PATH", "f() { . PATH; }; f", "( . PATH; show $? ); exit"])
def test_it_finds_its_project_by_its_own_path(shell, a, where, how, call, tmp_path):
    code = f'{SHOW}cd "{a.parent / where}"; A="{a}"; {call.replace("PATH", chr(34) + how + chr(34))}; show $?'

    exit_code, output, errors = run_in(shell, code, cwd=tmp_path)

    root = a if "../a" not in how else f"{a.parent}/b/../a"
    assert (exit_code, output) == (0, ACTIVE)
    assert errors.startswith("DEMO environment active: backend cpu, root ")
    assert os.path.samefile(errors.removeprefix("DEMO environment active: backend cpu, root ").rstrip("\n"), root)


def test_it_finds_a_project_root_that_is_elsewhere(shell, tmp_path):
    root = make_project(tmp_path / "p", shell)
    (root / "tools" / "shell").mkdir(parents=True)
    script = root / "tools" / "shell" / "activate.sh"
    script.write_text(
        with_settings(installed("activate.sh"), {"prefix": "DEMO", "env_file": ".demo.env", "root_from_here": "../.."})
    )
    (root / "activate.sh").unlink()

    for where, how in [
        (root, "tools/shell/activate.sh"),
        (root / "tools", "shell/activate.sh"),
        (root / ".venv", "../tools/shell/activate.sh"),
        (root / "tools/shell", "./activate.sh"),
    ]:
        assert run_in(shell, f"{SHOW}. {how}; show $?", cwd=where) == (0, ACTIVE, quiet(root)), how


STRANGE = "w e'i\"r$(touch pwned)`touch pwned`;&\u00e9*[a]"


@pytest.mark.parametrize(
    "name",
    [STRANGE, "new\nline", "end\n", "-dash", "a b"],
    ids=["strange", "line feed", "ends in one", "dash", "blank"],
)
@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_any_name_of_a_directory_will_do(shell, tmp_path, name, locale):
    if shell == "yash" and name == STRANGE:
        pytest.skip("the venv of the standard library, which yash needs, executes $(...) in its path (CVE-2024-9287)")
    root = make_project(tmp_path / name, shell)

    exit_code, output, errors = run_in(
        shell,
        f'{SHOW}. "$A/activate.sh"; show $?; printf "%s\n" "$VIRTUAL_ENV" >&2',
        cwd="/tmp",
        env={"A": str(root), "LC_ALL": locale},
    )

    assert (exit_code, output) == (0, ACTIVE), errors
    assert errors == f"{quiet(root)}{root}/.venv\n"
    assert not [path for place in (tmp_path, root, "/tmp") for path in os.listdir(place) if path == "pwned"]


def test_a_symbolic_link_to_a_checkout_is_a_checkout(shell, a, tmp_path):
    if shell == "posh":
        pytest.skip("posh has no `-ef`, with which two paths of one directory are told to be the same")
    (tmp_path / "link").symlink_to(a)

    exit_code, output, _ = run_in(shell, f"{SHOW}. {tmp_path}/link/activate.sh; show $?", cwd=tmp_path)

    assert (exit_code, output) == (0, ACTIVE)


def test_a_checkout_that_cannot_be_written_activates(shell, tmp_path):
    root = make_project(tmp_path / "p", shell)
    root.chmod(0o555)

    assert run_in(shell, f"{SHOW}. ./activate.sh; show $?", cwd=root) == (0, ACTIVE, quiet(root))


# ---- what stays as it was -----------------------------------------------------------------------------------------


def test_arguments_directory_and_standard_output_stay(shell, a):
    code = (
        'set -- 1 "2 3" 4; v=$(. ./activate.sh 2>/dev/null; echo 42); . ./activate.sh 2>/dev/null; echo "$v $#:$2 $PWD"'
    )

    assert run_in(shell, code, cwd=a) == (0, f"42 3:2 3 {a}\n", "")


def test_options_and_traps_stay(shell, a, tmp_path):
    # In the shell itself and not in $(...), where most shells have no traps to show.
    state = "{ set +o; trap; printf '%s.' \"$IFS\"; }"
    code = f"""set -fC; trap 'echo bye' USR1
{state} >|{tmp_path}/before; . ./activate.sh 2>/dev/null; {state} >|{tmp_path}/during; deactivate; {state} >|{tmp_path}/after"""

    assert run_in(shell, code, cwd=a) == (0, "", "")
    before, during, after = ((tmp_path / when).read_text() for when in ("before", "during", "after"))
    assert "echo bye" in before
    assert before == during == after


NAMES = "set | LC_ALL=C sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p' | sort -u"
# What shells change by themselves, and what the venv's script leaves behind (PS1, hashed by uv).
OF_THE_SHELL = {
    "_",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_LINENO",
    "BASH_SOURCE",
    "FUNCNAME",
    "KSH_MATCH",
    "LINENO",
    "PIPESTATUS",
    "PS1",
    "RANDOM",
    "SECONDS",
    "before",
    "during",
    "f",
    "_AST_FEATURES",
}
DOCUMENTED = {
    "DEMO_BACKEND", "DEMO_ENV_ROOT", "DEMO_MANAGED_ENV_VARS", "JAX_PLATFORMS", "JAX_ENABLE_X64", "TAG",
    "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "_OLD_VIRTUAL_PATH", "_OLD_VIRTUAL_PS1", "_SUBSTRAX_SAVED",
}  # fmt: skip


FUNCTIONS = re.findall(r"^(_substrax_\w+)\(\)", (ROOT / "shell" / "activate.sh").read_text(), re.MULTILINE)


@pytest.mark.parametrize("times", [1, 2])
def test_nothing_is_left_but_what_is_documented(shell, a, times):
    helpers = f"for f in {' '.join(FUNCTIONS)}; do command -v $f; done; command -v deactivate"
    code = f"""before=x during=x
{NAMES} >before.names; {". ./activate.sh; " * times}{NAMES} >during.names; {helpers}; echo --; deactivate; {NAMES} >after.names
{helpers}; :"""
    exit_code, output, _ = run_in(shell, code, cwd=a)
    before, during, after = (
        {*(a / f"{when}.names").read_text().split()} - OF_THE_SHELL for when in ("before", "during", "after")
    )

    assert (exit_code, output.split()) == (
        0,
        ["_substrax_put_back", "deactivate", "--"],
    )
    assert during - before <= DOCUMENTED
    assert after - before == set()


# ---- twice, and in turn -------------------------------------------------------------------------------------------


def test_activating_twice_is_activating_once(shell, a):
    code = (
        SHOW
        + 'p=$PATH; . ./activate.sh; . ./activate.sh; show $?; deactivate; show $?; [ "$PATH" = "$p" ] && echo same'
    )

    assert run_in(shell, code, cwd=a) == (0, f"{ACTIVE}0 {AS_BEFORE}same\n", quiet(a) * 2)


def test_one_project_after_the_other_leaves_nothing_of_the_first(shell, a, b):
    code = f"""{SHOW}export JAX_PLATFORMS=mine; p=$PATH
. ./activate.sh; . {b}/activate.sh; echo "$OTHER_BACKEND"; show $?
. ./activate.sh; echo "${{OTHER_BACKEND-unset}}"; show $?
deactivate; show $?; [ "$PATH" = "$p" ] && echo same"""

    assert run_in(shell, code, cwd=a) == (
        0,
        "cpu\n0 backend=unset platforms=cpu tag=B venv=yes\n"
        f"unset\n{ACTIVE}0 backend=unset platforms=mine tag=unset venv=\nsame\n",
        quiet(a) + quiet(b, "OTHER") + quiet(a),
    )


def test_a_variable_that_is_no_longer_managed_goes(shell, tmp_path):
    root = make_project(tmp_path / "p", shell)
    code = f"""{SHOW}. ./activate.sh; show $?
sed -e "s/ TAG'/'/" -e '/^export TAG/d' .demo.env >new; mv new .demo.env
. ./activate.sh; show $?"""

    assert run_in(shell, code, cwd=root) == (0, ACTIVE + ACTIVE.replace("tag=A", "tag=unset"), quiet(root) * 2)


def test_a_list_inherited_from_a_parent_shell_is_unset(shell, a):
    env = {"DEMO_MANAGED_ENV_VARS": "DEMO_BACKEND GONE", "GONE": "1", "DEMO_BACKEND": "old"}

    assert run_in(shell, f'{SHOW}. ./activate.sh; show $?; echo "${{GONE-unset}}"', cwd=a, env=env) == (
        0,
        f"{ACTIVE}unset\n",
        quiet(a),
    )


# ---- deactivate ---------------------------------------------------------------------------------------------------


def test_deactivate_gives_everything_back(shell, a):
    value = "a b'c\"\\d$x\n"
    code = f"""{SHOW}unset XLA_CLIENT_MEM_FRACTION; TAG=unexported
. ./activate.sh; . ./activate.sh; deactivate; show $?
[ "$JAX_PLATFORMS" = "$V" ] && echo same; echo "${{XLA_CLIENT_MEM_FRACTION-unset}}"
sh -c 'echo "${{JAX_ENABLE_X64-unset}} ${{TAG-unset}}"'"""
    env = {"JAX_PLATFORMS": value, "V": value, "JAX_ENABLE_X64": "1"}

    exit_code, output, errors = run_in(shell, code, cwd=a, env=env)

    assert (exit_code, errors) == (0, quiet(a) * 2)
    assert output == f"0 backend=unset platforms={value} tag=unexported venv=\nsame\nunset\n1 unset\n"


def test_deactivate_works_without_the_venv(shell, tmp_path):
    root = make_project(tmp_path / "p", shell)
    code = f"""{SHOW}p=$PATH; . ./activate.sh; rm -rf .venv; deactivate; show $?; [ "$PATH" = "$p" ] && echo same
echo "$PYTHONHOME ${{_OLD_VIRTUAL_PYTHONHOME-unset}}\""""

    assert run_in(shell, code, cwd=root, env={"PYTHONHOME": "/x"}) == (
        0,
        f"0 {AS_BEFORE}same\n/x unset\n",
        quiet(root),
    )


# ---- refused, with nothing changed --------------------------------------------------------------------------------


def spoil(path, way):
    file = path / ".demo.env"
    text = file.read_text()
    if way == "no venv":
        shutil.rmtree(path / ".venv")
    elif way == "no python":
        (path / ".venv/bin/python").unlink()
    elif way == "no file":
        file.unlink()
    elif way == "empty":
        file.write_text("")
    elif way == "cut in a value":
        file.write_text(text[:-5])
    elif way == "cut after a line":
        file.write_text(text[: text.rindex("export TAG")])
    elif way == "CRLF":
        file.write_bytes(text.replace("\n", "\r\n").encode())
    elif way == "no list":
        file.write_text(text.replace("DEMO_MANAGED_ENV_VARS", "X_MANAGED_ENV_VARS"))
    elif way == "a list that names PATH":
        file.write_text(text.replace(" TAG'", " TAG PATH'"))
    elif way == "copied":
        other = path.with_name("copy")
        shutil.copytree(path, other, symlinks=True)
        return other
    elif way == "copied, with a venv of its own":
        other = path.with_name("copy")
        shutil.copytree(path, other, symlinks=True, ignore=shutil.ignore_patterns(".venv"))
        make_venv(other, by="venv")
        return other
    elif way == "moved":
        path.rename(path.with_name("moved"))
        return path.with_name("moved")
    elif way == "bad .env":
        (path / ".env").write_text('A=1\nB="open\n')
    elif way == "bad .env.local":
        (path / ".env.local").write_text("A=1\nif\n")
    return path


DAMAGED = (
    "cannot be loaded: it is damaged, or a variable that it or .venv sets is readonly here; run setup.sh again, or use a new "
    "shell"
)


@pytest.mark.parametrize(
    ("way", "problem"),
    [
        ("no venv", "no working virtual environment in {root}/.venv; run setup.sh first"),
        ("no python", "no working virtual environment in {root}/.venv; run setup.sh first"),
        ("no file", "{root}/.demo.env is missing; run setup.sh first"),
        *(
            (way, f"{{root}}/.demo.env {DAMAGED}")
            for way in ("empty", "cut in a value", "cut after a line", "CRLF", "no list", "a list that names PATH")
        ),
        ("copied", "this checkout was moved or copied: its .venv is another one's; run setup.sh --recreate"),
        ("moved", "this checkout was moved or copied: its .venv is another one's; run setup.sh --recreate"),
        (
            "copied, with a venv of its own",
            "this checkout was moved or copied: .demo.env is another one's; run setup.sh again",
        ),
        ("bad .env", "{root}/.env is not valid in this shell; sh -n .env says where"),
        ("bad .env.local", "{root}/.env.local is not valid in this shell; sh -n .env.local says where"),
    ],
)
def test_what_is_not_in_order_is_refused_and_nothing_changes(shell, tmp_path, way, problem):
    root = spoil(make_project(tmp_path / "p", shell), way)
    code = f'{SHOW}p=$PATH; . ./activate.sh; show $?; [ "$PATH" = "$p" ] && echo same'

    assert run_in(shell, code, cwd=root) == (
        0,
        f"1 {AS_BEFORE}same\n",
        f"activate.sh: error: {problem.format(root=root)}\n",
    )


@pytest.mark.parametrize("name", ["JAX_PLATFORMS", "TAG", "DEMO_MANAGED_ENV_VARS", "PATH", "VIRTUAL_ENV", "PS1"])
def test_a_readonly_variable_in_the_way_is_refused(shell, a, name):
    code = f'{SHOW}readonly {name}; p=$PATH; . ./activate.sh; echo $?; [ "$PATH" = "$p" ] && echo same; unset -f show'

    exit_code, output, errors = run_in(shell, code, cwd=a)

    # yash tries .venv's script first, and takes its failure for one of those that it cannot read.
    expected = f"activate.sh: error: {a}/.demo.env {DAMAGED}\n"
    assert (exit_code, output, errors) == (0, "1\nsame\n", errors if shell == "yash" else expected)


def test_what_has_become_readonly_since_is_refused(shell, a, b):
    if shell == "posh":
        pytest.skip("posh unsets a readonly variable with status 0")
    code = f"{SHOW}. ./activate.sh; readonly DEMO_BACKEND; . {b}/activate.sh; show $?; deactivate; show $?"

    exit_code, output, errors = run_in(shell, code, cwd=a)

    assert (exit_code, output) == (0, ACTIVE.replace("0", "1", 1) * 2)
    assert errors.splitlines()[1:] == [
        f"activate.sh: error: {b}/.other.env {DAMAGED}",
        "deactivate: error: a variable that it would give back has become readonly; leave this shell",
    ]


def test_a_variable_of_another_kind_is_replaced(shell, a):
    """An array or an integer of that name would make something else of the value."""
    code = """. ./activate.sh; sh -c 'echo "$JAX_PLATFORMS $TAG"'"""
    kinds = {"bash": "declare -a JAX_PLATFORMS; declare -i TAG=3", "zsh": "typeset -i TAG=3"}
    kind = kinds.get(shell.split()[0], "typeset -i TAG=3" if shell in ("ksh93", "mksh") else "JAX_PLATFORMS=x TAG=3")

    assert run_in(shell, f"{kind}; {code}", cwd=a) == (0, "cpu A\n", quiet(a))


def test_functions_of_the_names_that_are_unset_stay(shell, a):
    if shell == "posh":
        pytest.skip("posh takes a function away with `unset -v`")
    code = "ll() { echo fn; }; . ./activate.sh; ll; deactivate; ll"

    assert run_in(shell, code, cwd=a, env={"DEMO_MANAGED_ENV_VARS": "ll"}) == (0, "fn\nfn\n", quiet(a))


@pytest.mark.parametrize("kind", ["function", "alias", "neither"])
def test_a_basename_of_the_users_stays_and_another_does_not(shell, a, kind):
    if shell == "posh" and kind != "neither":
        pytest.skip("posh has no aliases, and loses functions when the venv's own script is deactivated")
    own = {"function": "basename() { echo mine; }", "alias": "alias basename='echo mine'", "neither": ":"}[kind]
    # In eval, so that an alias is one for it.
    asked = "eval 'basename /x/y'"
    expected = run_in(shell, f"{own}\n{asked}\n{asked}", cwd=a)[1]

    exit_code, output, errors = run_in(shell, f"{own}\n. ./activate.sh; {asked}; deactivate; {asked}", cwd=a)

    assert (exit_code, output, errors) == (0, expected, quiet(a))


def test_a_refused_activation_leaves_the_one_before_it(shell, a, tmp_path):
    broken = spoil(make_project(tmp_path / "p", shell), "copied")
    code = f"{SHOW}. ./activate.sh; . {broken}/activate.sh; show $?; deactivate; show $?"

    exit_code, output, _ = run_in(shell, code, cwd=a)

    assert (exit_code, output) == (0, f"{ACTIVE.replace('0', '1', 1)}0 {AS_BEFORE}")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(". ./activate.sh && echo RAN; echo end", (0, "end\n"), id="&& stops"),
        pytest.param(
            "set -e; . ./activate.sh || echo handled; echo end", (0, "handled\nend\n"), id="|| goes on under set -e"
        ),
        pytest.param("set -e; if . ./activate.sh; then echo RAN; else echo no; fi", (0, "no\n"), id="if under set -e"),
        pytest.param("set -e; . ./activate.sh; echo SURVIVED", (1, ""), id="alone it ends a script under set -e"),
    ],
)
def test_a_refusal_is_one_to_scripts(shell, tmp_path, code, expected):
    root = spoil(make_project(tmp_path / "p", shell), "no file")

    assert run_in(shell, code, cwd=root)[:2] == expected


@pytest.mark.parametrize("how", ["activate.sh", "./activate.sh", "ABSOLUTE"])
def test_executing_it_is_refused(shell, a, how):
    command = [*SHELLS[shell], how.replace("ABSOLUTE", f"{a}/activate.sh")]
    exit_code, output, errors = run(command, cwd=a, env=BARE)

    assert (exit_code, output) == (2, "")
    assert errors.startswith("activate.sh: error: source it instead, so that it can change this shell: . ")


CANNOT_TELL = (
    "activate.sh: error: this shell cannot tell where activate.sh is; use bash, zsh or ksh93, keep the name of the file, "
    "and cd anew if directories were renamed\n"
)


@pytest.mark.parametrize("where", ["/", "b"])
def test_where_a_shell_cannot_know_the_file_it_says_so(shell, a, b, where):
    """Without /proc, which an own mount namespace takes away, some shells have no way to tell."""
    place = "/" if where == "/" else b
    script = f"mount -t tmpfs none /proc && cd {place} && exec {' '.join(SHELLS[shell])} -c '{SHOW}. {a}/activate.sh; show $?'"
    exit_code, output, errors = run(["unshare", "-m", "sh", "-c", script], cwd=a, env=BARE)
    if "unshare failed" in errors or "permission denied" in errors:
        pytest.skip("an own mount namespace needs privileges that this process does not have")

    known = shell.startswith(("bash", "zsh", "ksh93"))
    assert (exit_code, output, errors) == ((0, ACTIVE, quiet(a)) if known else (0, f"1 {AS_BEFORE}", CANNOT_TELL))


def test_a_directory_that_was_renamed_under_the_shell_is_not_another_one(shell, tmp_path):
    if shell == "ksh93":
        pytest.skip("ksh93 gives the file's name as its own idea of the current directory makes it")
    # Two that are each in order at the path x.
    for name in ("later", "x"):
        make_project(tmp_path / "x", shell, tag=name).rename(tmp_path / name)
    code = f"{SHOW}cd {tmp_path}/x; mv ../x ../old; mv ../later ../x; . ./activate.sh; show $?"

    exit_code, output, errors = run_in(shell, code, cwd=tmp_path)

    assert (exit_code, output) == (0, f"1 {AS_BEFORE}")
    assert "cd anew if directories were renamed" in errors or "this checkout was moved or copied" in errors


def test_a_link_to_the_file_does_not_make_its_directory_a_project(shell, a, tmp_path):
    (tmp_path / "activate.sh").symlink_to(a / "activate.sh")

    assert run_in(shell, f"{SHOW}. {a}/activate.sh; show $?", cwd=tmp_path) == (0, ACTIVE, quiet(a))


@pytest.mark.parametrize("prefix", ["", "demo", "A-B", "1A", "A}; touch pwned; : ${A", "DEMO\r"])
def test_a_prefix_that_is_none_is_refused(shell, tmp_path, prefix):
    root = make_project(tmp_path / "p", shell)
    text = (root / "activate.sh").read_text()
    (root / "activate.sh").write_text(text.replace("prefix=DEMO", f"prefix='{prefix}'"), newline="")

    exit_code, output, errors = run_in(shell, f"{SHOW}. ./activate.sh; show $?", cwd=root)

    assert (exit_code, output) == (0, f"1 {AS_BEFORE}")
    assert errors == (
        f"activate.sh: error: the settings of activate.sh say that prefix is '{prefix}', expected an upper-case name such as "
        "DATARAX\n"
    )
    assert not (root / "pwned").exists()


def test_a_copy_of_another_name_is_refused_and_no_other_checkout_taken(shell, a, b):
    shutil.copy(a / "activate.sh", a / "env.sh")

    assert run_in(shell, f"{SHOW}. {a}/env.sh; show $?", cwd=b) == (0, f"1 {AS_BEFORE}", CANNOT_TELL)


def test_a_script_of_the_same_name_can_source_it(shell, a, tmp_path):
    if shell == "posh":
        pytest.skip("posh has no `-ef`, with which the two files of one name are told apart")
    (tmp_path / "activate.sh").write_text(f"{SHOW}. {a}/activate.sh; show $?\n")

    assert run([*SHELLS[shell], "activate.sh"], cwd=tmp_path, env=BARE) == (0, ACTIVE, quiet(a))


# ---- nothing is executed ------------------------------------------------------------------------------------------

HOSTILE = (
    "PATH HOME IFS x[$(touch${IFS}pwned)] $(touch${IFS}pwned) `id` -f * ? 1A A-B A=B ;touch${IFS}pwned \u00e9 \n \t  "
    "path status"
)


def test_a_hostile_list_is_neither_executed_nor_obeyed(shell, a):
    code = f'{SHOW}x=1; . ./activate.sh; show $?; [ -n "$HOME" ] && command -v ls >/dev/null && echo alive'

    exit_code, output, _ = run_in(shell, code, cwd=a, env={"DEMO_MANAGED_ENV_VARS": HOSTILE})

    assert (exit_code, output) == (0, f"{ACTIVE}alive\n")
    assert not (a / "pwned").exists()


@pytest.mark.parametrize(
    "trap",
    [
        "trap 'echo \"A;touch pwned;B\"' DEBUG",
        "trap 'echo running' DEBUG",
        "set -T; trap 'echo \"+ $BASH_COMMAND\"' DEBUG",
        "set -ET; trap 'echo RETURNED' RETURN",
        "BASH_XTRACEFD=1; set -x",
    ],
)
@pytest.mark.parametrize("family", ["bash", "zsh"])
@pytest.mark.parametrize("root_from_here", [".", "./sub/.."])
def test_what_traps_and_traces_print_is_nobodys_answer(tmp_path, family, trap, root_from_here):
    require(family)
    if family == "zsh" and ("RETURN" in trap or "BASH" in trap):
        pytest.skip("zsh has no such trap or variable")
    root = make_project(tmp_path / "p", root_from_here=root_from_here)
    (root / "sub").mkdir()
    end = "{ trap - DEBUG RETURN; set +xTE; } 2>/dev/null" if family == "bash" else "trap - DEBUG"
    code = f"""{SHOW}export JAX_PLATFORMS=mine; {trap}
. ./activate.sh >/dev/null; {end} >/dev/null; show $?; deactivate; show $?"""

    exit_code, output, errors = run_in(family, code, cwd=root)

    assert (exit_code, output.splitlines()[-2:]) == (
        0,
        [ACTIVE.rstrip(), f"0 {AS_BEFORE.rstrip().replace('platforms=unset', 'platforms=mine')}"],
    ), errors
    assert not (root / "pwned").exists()


def test_an_answer_that_a_function_has_changed_is_not_executed(shell, a):
    code = f"""{SHOW}echo() {{
    case $1 in names*) command printf '%s;touch pwned\\n' "$*" ;; *) command printf '%s\\n' "$*" ;; esac
}}
. ./activate.sh; result=$?; unset -f echo; show $result"""

    exit_code, output, _ = run_in(shell, code, cwd=a)

    assert (exit_code, output) == (0, f"1 {AS_BEFORE}")
    assert not (a / "pwned").exists()


EVIL = "$(touch pwned)`touch pwned`';touch pwned;'\"$(touch pwned)\"\\"


def test_hostile_values_are_values(shell, tmp_path):
    """In the environment before, in the environment file as `--set` writes it, and around an activation and its end."""
    root = make_project(tmp_path / "p", shell, extra={"SET": EVIL})
    env = {"JAX_PLATFORMS": EVIL, "SET": EVIL + "2", "PATH": BARE["PATH"], "OTHER": EVIL}
    code = """. ./activate.sh; . ./activate.sh; python -c 'import os; print(os.environ["SET"])'
deactivate; sh -c 'printf "%s\n" "$JAX_PLATFORMS" "$SET" "$OTHER" "$PATH" "$HOME"'"""

    assert run_in(shell, code, cwd=root, env=env) == (
        0,
        "".join(f"{value}\n" for value in (EVIL, EVIL, EVIL + "2", EVIL, BARE["PATH"], BARE["HOME"])),
        quiet(root) * 2,
    )
    assert not (root / "pwned").exists()


@pytest.mark.parametrize(
    "env",
    [
        {"_SUBSTRAX_SAVED": "PATH HOME JAX_PLATFORMS", "_SUBSTRAX_OLD_PATH": "/evil", "_SUBSTRAX_OLD_HOME": "/evil"},
        {"_SUBSTRAX_SAVED": f"x[{EVIL}] {EVIL}", "x": "1"},
        {"_SUBSTRAX_OLD_JAX_PLATFORMS": "evil", "_SUBSTRAX_OLD_TAG": EVIL, "_SUBSTRAX_EXPORTED": f"TAG {EVIL}"},
    ],
    ids=["names of others", "code", "values that nobody saved"],
)
def test_what_looks_like_an_earlier_activation_is_not_believed(shell, a, env):
    code = f"""{SHOW}. ./activate.sh; show $?; deactivate; show $?
[ "$PATH" = "{BARE["PATH"]}" ] && [ "$HOME" = "{BARE["HOME"]}" ] && echo alive"""

    assert run_in(shell, code, cwd=a, env=env) == (0, f"{ACTIVE}0 {AS_BEFORE}alive\n", quiet(a))
    assert not (a / "pwned").exists()


def test_the_template_leaves_alone_what_the_writer_refuses():
    """Two lists, since a shell template stands alone in its repository; one set of names."""
    text = (ROOT / "shell" / "activate.sh").read_text()
    patterns = text[
        text.index("            PATH | HOME") : text.index("                shift\n                continue")
    ]
    names = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*(?:\[\d+\])?\*?", patterns.replace("[0123456789]*", "")))

    exact = {name for name in names if not name.endswith("*")} - {"PS[01234]"} | {f"PS{number}" for number in range(5)}
    assert exact == _RESERVED
    assert {name.removesuffix("*") for name in names if name.endswith("*")} == set(_RESERVED_BEGINNINGS)
