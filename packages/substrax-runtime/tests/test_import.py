"""What importing does to a process, and which names it gives."""

import json
import re
import typing

import pytest

import substrax.runtime

from processes import run_python

# Everything that importing must not touch, and what of the heavy packages is loaded.
STATE = """
import json, logging, os, sys
def state():
    root = logging.getLogger()
    return [dict(os.environ), list(sys.path), len(sys.meta_path), len(root.handlers), root.level,
            sorted({"jax", "jaxlib", "numpy"} & sys.modules.keys())]
before = state()
IMPORT
print(json.dumps([before == state(), state()[-1]]))
"""
ALL_NAMES = "import substrax.runtime; [getattr(substrax.runtime, name) for name in substrax.runtime.__all__]"


@pytest.mark.parametrize("code", ["import substrax.runtime", ALL_NAMES], ids=["the package", "every name"])
def test_importing_changes_nothing_in_the_process(code):
    exit_code, output, errors = run_python("-c", STATE.replace("IMPORT", code), HOME="/nowhere", JAX_PLATFORMS="cuda")

    assert (exit_code, json.loads(output), errors) == (0, [True, []], "")


@pytest.mark.parametrize(
    "code",
    ["os.environ['A'] = '1'", "sys.path.append('/x')", "logging.basicConfig()", "sys.modules['numpy'] = sys"],
    ids=["environment", "path", "logging", "numpy"],
)
def test_the_probe_of_the_test_above_can_fail(code):
    exit_code, output, errors = run_python("-c", STATE.replace("IMPORT", code))

    assert (exit_code, json.loads(output)[0], errors) == (0, False, "")


def test_importing_the_package_loads_nothing_that_costs():
    code = """
import sys
before = set(sys.modules)
import substrax.runtime
print(sorted(set(sys.modules) - before))
"""
    assert run_python("-S", "-c", code, PYTHONPATH=_source()) == (0, "['substrax', 'substrax.runtime']\n", "")


def _source():
    return str(substrax.runtime.__path__[0]).removesuffix("/substrax/runtime")


def test_every_public_name_is_there_and_listed():
    assert sorted(substrax.runtime.__all__) == substrax.runtime.__all__ == sorted(substrax.runtime._HOMES)
    assert set(substrax.runtime.__all__) <= set(dir(substrax.runtime))


def test_a_misspelt_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"^module 'substrax.runtime' has no attribute 'JaxRuntimes'$"):
        substrax.runtime.JaxRuntimes  # noqa: B018 - looking it up is the act


def test_precisions_are_a_type_of_names():
    assert "highest" in typing.get_args(substrax.runtime.MatmulPrecision)


def test_the_version_is_one():
    assert re.fullmatch(r"\d+\.\d+\.\d+", substrax.runtime.__version__)


MISSING = (
    "substrax.runtime.managed_env is provided by the distribution 'substrax-managed-env', which is not installed in this "
    "environment; install it with: python -m pip install substrax-managed-env"
)
# Hides the other distribution where the environment has it.
HIDE = "import sys; sys.modules['substrax_managed_env'] = None; "


def test_running_the_command_without_its_distribution_says_in_one_line_what_to_install():
    code = HIDE + "import runpy; runpy.run_module('substrax.runtime.managed_env', run_name='__main__', alter_sys=True)"

    assert run_python("-W", "error", "-c", code) == (1, "", f"error: {MISSING}\n")


def test_importing_the_command_without_its_distribution_says_what_to_install():
    code = (
        HIDE
        + """
try:
    import substrax.runtime.managed_env
except ModuleNotFoundError as error:
    print(error.name, error)
"""
    )
    assert run_python("-c", code) == (0, f"substrax_managed_env {MISSING}\n", "")


def test_a_regular_package_of_the_same_name_is_named(tmp_path):
    (tmp_path / "substrax").mkdir()
    theirs = tmp_path / "substrax" / "__init__.py"
    theirs.write_text(f"__path__.append({_source() + '/substrax'!r})\n")

    exit_code, output, errors = run_python("-c", "import substrax.runtime", PYTHONPATH=str(tmp_path))

    assert (exit_code, output) == (1, "")
    assert errors.splitlines()[-1] == (
        f"ImportError: substrax.runtime of the distribution 'substrax-runtime' cannot work beside the unrelated "
        f"distribution 'substrax' at {theirs}; remove both and install ours again: python -m pip uninstall substrax "
        "substrax-runtime; python -m pip install substrax-runtime"
    )
