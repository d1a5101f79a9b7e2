"""Every field, by every way to apply it, is what a real jax reports, or is refused."""

import json
import sys

import jax
import pytest

from substrax.runtime import JaxRuntime, runtime_environment
from substrax.runtime._settings import SETTINGS

from jax_outcomes import CASES, ELSEWHERE, OBSERVE, TABLE, UNTOUCHED, WAYS, expected_outcome, outcome, table_row
from programs import BARE, run, run_python

EVERYTHING = {field: value for field, (value, _) in CASES.items()}
OBSERVED_EVERYTHING = {key: value for _, observed in CASES.values() for key, value in observed.items()}


def observed(output):
    exit_code, text, errors = output
    assert exit_code == 0, errors
    return json.loads(text.splitlines()[-1])


def test_every_setting_of_the_table_is_proven_here():
    assert list(CASES) == [row.field for row in SETTINGS]


def test_a_jax_without_settings_reports_none_of_them():
    assert observed(run_python(OBSERVE, CACHE="/nowhere")) == UNTOUCHED


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("field", CASES)
def test_what_is_declared_is_in_effect_or_refused(field, way):
    assert outcome(field, way) == expected_outcome(field, way)


@pytest.mark.parametrize("way", WAYS)
def test_the_table_in_the_docs_is_what_was_measured(way):
    assert table_row(jax.__version__, way) in TABLE.read_text().splitlines()


def test_what_is_rendered_over_another_environment_is_in_effect(tmp_path):
    everything = JaxRuntime(**EVERYTHING | {"compilation_cache_dir": tmp_path})

    rendered = runtime_environment(everything, ELSEWHERE["platforms"])

    env = BARE | ELSEWHERE["platforms"] | rendered | {"CACHE": str(tmp_path)}
    assert observed(run([sys.executable, "-c", OBSERVE], env=env)) == {
        **UNTOUCHED,
        **OBSERVED_EVERYTHING,
    }


def test_everything_applied_at_once_before_import_is_in_effect(tmp_path):
    everything = EVERYTHING | {"compilation_cache_dir": tmp_path}
    code = "from pathlib import PosixPath; from substrax.runtime import *; "
    code += f"apply_runtime(JaxRuntime(**{everything!r})){OBSERVE}"

    assert observed(run_python(code, CACHE=str(tmp_path))) == {**UNTOUCHED, **OBSERVED_EVERYTHING}


@pytest.mark.parametrize(
    ("requested", "existing"),
    [
        pytest.param("--xla_dump_hlo_module_re='a b'", "", id="single quotes"),
        pytest.param('--xla_dump_hlo_module_re="a \\" b"', "", id="double quotes with an escape"),
        pytest.param("--xla_dump_hlo_module_re=", "--xla_dump_hlo_pass_re='x  y'", id="over quotes that are there"),
        pytest.param(
            "--xla_dump_hlo_module_re='a'", "--xla_dump_hlo_pass_re='x'--xla_cpu_enable_fast_math=true", id="that touch"
        ),
    ],
)
def test_what_is_merged_is_read_by_xla_to_its_end(requested, existing):
    runtime = JaxRuntime(xla_flags=(requested, "--xla_force_host_platform_device_count=3"))

    rendered = runtime_environment(runtime, {"XLA_FLAGS": existing})

    assert run_python("import jax; print(jax.device_count())", **rendered) == (0, "3\n", "")
