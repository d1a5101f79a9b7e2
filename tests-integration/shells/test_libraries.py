"""`LD_LIBRARY_PATH`: activating for the CUDA wheels takes a system's CUDA out of it, `deactivate` brings it back."""

import pytest

from posix_shells import make_project, quiet, run_in

LIBRARIES = """libraries() { sh -c 'echo "${LD_LIBRARY_PATH-unset}"'; }
"""


def taken(*entries):
    return f"DEMO: taken out of LD_LIBRARY_PATH, where it would hide the CUDA wheels: {' '.join(entries)}\n"


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    made = {}

    def get(shell, backend):
        key = shell == "yash", backend
        if key not in made:
            made[key] = make_project(tmp_path_factory.mktemp("p") / "p", shell, backend=backend)
        return made[key]

    return get


@pytest.mark.parametrize(
    ("before", "during", "said"),
    [
        pytest.param(
            "/usr/local/cuda-12.1/lib64:/opt/rocm/lib:/home/me/my-cuda-notes/lib:/x",
            "/opt/rocm/lib:/home/me/my-cuda-notes/lib:/x",
            ["/usr/local/cuda-12.1/lib64"],
            id="one of several",
        ),
        pytest.param("/usr/local/cuda/lib64", "unset", ["/usr/local/cuda/lib64"], id="nothing remains"),
        pytest.param(":/a", "/a", ["(empty)"], id="an empty one first"),
        pytest.param("/a::/b:", "/a:/b", ["(empty)", "(empty)"], id="empty ones"),
        pytest.param("", "unset", ["(empty)"], id="empty"),
        pytest.param("/a;/opt/cuda/lib;/b", "/a:/b", ["/opt/cuda/lib"], id="semicolons separate too"),
        pytest.param(
            "/apps/CUDA/12.1/lib:/apps/cuDNN/8.9-CUDA-12/lib:/opt/cudnn-linux-x86_64-8.9:/opt/cuda_11/lib:/opt/cudnn8",
            "unset",
            [
                "/apps/CUDA/12.1/lib",
                "/apps/cuDNN/8.9-CUDA-12/lib",
                "/opt/cudnn-linux-x86_64-8.9",
                "/opt/cuda_11/lib",
                "/opt/cudnn8",
            ],
            id="other spellings",
        ),
        pytest.param(
            "/opt/nvidia/hpc_sdk/Linux_x86_64/24.1/math_libs/12.3/lib64:/opt/nvidia/hpc_sdk/Linux_x86_64/24.1/comm_libs",
            "/opt/nvidia/hpc_sdk/Linux_x86_64/24.1/comm_libs",
            ["/opt/nvidia/hpc_sdk/Linux_x86_64/24.1/math_libs/12.3/lib64"],
            id="the HPC SDK's",
        ),
        pytest.param(
            "/usr/local/cuda/compat:/usr/local/cuda-12/compat/lib:/usr/local/nvidia/lib64",
            "/usr/local/cuda/compat:/usr/local/cuda-12/compat/lib:/usr/local/nvidia/lib64",
            None,
            id="the driver's",
        ),
        pytest.param("/opt/nccl_2.18+cuda12/lib:/a/cudart", "/opt/nccl_2.18+cuda12/lib:/a/cudart", None, id="others"),
        pytest.param(
            "/opt/cudnn_frontend/lib:/a/cuda-samples/lib",
            "/opt/cudnn_frontend/lib:/a/cuda-samples/lib",
            None,
            id="no version",
        ),
        pytest.param("unset", "unset", None, id="not set"),
        pytest.param("/a b/$(touch pwned):/cuda/`id`", "/a b/$(touch pwned)", ["/cuda/`id`"], id="nothing is executed"),
    ],
)
def test_a_system_cuda_goes_and_comes_back(shell, projects, before, during, said):
    root = projects(shell, "cuda12")
    env = {} if before == "unset" else {"LD_LIBRARY_PATH": before}
    messages = (taken(*said) if said else "") + quiet(root, backend="cuda12")

    code = f"{LIBRARIES}. ./activate.sh; libraries; . ./activate.sh; libraries; deactivate; libraries"

    # The dynamic loader of every process would look into an empty entry; there is nothing there.
    assert run_in(shell, code, cwd=root, env=env) == (0, f"{during}\n{during}\n{before}\n", messages * 2)
    assert not (root / "pwned").exists()


@pytest.mark.parametrize("backend", ["cpu", "rocm", "metal"])
def test_without_cuda_wheels_it_is_left_alone(shell, projects, backend):
    root = projects(shell, backend)
    code = f"{LIBRARIES}. ./activate.sh; libraries"

    assert run_in(shell, code, cwd=root, env={"LD_LIBRARY_PATH": "/usr/local/cuda/lib64::/a"}) == (
        0,
        "/usr/local/cuda/lib64::/a\n",
        quiet(root, backend=backend),
    )


def test_the_wheels_own_libraries_stay(shell, projects):
    root = projects(shell, "cuda13")
    own = f"{root}/.venv/lib/python3/site-packages/nvidia/cudnn/lib"

    assert run_in(shell, f"{LIBRARIES}. ./activate.sh; libraries", cwd=root, env={"LD_LIBRARY_PATH": own}) == (
        0,
        f"{own}\n",
        quiet(root, backend="cuda13"),
    )


def test_one_that_no_process_sees_is_left_alone(shell, projects):
    root = projects(shell, "cuda12")
    code = (
        f'{LIBRARIES}LD_LIBRARY_PATH=/cuda; . ./activate.sh; libraries; echo "$LD_LIBRARY_PATH"; deactivate; libraries'
    )

    assert run_in(shell, code, cwd=root) == (0, "unset\n/cuda\nunset\n", quiet(root, backend="cuda12"))


def test_a_readonly_one_is_refused(shell, projects):
    root = projects(shell, "cuda12")
    code = f"{LIBRARIES}readonly LD_LIBRARY_PATH; . ./activate.sh; echo $?; libraries"

    exit_code, output, errors = run_in(shell, code, cwd=root, env={"LD_LIBRARY_PATH": "/cuda"})

    assert (exit_code, output) == (0, "1\n/cuda\n")
    assert "or a variable that it or .venv sets is readonly here" in errors


def test_the_environment_files_own_wins(shell, tmp_path):
    root = make_project(tmp_path / "p", shell, backend="cuda12", extra={"LD_LIBRARY_PATH": "/cuda/chosen"})
    code = f"{LIBRARIES}. ./activate.sh; libraries; deactivate; libraries"

    assert run_in(shell, code, cwd=root, env={"LD_LIBRARY_PATH": "/cuda/system"}) == (
        0,
        "/cuda/chosen\n/cuda/system\n",
        quiet(root, backend="cuda12"),
    )


def test_the_users_own_file_wins(shell, tmp_path):
    root = make_project(tmp_path / "p", shell, backend="cuda12")
    (root / ".env").write_text("LD_LIBRARY_PATH=/cuda/mine\n")
    code = f"{LIBRARIES}. ./activate.sh; libraries; deactivate; libraries"

    exit_code, output, errors = run_in(shell, code, cwd=root, env={"LD_LIBRARY_PATH": "/cuda/system:/a"})

    assert (exit_code, output, errors) == (
        0,
        "/cuda/mine\n/cuda/system:/a\n",
        taken("/cuda/system") + quiet(root, backend="cuda12"),
    )
