import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from substrax_managed_env._files import replace_file


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_mode_0644_less_the_umask(tmp_path):
    previous = os.umask(0o027)
    try:
        replace_file(str(tmp_path / "new"), b"text\n")
    finally:
        os.umask(previous)

    assert ((tmp_path / "new").read_bytes(), mode(tmp_path / "new")) == (b"text\n", 0o640)
    assert os.listdir(tmp_path) == ["new"]


@pytest.mark.parametrize("present", [0o600, 0o640, 0o664, 0o444, 0o755])
def test_an_existing_file_keeps_its_mode(tmp_path, present):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(present)

    replace_file(str(path), b"new")

    assert (path.read_bytes(), mode(path), os.listdir(tmp_path)) == (b"new", present, ["file"])


def test_a_file_is_replaced_and_not_written_into(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with path.open("rb") as reader:
        replace_file(str(path), b"new")

        assert reader.read() == b"old"


def test_a_relative_path_is_one_of_the_current_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    replace_file("file", b"new")

    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        pytest.param(
            "link", "it is a symbolic link, which is not followed; name the file itself", id="a symbolic link"
        ),
        pytest.param(
            "dangling", "it is a symbolic link, which is not followed; name the file itself", id="a dangling link"
        ),
        pytest.param("directory", "it is there already and not a regular file", id="a directory"),
        pytest.param("pipe", "it is there already and not a regular file", id="a pipe"),
        pytest.param("missing/file", "there is no such directory to write in", id="no directory"),
        pytest.param("target/file", "Not a directory", id="a file for a directory"),
    ],
)
def test_what_cannot_be_replaced_is_refused_and_left_alone(tmp_path, name, problem):
    (tmp_path / "target").write_bytes(b"precious")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "dangling").symlink_to("nothing")
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = sorted(os.listdir(tmp_path))

    with pytest.raises(OSError) as caught:
        replace_file(str(tmp_path / name), b"new")

    assert (caught.value.filename, caught.value.strerror) == (str(tmp_path / name), problem)
    assert sorted(os.listdir(tmp_path)) == before
    assert ((tmp_path / "target").read_bytes(), (tmp_path / "link").is_symlink()) == (b"precious", True)


@pytest.mark.parametrize("nameless", [True, False], ids=["a nameless file", "a named file"])
@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_failure_at_any_step_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch, step, nameless):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)

    def fail(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space left on device"):
        replace_file(str(path), b"new")
    monkeypatch.undo()

    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["file"])


def test_where_the_file_system_has_no_nameless_files_a_named_one_does(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)

    replace_file(str(tmp_path / "file"), b"new")

    assert ((tmp_path / "file").read_bytes(), os.listdir(tmp_path)) == (b"new", ["file"])


def test_a_real_full_disk_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    code = f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
from substrax_managed_env._files import replace_file
try:
    replace_file({str(path)!r}, b"x" * 10_000)
except OSError as error:
    print(error.strerror)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "File too large\n", "")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["file"])


@pytest.mark.skipif(
    not hasattr(os, "O_TMPFILE"), reason="nameless files are Linux's; without them kill -9 can leave a named one"
)
def test_a_killed_writer_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    code = f"""
import os, signal
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
from substrax_managed_env._files import replace_file
replace_file({str(path)!r}, b"new")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGKILL, "", "")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["file"])


def test_a_writer_killed_before_the_renaming_leaves_the_old_file_and_the_next_cleans_up(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    code = f"""
import os, signal
os.replace = lambda *arguments, **options: os.kill(os.getpid(), signal.SIGKILL)
from substrax_managed_env._files import replace_file
replace_file({str(path)!r}, b"new")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, path.read_bytes(), len(os.listdir(tmp_path))) == (-signal.SIGKILL, b"old", 2)

    replace_file(str(path), b"newer")

    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"newer", ["file"])


def test_the_temporary_file_of_a_living_writer_is_left_alone(tmp_path):
    other = tmp_path / f".substrax-writing-{os.getpid()}-0"
    other.touch()

    replace_file(str(tmp_path / "file"), b"new")

    assert other.exists()


def test_file_and_directory_are_on_the_disk_before_and_after_the_renaming(tmp_path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, os.replace

    def note_fsync(descriptor):
        steps.append("directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def note_replace(*arguments, **options):
        steps.append("rename")
        replace(*arguments, **options)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    replace_file(str(tmp_path / "file"), b"new")

    assert steps == ["file", "rename", "directory"]


def test_the_longest_name_will_do(tmp_path):
    replace_file(str(tmp_path / ("x" * 255)), b"new")

    assert os.listdir(tmp_path) == ["x" * 255]


def test_readers_and_writers_at_once_see_whole_files(tmp_path):
    path = tmp_path / "file"
    wholes = [bytes([letter]) * 50_000 for letter in b"abcdefgh"]
    replace_file(str(path), wholes[0])
    seen = []

    def write(whole):
        for _ in range(10):
            replace_file(str(path), whole)
            seen.append(path.read_bytes())

    writers = [threading.Thread(target=write, args=(whole,)) for whole in wholes]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=60)

    assert (len(seen), [whole for whole in seen if whole not in wholes]) == (80, [])
    assert os.listdir(tmp_path) == ["file"]
