"""Options of a shell, one by one: none of them matters, and each is afterwards as it was."""

import pytest

from posix_shells import ACTIVE, AS_BEFORE, SHOW, make_project, quiet, require, run_in

# With these no script runs as it is written: nothing is executed, or one line alone, or words and quotes mean something
# else (with bash's keyword, NAME=VALUE behind `export` too); or they are not for a script to change.
NO_SHELL = {
    "bash": {"noexec", "onecmd", "keyword", "restricted_shell"},
    "zsh": {"exec", "cshjunkiequotes", "restricted", "privileged", "monitor", "onecmd", "shinstdin", "stdin", "zle"}
    | {"interactive", "singlecommand"},
}
LIST = {
    "zsh": "emulate -R zsh; for o in ${(ko)options}; do print -r -- $o; done",
    "bash": "shopt | cut -f1; set -o | cut -f1",
}
# What prints more than usual, or ends the shell at what fails on purpose.
LOUD = {
    "verbose",
    "xtrace",
    "warncreateglobal",
    "warnnestedvar",
    "sourcetrace",
    "errexit",
    "errreturn",
    "printexitvalue",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("options") / "p")


@pytest.mark.parametrize("family", ["bash", "zsh"])
def test_no_option_matters(family, project):
    require(family)
    names = run_in(family, LIST[family], cwd=project)[1].split()
    assert len(names) > 60
    switch = {"bash": "shopt -s {0} 2>/dev/null || set -o {0}", "zsh": "setopt {0}"}[family]
    off = {"bash": "shopt -u {0} 2>/dev/null || set +o {0}", "zsh": "unsetopt {0}"}[family]
    wrong = {}
    for name in names:
        for way in (switch, off):
            if name in NO_SHELL[family]:
                continue
            code = f"{SHOW}{way.format(name)}\n. ./activate.sh\nshow $?\ndeactivate\nshow $?"
            exit_code, output, errors = run_in(family, code, cwd=project)
            if name in LOUD:
                errors = quiet(project)
            if (exit_code, output, errors) != (0, f"{ACTIVE}0 {AS_BEFORE}", quiet(project)):
                wrong[way.format(name)] = (exit_code, output, errors)

    assert wrong == {}
