"""Old and new together: each released template with the newest environment file, and the other way round.

`released/` has the templates of each released version, and an environment file as it was written then.
"""

import os
import sys
from pathlib import Path

import pytest

from substrax_managed_env._vendor import read, with_settings

from posix_shells import ACTIVE, AS_BEFORE, SHOW, make_project, quiet, run_in
from programs import run

RELEASED = sorted(Path(__file__).parent.joinpath("released").iterdir())
SETTINGS = {"prefix": "DEMO", "env_file": ".demo.env", "root_from_here": "."}


def released(folder, name):
    """A released template as a repository has it: with settings of its own."""
    return with_settings(read(name, (folder / name).read_text()), SETTINGS)


@pytest.fixture(params=RELEASED, ids=lambda folder: folder.name)
def folder(request):
    return request.param


ONCE_AND_BACK = f"{SHOW}. ./activate.sh; show $?; deactivate; show $?"


def test_an_older_template_activates_with_the_newest_file(shell, tmp_path, folder):
    root = make_project(tmp_path / "p", shell)
    (root / "activate.sh").write_text(released(folder, "activate.sh"))

    assert run_in(shell, ONCE_AND_BACK, cwd=root) == (0, f"{ACTIVE}0 {AS_BEFORE}", quiet(root))


def test_the_newest_template_activates_with_an_older_file(shell, tmp_path, folder):
    root = make_project(tmp_path / "p", shell)
    (root / ".demo.env").write_text((folder / "demo.env").read_text().replace("'/demo'", f"'{root}'"))

    assert run_in(shell, ONCE_AND_BACK, cwd=root) == (0, f"{ACTIVE}0 {AS_BEFORE}", quiet(root))


@pytest.mark.parametrize("older_first", [True, False], ids=["the older one first", "the newer one first"])
def test_two_versions_in_one_shell_give_everything_back(shell, tmp_path, folder, older_first):
    older = make_project(tmp_path / "older", shell)
    (older / "activate.sh").write_text(released(folder, "activate.sh"))
    newer = make_project(tmp_path / "newer", shell, prefix="OTHER", tag="B")
    first, second = (older, newer) if older_first else (newer, older)
    code = f"""{SHOW}export JAX_PLATFORMS=mine; p=$PATH; before=$(set | grep -c -E '^_?(SUBSTRAX|substrax)_')
. {first}/activate.sh; . {second}/activate.sh; . {first}/activate.sh; deactivate; show $?
[ "$PATH" = "$p" ] && echo same; [ "$(set | grep -c -E '^_?(SUBSTRAX|substrax)_')" = "$before" ] && echo nothing left"""

    exit_code, output, _ = run_in(shell, code, cwd=tmp_path)

    assert (exit_code, output) == (0, "0 backend=unset platforms=mine tag=unset venv=\nsame\nnothing left\n")


def test_a_repository_upgrades_its_copies(tmp_path, folder):
    for name in ("activate.sh", "setup.sh"):
        (tmp_path / name).write_text(released(folder, name))
    (tmp_path / "setup.sh").chmod(0o755)

    before = vendor(tmp_path, "--check")
    upgrade = vendor(tmp_path, "--prefix", "DEMO")
    after = vendor(tmp_path, "--check")

    assert (before[0], before[1].count(f"is a copy of template {folder.name}, older than ")) == (1, 2)
    assert (upgrade[0], upgrade[1].count("Wrote ")) == (0, 2)
    assert (after[0], after[1].count(" is up to date, ")) == (0, 2)
    for name in ("activate.sh", "setup.sh"):
        kept, now = read(name, released(folder, name)), read(name, (tmp_path / name).read_text())
        assert kept.settings == now.settings


def vendor(folder, *arguments):
    command = [sys.executable, "-m", "substrax.runtime.managed_env", "vendor", *arguments]
    return run(command, cwd=folder, env=dict(os.environ))
