# /// script
# requires-python = ">=3.11"
# dependencies = ["nox[uv]>=2025.11.12"]
# ///
"""Everything that CI runs. `nox` runs the default sessions, `nox -l` lists all, `nox -s tests` runs one kind."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2025.11.12"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
# A Python that is missing is skipped by name, and in CI an error; it is not fetched from anywhere.
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = bool(os.environ.get("CI"))

ROOT = nox.project.load_toml("pyproject.toml")
# A package after those that it depends on.
PACKAGES = ("substrax-runtime", "substrax-managed-env")
PYTHONS = nox.project.python_versions(nox.project.load_toml(f"packages/{PACKAGES[0]}/pyproject.toml"))
NEWEST = PYTHONS[-1]
WHEELS = {
    name: [f"./packages/{needed}" for needed in PACKAGES[: position + 1]] for position, name in enumerate(PACKAGES)
}
ALL_WHEELS = WHEELS[PACKAGES[-1]]
# The last release of every minor version of jax that is supported, each with a Python that it supports: jax 0.11 and
# newer need Python 3.12. One constraints file each; `nox -s lock` writes them.
JAX = [
    ("3.11", "0.5.3"),
    ("3.12", "0.6.2"),
    ("3.13", "0.7.2"),
    ("3.12", "0.8.3"),
    ("3.11", "0.9.2"),
    ("3.13", "0.10.2"),
    ("3.12", "0.11.2"),
    ("3.13", "0.12.0.1"),
]
SHELL_FILES = [
    "shell/activate.sh",
    "shell/setup.sh",
    *map(str, sorted(Path("tests-integration/consumers").glob("*/*.sh"))),
]

# What brings jax with a backend. Apple's own plugin for Metal works with jax 0.5.0 at most, which is older than the
# oldest that is supported.
ACCELERATORS = {
    "cuda12": "jax[cuda12]",
    "cuda13": "jax[cuda13]",
    "rocm": "jax[rocm7-local]",
    "metal": "jax-mps>=0.11,<0.12",
}

# The shells of the tests, by the names of their packages in Debian, with the command where that has another one.
SHELLS = {
    **{name: name for name in ("bash", "dash", "zsh", "mksh", "busybox", "yash", "posh", "fish", "tcsh")},
    "ksh93u+m": "ksh93",
}

# For the sessions that spend their time in processes which they have started.
IN_PARALLEL = ["-n", "2", "--dist", "loadfile"]


def _let_pyenv_find_every_python() -> None:
    """Name all Pythons of pyenv that we test: the shims of those that `pyenv global` does not name fail."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    if "PYENV_VERSION" not in os.environ and versions.is_dir():
        names = sorted(path.name for path in versions.iterdir() if path.name.rpartition(".")[0] in PYTHONS)
        if names:
            os.environ["PYENV_VERSION"] = ":".join(names)


def _forget_settings_of_this_shell() -> None:
    """Take away what an activated project or a user set for jax: a session's processes must not inherit it."""
    for name in [name for name in os.environ if name.startswith(("JAX_", "XLA_"))]:
        del os.environ[name]
    # Measured start-up times and the tests of installed files need bytecode, which some machines switch off.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.pop("PYTHONPATH", None)


_let_pyenv_find_every_python()
_forget_settings_of_this_shell()


def group(*names: str) -> tuple[str, ...]:
    """Dependency groups of pyproject.toml, expanded here so that any pip can install them."""
    return nox.project.dependency_groups(ROOT, *names)


def install_wheels(session: nox.Session, *paths: str) -> None:
    """Install packages as a user gets them.

    Not editable: a file that is missing from a wheel has to fail here, not at a user's. Reinstalled, since a version
    that has not changed says nothing about the files.
    """
    if session.venv_backend == "uv":
        names = [f"--reinstall-package={Path(path).name}" for path in paths]
        session.install(*names, *paths)
    else:
        session.install("--force-reinstall", "--no-deps", *paths)


@nox.session(python=PYTHONS, tags=["tests"])
@nox.parametrize("package", PACKAGES)
def tests(session: nox.Session, package: str) -> None:
    """The tests of one package, with nothing of ours installed but its wheel and those that it needs."""
    session.install(*group("test"))
    install_wheels(session, *WHEELS[package])
    session.run("pytest", f"packages/{package}/tests", *session.posargs)


@nox.session(tags=["tests"])
@nox.parametrize("python,jax", JAX)
def integration(session: nox.Session, jax: str) -> None:
    """Every setting and every refusal, with a real jax on the CPU: the matrix."""
    install_jax(session, jax)
    session.run("pytest", *IN_PARALLEL, "tests-integration/jax", *session.posargs)


@nox.session(default=False)
@nox.parametrize("python,jax", JAX)
def compatibility(session: nox.Session, jax: str) -> None:
    """Measure the rows of one jax, and write them into the compatibility table of the docs."""
    install_jax(session, jax)
    session.run("python", "tests-integration/jax_outcomes.py")


def install_jax(session: nox.Session, jax: str) -> None:
    """One jax with what it was tried with, pytest, and our wheels."""
    session.install(*group("test", "parallel"), f"jax=={jax}", "-c", f"tests-integration/constraints/jax-{jax}.txt")
    install_wheels(session, *ALL_WHEELS)


@nox.session(python=NEWEST, tags=["tests"])
@nox.parametrize("backend", list(ACCELERATORS))
def accelerator(session: nox.Session, backend: str) -> None:
    """The same with a jax for an accelerator, on a machine that has one."""
    if backend.startswith("cuda") and not (sys.platform == "linux" and _lists_a_gpu()):
        session.skip(f"{backend}: nvidia-smi lists no NVIDIA GPU on this machine")
    if backend == "rocm" and not os.path.exists("/dev/kfd"):
        session.skip("rocm: there is no /dev/kfd, so no AMD GPU, on this machine")
    if backend == "metal" and not (sys.platform == "darwin" and os.uname().machine == "arm64"):
        session.skip("metal: this machine is no Mac with Apple silicon")
    session.install(*group("test"), ACCELERATORS[backend])
    install_wheels(session, *ALL_WHEELS)
    session.run("pytest", "tests-integration/accelerator", *session.posargs, env={"SUBSTRAX_TEST_BACKEND": backend})


def _lists_a_gpu() -> bool:
    import subprocess

    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.startswith(b"GPU ")


@nox.session(python=NEWEST, tags=["tests"])
def shells(session: nox.Session) -> None:
    """The environment file and the templates, in every shell; in CI they are installed, and none may be missing."""
    if os.environ.get("CI"):
        _install_shells(session)
    session.install(*group("test", "parallel", "shells"))
    install_wheels(session, *ALL_WHEELS)
    session.run("pytest", *IN_PARALLEL, "tests-integration/shells", *session.posargs)


def _install_shells(session: nox.Session) -> None:
    missing = [package for package, command in SHELLS.items() if shutil.which(command) is None]
    if missing and shutil.which("apt-get"):
        as_root = [] if os.geteuid() == 0 else ["sudo"]
        apt = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
        session.run(*apt, "update", external=True, silent=True)
        session.run(*apt, "install", "--yes", "--no-install-recommends", *missing, external=True, silent=True)


@nox.session(python=NEWEST, tags=["tests"])
def installs(session: nox.Session) -> None:
    """Wheels in clean environments, repositories that use us, and the README: what a new user does."""
    session.install(*group("test", "installs"))
    install_wheels(session, *ALL_WHEELS)
    session.run("pytest", "tests-integration/installs", *session.posargs)


@nox.session(python=NEWEST)
def lint(session: nox.Session) -> None:
    """Style, spelling, shell, and who may import whom."""
    session.install(*group("lint"))
    install_wheels(session, *ALL_WHEELS)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    session.run("shellcheck", "--shell=sh", *SHELL_FILES)
    session.run("shellcheck", ".ci/run")
    session.run("shfmt", "-d", "-ln", "posix", "-i", "4", "-ci", *SHELL_FILES)
    session.run("lint-imports")


@nox.session(python=PYTHONS[0])
def types(session: nox.Session) -> None:
    """Mypy and pyright, over the sources and over what a user writes against the wheels."""
    session.install(*group("types"))
    install_wheels(session, *ALL_WHEELS)
    sources = [f"packages/{name}/src" for name in PACKAGES]
    session.run("mypy", *sources)
    session.run("mypy", "tests-integration/installs/typed_user.py")
    session.run("pyright", *sources, "tests-integration/installs/typed_user.py")


@nox.session(python=NEWEST)
def build(session: nox.Session) -> None:
    """Each sdist, and from it the wheel, checked and compared with the one that the tree gives."""
    session.install(*group("build"))
    work = Path(session.create_tmp()).resolve()
    for name in PACKAGES:
        dist, tree = work / name / "dist", work / name / "tree"
        shutil.rmtree(work / name, ignore_errors=True)
        session.run("python", "-m", "build", "--quiet", "--outdir", str(dist), f"packages/{name}")
        session.run("python", "-m", "build", "--quiet", "--wheel", "--outdir", str(tree), f"packages/{name}")
        [sdist], [wheel], [from_tree] = dist.glob("*.tar.gz"), dist.glob("*.whl"), tree.glob("*.whl")
        session.run("twine", "check", "--strict", str(sdist), str(wheel))
        session.run("check-wheel-contents", str(wheel))
        if wheel.read_bytes() != from_tree.read_bytes():
            session.error(f"the wheel of {name} from its sdist is not the one from the tree")
        if Path("LICENSE").read_bytes() != Path(f"packages/{name}/LICENSE").read_bytes():
            session.error(f"packages/{name}/LICENSE is no copy of LICENSE")
        if name == "substrax-managed-env":
            _compare_templates(session, wheel)


def _compare_templates(session: nox.Session, wheel: Path) -> None:
    """They are in the wheel through a symbolic link, which a checkout can turn into a file without a word."""
    from zipfile import ZipFile

    version = Path("shell/VERSION").read_text(encoding="ascii").strip()
    with ZipFile(wheel) as archive:
        for file in ("activate.sh", "setup.sh", "VERSION"):
            text = Path("shell", file).read_bytes()
            if archive.read(f"substrax_managed_env/templates/{file}") != text:
                session.error(f"shell/{file} is not what {wheel.name} holds")
            if file != "VERSION" and f"substrax shell template {version}, ".encode() not in text:
                session.error(f"shell/{file} does not say that it is of version {version}")


@nox.session(python=NEWEST)
def docs(session: nox.Session) -> None:
    """The site, with warnings as errors, and every example of a docstring."""
    session.install(*group("docs"))
    install_wheels(session, *ALL_WHEELS)
    session.run("sphinx-build", "-W", "--keep-going", "-q", "docs", "docs/_build/html")
    session.run("sphinx-build", "-W", "-q", "-b", "doctest", "docs", "docs/_build/doctest")


@nox.session(default=False, python="3.12")
def benchmarks(session: nox.Session) -> None:
    """What we cost, as ratios to the floor and to the like-named distribution; with its figures, never asserted."""
    session.install(*group("test", "shells"), "jaxlib", "-c", f"tests-integration/constraints/jax-{JAX[-1][1]}.txt")
    install_wheels(session, *ALL_WHEELS)
    peer = Path(session.create_tmp()).resolve() / "peer"
    if not (peer / "bin" / "python").exists():
        session.run("python", "-m", "venv", "--without-pip", str(peer))
        session.install("--python", str(peer / "bin" / "python"), "substrax==0.1.22")
    session.run("python", "tests-integration/benchmarks/processes.py", str(peer / "bin" / "python"), *session.posargs)
    session.run("python", "tests-integration/benchmarks/growth.py")
    session.run("python", "tests-integration/benchmarks/checking.py")
    session.run("python", "tests-integration/benchmarks/shells.py")


@nox.session(default=False, python=NEWEST)
def lock(session: nox.Session) -> None:
    """Write the constraints of the jax matrix anew."""
    session.install("uv")
    for python, jax in JAX:
        wanted = Path(session.create_tmp()) / f"jax-{jax}.in"
        wanted.write_text(f"jax=={jax}\n", encoding="utf-8")
        session.run(
            *("uv", "pip", "compile", "--quiet", "--universal", "--upgrade", "--no-header", "--no-annotate"),
            *("--python-version", python, "--output-file", f"tests-integration/constraints/jax-{jax}.txt", str(wanted)),
        )


if __name__ == "__main__":
    nox.main()
