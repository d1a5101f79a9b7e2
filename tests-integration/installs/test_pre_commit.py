"""The hook of this repository, in another one, with the real pre-commit."""

import shutil
import sys

import pytest

from programs import ROOT, run

CONSUMER = ROOT / "tests-integration" / "consumers" / "vendored"


def git(folder, *arguments):
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main")
    exit_code, output, errors = run(["git", *identity, *arguments], cwd=folder, env={"PATH": "/usr/bin:/bin"})
    assert exit_code == 0, (output, errors)
    return output.strip()


def commit_all(folder):
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "all")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def hooks(tmp_path_factory):
    """This repository as pre-commit clones it, at the state of the working tree."""
    clone = tmp_path_factory.mktemp("hooks") / "substrax"
    clone.mkdir()
    for name in ("packages", "shell"):
        leave = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / name, clone / name, symlinks=True, ignore=leave)
    for name in ("pyproject.toml", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, clone / name)
    return clone, commit_all(clone)


def test_the_hook_passes_copies_in_order_and_names_what_is_not(tmp_path, hooks, around):
    clone, revision = hooks
    repository = shutil.copytree(CONSUMER, tmp_path / "datarax")
    config = f"repos:\n  - repo: {clone}\n    rev: {revision}\n    hooks:\n      - id: vendor-check\n"
    (repository / ".pre-commit-config.yaml").write_text(config)
    commit_all(repository)
    # As at a commit, which touches neither of the two.
    command = [sys.executable, "-m", "pre_commit", "run", "--verbose"]
    env = around | {"PRE_COMMIT_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}

    passed = run(command, cwd=repository, env=env, timeout_s=600)
    (repository / "activate.sh").write_text((repository / "activate.sh").read_text() + "# mine\n")
    (repository / "setup.sh").chmod(0o644)
    git(repository, "commit", "--quiet", "--no-verify", "--all", "--message", "drift")
    failed = run(command, cwd=repository, env=env, timeout_s=600)

    assert (passed[0], "activate.sh is up to date" in passed[1]) == (0, True), passed
    (repository / "activate.sh").unlink()
    git(repository, "commit", "--quiet", "--no-verify", "--all", "--message", "deleted")
    gone = run(command, cwd=repository, env=env, timeout_s=600)
    assert (failed[0], gone[0]) == (1, 1)
    assert "activate.sh goes on after the end of template" in failed[1]
    assert "setup.sh is not executable" in failed[1]
    assert "activate.sh is missing" in gone[1]
