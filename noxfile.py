"""The matrix: every supported Python with the locked versions, and the lowest versions we claim."""

from __future__ import annotations

import nox

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
WITHOUT_PAGE = {"HATCH_BUILD_NO_HOOKS": "1"}  # the dashboard is built by `make dashboard`
AS_THE_CLIENT = {"HOLDFAST_TEST_HOOKS": "started"}  # no forks in place of real starts
nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All but the real client, which one Python is enough for."""
    session.install("--require-hashes", "-r", "requirements.lock")
    session.install("--no-deps", "--no-build-isolation", "-e", ".", env=WITHOUT_PAGE)
    session.run(
        "pytest", "-q", "-n", "auto", "-m", "not real_client", *session.posargs, env=AS_THE_CLIENT
    )


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """The oldest version of every run-time dependency that pyproject.toml allows."""
    session.install("--require-hashes", "-r", "requirements.lock")
    session.install("uv")
    oldest = ("uv", "pip", "install", "--resolution", "lowest-direct", "--upgrade")
    extras = ".[serve,postgres,semantic]"
    session.run(*oldest, "--no-build-isolation", "-e", extras, silent=True, env=WITHOUT_PAGE)
    session.run(
        "pytest", "-q", "-n", "auto", "-m", "not real_client", *session.posargs, env=AS_THE_CLIENT
    )
