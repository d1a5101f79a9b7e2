"""Shells that cannot read the templates: nothing changes, and the error shows where to look."""

import pytest

from posix_shells import make_project, require
from programs import BARE, run


@pytest.mark.parametrize("other", ["fish", "tcsh"])
def test_it_fails_without_a_change_and_shows_where_to_look(other, tmp_path):
    require(other)
    root = make_project(tmp_path / "p")
    script = "source ./activate.sh; sh -c 'echo ${JAX_PLATFORMS-unset} ${VIRTUAL_ENV-unset} ${DEMO_BACKEND-unset}'"
    (root / "script").write_text(script.replace("; ", "\n") + "\n")

    _, output, errors = run([other, "script"], cwd=root, env=BARE | {"TERM": "dumb", "HOME": str(tmp_path)})

    assert output == "unset unset unset\n"
    assert "see .venv/bin/activate.fish and .venv/bin/activate.csh" in errors
