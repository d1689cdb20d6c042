"""The cage the client runs in, tried with a small program in the client's place."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.trial.namespace import (
    NamespaceImpossible,
    Patience,
    children_of,
    confine,
    unshare_command,
    wait_for_end,
)
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
def test_the_confined_program_reaches_the_scripted_api(tmp_path: Path) -> None:
    code = (
        "import os, urllib.request as r; url = os.environ['ANTHROPIC_BASE_URL'];"
        "print(r.urlopen(r.Request(url, method='HEAD'), timeout=10).status)"
    )
    assert _run(tmp_path, code) == "200"


@pytest.mark.slow
def test_the_confined_program_cannot_reach_a_listener_outside(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as outside:
        port = outside.getsockname()[1]
        code = (
            "import socket; s = socket.socket(); s.settimeout(5);"
            f"print(s.connect_ex(('127.0.0.1', {port})) != 0)"
        )
        assert _run(tmp_path, code) == "True"


def test_the_confined_program_has_no_way_out(tmp_path: Path) -> None:
    code = "print(len(open('/proc/net/route').read().splitlines()) - 1)"
    assert _run(tmp_path, code) == "0"


@pytest.mark.slow
def test_what_a_program_leaves_behind_in_its_group_is_ended(tmp_path: Path) -> None:
    code = "import subprocess as s; print(s.Popen(['sleep', '600']).pid)"
    left_behind = int(_run(tmp_path, code))
    assert wait_for_end(left_behind, 10)


def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    with (
        (tmp_path / "out").open("wb") as stdout,
        confine(
            ["/bin/sleep", "600"],
            folder=tmp_path,
            environment={},
            stdout=stdout,
            stderr=stdout,
        ) as program,
        program.listener,
    ):
        assert not program.ended_within(0)
    assert program.process.returncode == -15


@pytest.mark.slow
def test_patience_waits_for_new_children_and_not_for_residents() -> None:
    patience = Patience(os.getpid())
    with subprocess.Popen(["sleep", "600"]) as resident:
        patience()
        with subprocess.Popen(["sleep", "0.2"]) as hook:
            patience()
            assert hook.poll() == 0
        assert resident.pid in children_of(os.getpid())
        resident.kill()
