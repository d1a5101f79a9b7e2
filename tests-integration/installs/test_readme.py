"""The README, word for word: its commands in a clean clone with a clean HOME, and every example as it stands."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from programs import BARE, ROOT, run

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language, *pages):
    """The fenced blocks of one language, named by page and number."""
    return [
        pytest.param(text, id=f"{page} {number}")
        for page in pages
        for number, (name, text) in enumerate(FENCE.findall((ROOT / page).read_text()))
        if name == language
    ]


PAGES = [
    "README.md",
    "packages/substrax-runtime/README.md",
    "docs/how-to/run-tests-on-the-cpu.md",
    "docs/how-to/find-out-why.md",
]


def files():
    """The files of this commit and of what is not committed yet, without what git ignores."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return sorted(name for name in listing.stdout.decode().split("\0") if name and (ROOT / name).exists())


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of those files, as a clone would have them."""
    place = tmp_path_factory.mktemp("clone") / "substrax"
    for name in files():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        # The templates are in the package through a symbolic link, and git clones a link as one.
        shutil.copy2(ROOT / name, place / name, follow_symlinks=False)
    return place


@pytest.fixture(scope="module")
def set_up(clone, around, tmp_path_factory):
    """The first command of the README, by a person who has Python, pip and an empty HOME, and no uv."""
    [command] = [
        text for name, text in FENCE.findall((clone / "README.md").read_text()) if "setup.sh -- python" in text
    ]
    python = tmp_path_factory.mktemp("bin")
    (python / "python3").symlink_to(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}")
    env = around | {"HOME": str(tmp_path_factory.mktemp("home")), "PATH": f"{python}:/usr/bin:/bin"}
    assert shutil.which("uv", path=env["PATH"]) is None
    return command, env, run(["sh", "-eu", "-c", command], cwd=clone, env=env, timeout_s=1800)


REPORT = """\
platform   cpu, 8 devices
CPU        8 devices
x64        True
precision  highest
"""


def test_the_first_command_sets_everything_up_and_lets_jax_report(set_up):
    _, _, (exit_code, output, errors) = set_up

    assert exit_code == 0, errors
    assert output.startswith("declared   JaxRuntime("), output
    assert output.endswith(REPORT), output


def test_the_first_command_works_a_second_time(set_up, clone):
    command, env, _ = set_up

    exit_code, output, errors = run(["sh", "-eu", "-c", command], cwd=clone, env=env, timeout_s=300)

    assert (exit_code, output.endswith(REPORT)) == (0, True), errors


@pytest.mark.usefixtures("set_up")
@pytest.mark.parametrize("code", blocks("python", *PAGES))
def test_every_python_example_works_as_it_stands(clone, code):
    exit_code, _, errors = run([str(clone / ".venv/bin/python"), "-W", "error", "-c", code], cwd=clone, env=BARE)

    assert (exit_code, errors) == (0, "")


@pytest.mark.usefixtures("set_up")
def test_the_commands_of_the_environment_file_work_as_they_stand(clone, tmp_path):
    [commands] = [
        text for name, text in FENCE.findall((clone / "README.md").read_text()) if "managed_env write" in text
    ]
    lines = [line for line in commands.splitlines() if not line.startswith("python -m pip install")]
    env = BARE | {"PATH": f"{clone}/.venv/bin:/usr/bin:/bin"}

    exit_code, output, errors = run(["sh", "-eu", "-c", "\n".join(lines)], cwd=tmp_path, env=env)

    assert (exit_code, output.splitlines()[-1], errors) == (0, "Configured backend: cpu", "")


@pytest.mark.usefixtures("set_up")
def test_the_command_that_vendors_the_templates_works_as_it_stands(clone, tmp_path):
    [command] = [
        text for name, text in FENCE.findall((clone / "README.md").read_text()) if "managed_env vendor" in text
    ]
    env = BARE | {"PATH": f"{clone}/.venv/bin:/usr/bin:/bin"}

    first = run(["sh", "-eu", "-c", command], cwd=tmp_path, env=env)
    second = run(["sh", "-eu", "-c", f"{command.rstrip()} --check"], cwd=tmp_path, env=env)

    assert (first[0], first[1].count("Wrote "), second[0], second[1].count(" is up to date")) == (0, 2, 0, 2)


@pytest.mark.usefixtures("set_up")
def test_the_check_of_the_readme_works_as_it_stands(clone):
    [commands] = [
        text for name, text in FENCE.findall((clone / "README.md").read_text()) if "substrax.runtime check" in text
    ]
    first, second = commands.splitlines()
    env = BARE | {"PATH": f"{clone}/.venv/bin:/usr/bin:/bin"}

    assert run(["sh", "-c", first], cwd=clone, env=env)[:2] == (0, "No variable of jax's is set.\n\nAll is well.\n")
    # Without a GPU the second has to find that cuda became the CPU.
    exit_code, output, errors = run(["sh", "-c", second], cwd=clone, env=env)
    assert (exit_code, "declared ('cuda', 'cpu'), in effect 'cpu'" in output, errors) == (1, True, "")


def test_the_second_command_is_what_ci_runs_and_contributors_read():
    [command] = [text for name, text in FENCE.findall((ROOT / "README.md").read_text()) if text.endswith("nox\n")]

    assert command in (ROOT / ".ci/run").read_text()
    assert command in (ROOT / "CONTRIBUTING.md").read_text()


@pytest.mark.parametrize("page", [name for name in files() if name.endswith(".md")])
def test_every_link_to_a_file_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text())

    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


def test_the_table_of_settings_is_the_table_of_settings(environment):
    rows = re.findall(
        r"^\| `(\w+)` \| `(\w+)` \| (?:`(\w+)`|refused after import) \|", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    code = "from substrax.runtime._settings import SETTINGS; print([(r.field, r.variable, r.option or '') for r in SETTINGS])"

    assert run([str(environment("substrax-runtime")), "-c", code], env=BARE) == (0, f"{rows}\n", "")
