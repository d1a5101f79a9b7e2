"""`python -m substrax.runtime.managed_env`, which the distribution `substrax-managed-env` provides."""

try:
    # Whatever the installed version exports, so that a new name there needs no release here.
    from substrax_managed_env import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]
    from substrax_managed_env import main as main
except ModuleNotFoundError as error:
    # Any other missing module is a fault inside that distribution, and must show itself.
    if error.name != "substrax_managed_env":
        raise
    _message = (
        "substrax.runtime.managed_env is provided by the distribution 'substrax-managed-env', which is not installed "
        "in this environment; install it with: python -m pip install substrax-managed-env"
    )
    if __name__ == "__main__":
        raise SystemExit(f"error: {_message}") from None
    raise ModuleNotFoundError(_message, name="substrax_managed_env") from None

if __name__ == "__main__":
    raise SystemExit(main())
