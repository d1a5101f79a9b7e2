import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrax_managed_env import BACKENDS, managed_environment, render
from substrax_managed_env._shell_file import read_back

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)


def test_the_file_is_a_comment_the_manifest_and_one_line_a_variable():
    values = managed_environment(prefix="DEMO", backend="cpu", project_root="/it's", extra={"NOTE": "a\nb"})

    assert render(prefix="DEMO", values=values) == (
        "# Written by python -m substrax.runtime.managed_env (format 1); the next write replaces this file.\n"
        "export DEMO_MANAGED_ENV_VARS='DEMO_BACKEND DEMO_ENV_ROOT JAX_PLATFORMS JAX_ENABLE_X64 XLA_PYTHON_CLIENT_PREALLOCATE "
        "XLA_CLIENT_MEM_FRACTION XLA_PYTHON_CLIENT_MEM_FRACTION NOTE'\n"
        "export DEMO_BACKEND='cpu'\n"
        "export DEMO_ENV_ROOT='/it'\\''s'\n"
        "export JAX_PLATFORMS='cpu'\n"
        "export JAX_ENABLE_X64='false'\n"
        "unset XLA_PYTHON_CLIENT_PREALLOCATE\n"
        "unset XLA_CLIENT_MEM_FRACTION\n"
        "unset XLA_PYTHON_CLIENT_MEM_FRACTION\n"
        "export NOTE='a\nb'\n"
    )


@pytest.mark.parametrize("values", [{"A;touch p": "1"}, {"A": "\0"}, {"1A": None}], ids=["name", "value", "unset"])
def test_what_a_shell_would_execute_or_could_not_hold_is_not_rendered(values):
    with pytest.raises(ValueError):
        render(prefix="DEMO", values=values)


@given(st.dictionaries(st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True), st.none() | TEXT, max_size=5))
def test_reading_back_is_the_inverse_of_rendering(values):
    exported = {name: value for name, value in values.items() if value is not None}

    assert read_back(render(prefix="DEMO", values=values)) == {"DEMO_MANAGED_ENV_VARS": " ".join(values), **exported}


@pytest.mark.parametrize(
    ("text", "exported"),
    [
        pytest.param("export A=1 B='2 3'; export C=\"x\"\n", {"A": "1", "B": "2 3", "C": "x"}, id="edited by hand"),
        pytest.param("export A=1\nexport A=2\n", {"A": "2"}, id="the last one counts"),
        pytest.param("export A=1\nunset A\n", {}, id="unset again"),
        pytest.param("# export A=1\nexport B=2 # C=3\n#\nexport D='# e'\n", {"B": "2", "D": "# e"}, id="comments"),
        pytest.param("export A=1 # c\nunset A\n", {}, id="unset behind a comment"),
        pytest.param("unset A # c; export B=1\nexport C=2\n", {"C": "2"}, id="a comment with a semicolon"),
        pytest.param("export A=1\ncat <<E\nexport A=2\nE\n", {}, id="another command"),
        pytest.param("export A=1\r\n", {"A": "1\r"}, id="a carriage return is part of a value, as it is to a shell"),
        pytest.param("export A='1\n", {}, id="cut off within a value"),
        pytest.param("", {}, id="empty"),
    ],
)
def test_a_file_is_read_as_data(text, exported):
    assert read_back(text) == exported


@given(TEXT)
def test_a_shell_reads_the_same_value(value):
    text = render(prefix="DEMO", values={"A": value}) + "printf '%s.' \"$A\"\n"

    done = subprocess.run(["sh"], input=text.encode(), capture_output=True, timeout=60, check=False, env={})

    assert (done.returncode, done.stdout, done.stderr) == (0, f"{value}.".encode(), b"")


GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "auto"])
def test_the_file_of_each_backend_is_the_golden_one(backend):
    """Byte for byte, since copies of activate.sh that are older than this package read it."""
    extra = {"NOTE": "it's $HOME\n`id`", "EMPTY": ""}
    values = managed_environment(prefix="DEMO", backend=backend, project_root="/demo", extra=extra)

    assert render(prefix="DEMO", values=values).encode() == (GOLDEN / f"{backend}.env").read_bytes()
