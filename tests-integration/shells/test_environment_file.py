"""The environment file, sourced by real shells: exactly the table, and every byte of every value."""

import subprocess

import pytest

from substrax_managed_env import managed_environment, render

from posix_shells import SHELLS
from programs import BARE

STALE = {
    "DEMO_BACKEND": "stale",
    "JAX_PLATFORMS": "stale",
    "JAX_ENABLE_X64": "",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "true",
    "XLA_CLIENT_MEM_FRACTION": ".9",
    "XLA_PYTHON_CLIENT_MEM_FRACTION": ".9",
    "OTHER": "stays",
}


def sourced(shell, text, tmp_path, **env):
    """The environment of a process that `shell` starts after it has sourced `text` under `set -eu`."""
    file = tmp_path / "demo.env"
    file.write_bytes(text)
    command = [*SHELLS[shell], "-c", "set -eu; . ./demo.env; exec env -0"]
    done = subprocess.run(command, cwd=tmp_path, env=BARE | env, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    pairs = (entry.partition(b"=") for entry in done.stdout.split(b"\0") if entry)
    return {name.decode(): value for name, _, value in pairs}


@pytest.mark.parametrize("backend", ["cpu", "cuda12", "cuda13", "metal", "rocm"])
def test_the_file_gives_exactly_its_table_over_a_stale_environment(shell, backend, tmp_path):
    managed = managed_environment(prefix="DEMO", backend=backend, project_root="/demo", extra={"TF_LOG": "1"})
    text = render(prefix="DEMO", values=managed).encode()

    found = sourced(shell, text, tmp_path, **STALE)

    expected = {name: value.encode() for name, value in managed.items() if value is not None}
    expected |= {"DEMO_MANAGED_ENV_VARS": " ".join(managed).encode(), "OTHER": b"stays"}
    names = {*expected, *managed}
    assert {name: value for name, value in found.items() if name in names} == expected


VALUES = {
    "empty": "",
    "blanks": "  a  b\t",
    "quotes": """it's 'q' '' "d" ''""",
    "backslashes": "\\ \\n \\\\ \\",
    "an escaped line feed": "a\\\nb",
    "expansions": "$HOME ${X} $(touch pwned) `touch pwned` ~ !! !$",
    "globs": "* ? [a-z]",
    "operators": "a;b&c|d<e>f #g",
    "options": "-n -e --",
    "line feeds": "\na\n\nb\n\n",
    "carriage returns": "a\rb\r\n",
    "every ASCII character": "".join(map(chr, range(1, 128))),
    "long": "it's " * 20_000,
}
BYTES = {"UTF-8": "naïve 日本 🎉".encode(), "every byte": bytes(range(1, 256))}


@pytest.mark.parametrize("value", VALUES)
def test_a_value_arrives_byte_for_byte(shell, value, tmp_path):
    text = render(prefix="DEMO", values={"V": VALUES[value]}).encode()

    assert sourced(shell, text, tmp_path)["V"] == VALUES[value].encode()
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize("value", BYTES)
def test_a_value_that_is_no_ascii_arrives_byte_for_byte(shell, value, locale, tmp_path):
    if shell == "yash" and (locale == "C" or value == "every byte"):
        pytest.skip("yash refuses a file with bytes that its locale does not have")
    raw = BYTES[value]
    text = render(prefix="DEMO", values={"V": raw.decode(errors="surrogateescape")}).encode(errors="surrogateescape")

    assert sourced(shell, text, tmp_path, LC_ALL=locale)["V"] == raw
