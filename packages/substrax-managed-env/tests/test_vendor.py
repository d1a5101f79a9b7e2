"""`vendor` and `vendor --check`, as a maintainer of another repository runs them."""

import os
import stat
import subprocess
import sys
from importlib.resources import files

import pytest

import substrax_managed_env
from substrax_managed_env._vendor import read, upgraded

PROGRAM = "python -m substrax.runtime.managed_env"
TEMPLATES = files(substrax_managed_env) / "templates"
VERSION = (TEMPLATES / "VERSION").read_text().strip()
NAMES = ("activate.sh", "setup.sh")


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def vendor(*arguments):
    command = [sys.executable, "-W", "error", "-m", "substrax.runtime.managed_env", "vendor", *arguments]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def refused(problem):
    return 2, "", f"{PROGRAM}: error: {problem}\n"


def up_to_date(*names):
    return "".join(f"{name} is up to date, template {VERSION}\n" for name in names)


def wrote(*names):
    return "".join(f"Wrote {name}, template {VERSION}\n" for name in names)


KEEPS = f"A new copy keeps the settings: {PROGRAM} vendor --prefix DATARAX\n"


@pytest.fixture
def copies(project):
    assert vendor("--prefix", "DATARAX") == (0, wrote(*NAMES), "")
    return project


def block(text):
    return text[text.index("# >>> settings") : text.index("# <<< settings")]


def edit(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


# ---- a new repository ---------------------------------------------------------------------------------------------


def test_new_copies_are_the_templates_with_the_projects_settings(copies):
    for name in NAMES:
        text, template = (copies / name).read_text(), (TEMPLATES / name).read_text()
        assert text.replace(block(text), "") == template.replace(block(template), "")
        said = [line.strip().removeprefix("_substrax_") for line in block(text).splitlines()]
        assert {"prefix=DATARAX", "env_file=.datarax.env", "root_from_here=."} <= {*said}


def test_setup_can_be_executed_and_activate_need_not(copies):
    modes = {name: stat.S_IMODE((copies / name).stat().st_mode) & 0o100 for name in NAMES}

    assert modes == {"activate.sh": 0, "setup.sh": 0o100}


def test_in_a_directory_of_a_project_they_name_its_root_and_its_extras(project):
    (project / "tools" / "shell").mkdir(parents=True)
    extras = 'cuda12 = ["jax[cuda12]"]\nrocm = ["jax"]\ndev = ["pytest"]\n'
    (project / "pyproject.toml").write_text(f'[project]\nname = "x"\n[project.optional-dependencies]\n{extras}')

    assert vendor("--prefix", "DATARAX", "tools/shell") == (0, wrote(*(f"tools/shell/{name}" for name in NAMES)), "")
    said = [line.strip() for line in block((project / "tools/shell/setup.sh").read_text()).splitlines()]
    assert "root_from_here=../.." in said
    assert [line for line in said if line.startswith("extras")] == [
        "extras=''",
        "extras_cpu=''",
        "extras_cuda12=cuda12",
        "extras_cuda13=''",
        "extras_metal=''",
        "extras_rocm=rocm",
    ]


def test_a_copy_that_was_lost_comes_back_with_the_settings_of_the_other(copies):
    edit(copies / "activate.sh", "_substrax_env_file=.datarax.env", "_substrax_env_file='.my env'")
    (copies / "setup.sh").unlink()

    assert vendor() == (0, up_to_date("activate.sh") + wrote("setup.sh"), "")
    assert "    env_file='.my env'\n" in (copies / "setup.sh").read_text()
    assert vendor("--check")[0] == 0


# ---- --check ------------------------------------------------------------------------------------------------------


def test_copies_as_they_should_be_pass(copies):
    edit(copies / "setup.sh", "    extras=''\n", "    # Ours.\n    extras='dev test'\n\n")
    edit(copies / "setup.sh", "    values=''\n", "    values='A=1\nB=it is'\n")

    assert vendor("--check") == (0, up_to_date(*NAMES), "")
    assert vendor("--check", "--prefix", "DATARAX") == (0, up_to_date(*NAMES), "")


NO_COPY = "is no copy of the template; --force replaces it, with its settings"
MARKS = "does not have one line that begins its settings, '# >>> settings', and one that ends them, '# <<< settings'"


def drift(path):
    edit(path, "no command fails untested", "no command fails")


def cut(path):
    path.write_text(path.read_text()[:-5])


def lengthen(path):
    path.write_text(path.read_text() + "echo mine\n")


def age(path):
    edit(path, f"template {VERSION}", "template 0.0.9")


def rejuvenate(path):
    edit(path, f"template {VERSION}", "template 0.100.0")


def convert(path):
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def unmark(path):
    edit(path, "# <<< settings <<<\n", "")


def line(path, start):
    return next(n for n, text in enumerate(path.read_text().split("\n"), start=1) if text.startswith(start))


@pytest.mark.parametrize(
    ("trouble", "fault"),
    [
        pytest.param(os.unlink, "is missing", id="missing"),
        pytest.param(
            drift,
            f"differs from template {VERSION} in line {{line}}: "
            '"#   * no command fails: under the caller\'s `set -e`, dash, busybox ash, mksh and bash 3.2 leave the caller"',
            id="drift",
        ),
        pytest.param(age, f"is a copy of template 0.0.9, older than {VERSION} here", id="older"),
        pytest.param(
            rejuvenate,
            f"is a copy of template 0.100.0, newer than {VERSION} here",
            id="newer",
        ),
        pytest.param(
            convert,
            "has CRLF line ends, which a shell takes for a part of each value; put *.sh text eol=lf in .gitattributes",
            id="CRLF",
        ),
        pytest.param(
            unmark,
            MARKS,
            id="no end of the settings",
        ),
        pytest.param(
            lambda path: edit(path, f"template {VERSION}, ", "template v1, "),
            "says no version that can be read, '# substrax shell template v1, environment file format 1. `deactivate` gives "
            "everything back.', expected '# substrax shell template ' and one, such as 0.1.0,",
            id="no version",
        ),
        pytest.param(
            lambda path: path.write_text(path.with_name("setup.sh").read_text()),
            NO_COPY,
            id="a copy of the other template",
        ),
        pytest.param(
            lambda path: edit(path, "_substrax_root_from_here=.\n", ""),
            "does not say _substrax_root_from_here=... in its settings; put it there",
            id="a setting is missing",
        ),
        pytest.param(
            lambda path: path.write_bytes(path.read_bytes().replace(b"prefix=DATARAX\n", b"prefix=DATARAX\r\n")),
            "has a carriage return in its settings, '_substrax_prefix=DATARAX\\r'; take it out",
            id="a carriage return in the settings",
        ),
        pytest.param(
            lambda path: edit(path, "prefix=DATARAX\n", "prefix=datarax\n"),
            "says in its settings that prefix is 'datarax', expected an upper-case shell name such as 'DATARAX'",
            id="a prefix that is none",
        ),
        pytest.param(
            lambda path: path.write_text("#!/bin/sh\n"),
            NO_COPY,
            id="somebody else's",
        ),
        pytest.param(lambda path: path.write_text(""), NO_COPY, id="an empty file"),
    ],
)
def test_what_is_wrong_with_a_copy_is_named(copies, trouble, fault):
    path = copies / "activate.sh"
    number = line(path, "#   * no command fails")
    trouble(path)

    exit_code, output, errors = vendor("--check")

    mended = fault.startswith(("is missing", "differs", "has CRLF")) or "older" in fault
    assert (exit_code, errors) == (1, "")
    assert output == (f"activate.sh {fault.format(line=number)}\n{up_to_date('setup.sh')}{KEEPS if mended else ''}")


@pytest.mark.parametrize(
    ("trouble", "fault"),
    [
        (
            lambda path: path.write_text(path.read_text()[:-1]),
            f"is template {VERSION} without its end, after line {{last}}",
        ),
        (cut, f"is template {VERSION} without its end, after line {{last}}"),
        (lengthen, f"goes on after the end of template {VERSION}"),
        (lambda path: path.write_text(path.read_text() + "\n"), f"goes on after the end of template {VERSION}"),
    ],
    ids=["no last line feed", "cut", "longer", "one more line feed"],
)
def test_a_difference_at_the_end_is_named_too(copies, trouble, fault):
    trouble(copies / "activate.sh")
    last = (copies / "activate.sh").read_text().count("\n") + 1

    assert vendor("--check") == (1, f"activate.sh {fault.format(last=last)}\n{up_to_date('setup.sh')}{KEEPS}", "")


def test_a_lost_run_bit_is_named(copies):
    (copies / "setup.sh").chmod(0o644)

    assert vendor("--check") == (1, f"{up_to_date('activate.sh')}setup.sh is not executable\n{KEEPS}", "")


def test_everything_that_is_wrong_is_named_at_once(copies):
    age(copies / "activate.sh")
    age(copies / "setup.sh")
    (copies / "setup.sh").chmod(0o644)
    fault = f"is a copy of template 0.0.9, older than {VERSION} here"

    expected = f"activate.sh {fault}\nsetup.sh {fault}\nsetup.sh is not executable\n{KEEPS}"
    assert vendor("--check") == (1, expected, "")


@pytest.mark.parametrize("setting", ["prefix", "env_file", "root_from_here"])
def test_two_copies_that_do_not_say_the_same_are_refused(copies, setting):
    present = {"prefix": "DATARAX", "env_file": ".datarax.env", "root_from_here": "."}[setting]
    edit(copies / "setup.sh", f"    {setting}={present}\n", f"    {setting}=OTHER # comment\n")
    problem = f"setup.sh says that {setting} is 'OTHER', and activate.sh that it is {present!r}; change one of them"

    assert vendor("--check") == (1, f"{up_to_date('activate.sh')}{problem}\n", "")
    assert vendor() == refused(problem)


def test_the_check_writes_nothing(copies):
    age(copies / "activate.sh")
    (copies / "setup.sh").unlink()
    before = (copies / "activate.sh").read_bytes()

    vendor("--check")

    assert (os.listdir(copies), (copies / "activate.sh").read_bytes()) == (["activate.sh"], before)


def test_an_empty_directory_has_no_copies():
    assert vendor("--check") == (
        1,
        f"activate.sh is missing\nsetup.sh is missing\n{KEEPS.replace('DATARAX', 'PREFIX')}",
        "",
    )


# ---- an upgrade ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trouble", [drift, age, cut], ids=["drift", "older", "cut"])
def test_an_upgrade_keeps_the_settings_byte_for_byte(copies, trouble):
    path = copies / "activate.sh"
    template = path.read_bytes()
    settings = b"_substrax_prefix=DATARAX\n  # \xe9\xff\ttabs\r and more  \n"
    settings += b"_substrax_env_file='.datarax.env'\n_substrax_root_from_here=.\n"
    old = block(path.read_text()).encode().partition(b"\n")[2]
    trouble(path)
    path.write_bytes(path.read_bytes().replace(old, settings))

    exit_code, output, _ = vendor()

    assert (exit_code, output.partition("\n")[2]) == (0, up_to_date("setup.sh") + wrote("activate.sh"))
    assert path.read_bytes() == template.replace(old, settings)


def test_an_upgrade_says_what_was_wrong_and_gives_the_run_bit_back(copies):
    (copies / "setup.sh").chmod(0o640)

    assert vendor() == (0, f"{up_to_date('activate.sh')}setup.sh is not executable\n{wrote('setup.sh')}", "")
    assert stat.S_IMODE((copies / "setup.sh").stat().st_mode) == 0o750


def test_line_ends_that_a_checkout_converted_are_mended(copies):
    before = (copies / "activate.sh").read_bytes()
    convert(copies / "activate.sh")

    assert vendor()[0] == 0
    assert (copies / "activate.sh").read_bytes() == before


def written(path):
    """Which file it is, and when it was written; not when it was read."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns


def test_copies_that_are_up_to_date_are_not_touched(copies):
    before = [written(copies / name) for name in NAMES]

    assert vendor("--prefix", "DATARAX") == (0, up_to_date(*NAMES), "")
    assert [written(copies / name) for name in NAMES] == before


@pytest.mark.parametrize(
    ("trouble", "fault"),
    [
        (lambda path: path.write_text("#!/bin/sh\n"), NO_COPY),
        (rejuvenate, f"is a copy of template 0.100.0, newer than {VERSION} here"),
        (unmark, MARKS),
    ],
    ids=["somebody else's", "a newer one", "no end of the settings"],
)
def test_what_is_not_ours_is_replaced_by_force_alone(copies, trouble, fault):
    age(copies / "activate.sh")
    trouble(copies / "setup.sh")
    before = [(copies / name).read_bytes() for name in NAMES]

    assert vendor("--prefix", "DATARAX") == refused(f"setup.sh {fault}")
    assert [(copies / name).read_bytes() for name in NAMES] == before
    assert vendor("--force")[0] == 0
    assert vendor("--check") == (0, up_to_date(*NAMES), "")


# ---- bad usage ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "--prefix is missing: what the project's variables begin with, such as DATARAX"),
        (["--prefix", "datarax"], "prefix is 'datarax', expected an upper-case shell name such as 'DATARAX'"),
        (["--prefix", "DATARAX", "nowhere"], "DIR is 'nowhere', expected a directory that exists"),
        (["--bogus"], "unrecognized arguments: --bogus"),
        (["--check", "--force"], "argument --force: not allowed with argument --check"),
    ],
)
def test_bad_usage_is_one_line_and_writes_nothing(project, arguments, problem):
    assert vendor(*arguments) == refused(problem)
    assert os.listdir(project) == []


@pytest.mark.usefixtures("copies")
def test_another_prefix_than_that_of_the_copies_is_refused():
    assert vendor("--prefix", "OPIFEX") == refused(
        "--prefix is 'OPIFEX', and the copies here say 'DATARAX'; change it in both"
    )


@pytest.mark.parametrize("option", ["--force", "--check"])
def test_a_symbolic_link_is_refused_before_anything_is_written(project, option):
    (project / "elsewhere").write_text("precious")
    (project / "setup.sh").symlink_to("elsewhere")
    problem = "setup.sh is a symbolic link; put a copy in its place"

    done = vendor("--prefix", "DATARAX", option)

    assert done == (refused(problem) if option == "--force" else (1, f"activate.sh is missing\n{problem}\n", ""))
    assert (sorted(os.listdir(project)), (project / "elsewhere").read_text()) == (["elsewhere", "setup.sh"], "precious")


def test_a_pipe_is_not_waited_for(project):
    os.mkfifo(project / "setup.sh")

    assert vendor("--prefix", "DATARAX") == refused("setup.sh is there already and not a regular file")
    assert vendor("--check")[0] == 1


@pytest.mark.parametrize(
    "text",
    [b"[project", b"project = 1", b"project.optional-dependencies = 1", b"\xff", b"x = " + b"[" * 5000],
    ids=["no table", "a number", "a number of extras", "no UTF-8", "deep"],
)
def test_a_pyproject_that_cannot_be_read_is_named_where_it_is_needed(copies, text):
    (copies / "pyproject.toml").write_bytes(text)

    assert vendor() == (0, up_to_date(*NAMES), "")
    (copies / "setup.sh").unlink()
    exit_code, output, errors = vendor()
    assert (exit_code, output, errors.count("\n")) == (2, "", 1)
    assert errors.startswith(f"{PROGRAM}: error: {copies}/pyproject.toml cannot be read: ")
    assert os.listdir(copies).count("setup.sh") == 0


@pytest.mark.parametrize(
    ("folder", "shown"),
    [("a b", "'a b'"), ("-x", "-- -x"), ("it's $(x)", "'it'\"'\"'s $(x)'")],
    ids=["blank", "dash", "quote"],
)
def test_the_command_of_a_check_can_be_pasted(project, folder, shown):
    (project / folder).mkdir()

    output = vendor("--check", "--prefix", "DATARAX", "--", folder)[1]
    command = output.splitlines()[-1].partition("settings: ")[2]

    assert command == f"{PROGRAM} vendor --prefix DATARAX {shown}"
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    assert subprocess.run(["sh", "-c", command], env={**os.environ, "PATH": path}, check=False).returncode == 0
    assert vendor("--check", "--", folder)[0] == 0


def test_further_values_may_look_like_settings(copies):
    edit(copies / "setup.sh", "    values=''\n", "    values='A=1\nprefix=OTHER\n'\n")

    assert vendor("--check") == (0, up_to_date(*NAMES), "")


def test_a_setting_that_only_a_later_template_has_does_not_stop_an_upgrade():
    """The block is kept as it is, so the template has to have a value of its own for whatever is not in it."""
    text = (TEMPLATES / "setup.sh").read_text()
    older = text.replace("    extras_rocm=''\n", "").replace(f"template {VERSION}", "template 0.0.1")

    assert upgraded(read("setup.sh", older)) == text.replace("    extras_rocm=''\n", "")
