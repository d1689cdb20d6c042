"""The cage the client runs in, tried with a small program in the client's place."""

import os
import socket
import sys
from pathlib import Path

import pytest

from tests.trial.namespace import NamespaceImpossible, confine, unshare_command
from tests.trial.script import Acts
from tests.trial.scripted_api import ScriptedApi


@pytest.fixture(autouse=True)
def _a_system_with_namespaces() -> None:
    try:
        unshare_command()
    except NamespaceImpossible as reason:
        pytest.skip(f"*** NO NETWORK NAMESPACE HERE: {reason} ***")


def _run(tmp_path: Path, code: str) -> str:
    """What a program printed that ran confined, with the scripted API at hand."""
    out = tmp_path / "out"
    environment = {"PATH": os.environ["PATH"]}
    with (
        out.open("wb") as stdout,
        confine(
            [sys.executable, "-I", "-c", code],
            folder=tmp_path,
            environment=environment,
            stdout=stdout,
            stderr=stdout,
        ) as program,
        ScriptedApi(Acts([]), listener=program.listener),
    ):
        assert program.ended_within(30)
    return out.read_text().strip()


@pytest.mark.slow
def test_the_confined_program_cannot_reach_a_listener_outside(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as outside:
        port = outside.getsockname()[1]
        code = (
            "import socket; s = socket.socket(); s.settimeout(5);"
            f"print(s.connect_ex(('127.0.0.1', {port})) != 0)"
        )
        assert _run(tmp_path, code) == "True"
