"""The forms of the command line that others build on: each works, word for word."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.cli.options import demo_session
from tests.api.live import as_process

pytestmark = [pytest.mark.requirement("U3"), pytest.mark.slow]


def _run(form: str, **places: object) -> tuple[int, str]:
    words = [word.format(**places) for word in form.split()]
    ran = CliRunner().invoke(holdfast_command, words)
    return ran.exit_code, ran.stdout


@pytest.mark.parametrize(
    ("form", "holds"),
    [
        ("status --transcript {file} --json", lambda found: found["used_tokens"] > 0),
        ("replay {file} --json", lambda found: len(found["compactions"]) == 1),
        ("search gauge --json --limit 2", lambda found: len(found["results"]) <= 2),
        ("plan {plan} --json", lambda found: found["estimated_tokens"] > 0),
    ],
)
def test_a_reading_command_prints_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, holds: Callable[[Any], bool]
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = tmp_path / "plan.md"
    plan.write_text("- [ ] write the page on gauges\n")
    _run("checkpoint --transcript {file} --project {dir}", file=demo_session(), dir=tmp_path)
    code, out = _run(form, file=demo_session(), plan=plan)
    assert code == 0
    assert holds(json.loads(out))


def test_a_brief_keeps_within_its_tokens() -> None:
    code, out = _run("brief --transcript {file} --max-tokens 300", file=demo_session())
    assert code == 0
    assert 0 < len(out) < 2_000


def test_a_checkpoint_goes_into_the_project_and_verify_tells_when_it_was_changed(
    tmp_path: Path,
) -> None:
    form = "checkpoint --transcript {file} --project {dir}"
    code, out = _run(form, file=demo_session(), dir=tmp_path)
    saved = Path(out.strip())
    assert (code, saved.is_relative_to(tmp_path)) == (0, True)
    assert _run("verify {file}", file=saved)[0] == 0
    saved.write_text(saved.read_text().replace("make test", "make tests"))
    assert _run("verify {file}", file=saved)[0] == 1


def test_it_is_installed_examined_and_uninstalled() -> None:
    assert _run("install --yes")[0] == 0
    code, out = _run("doctor --json")
    assert (code, json.loads(out)["ok"]) == (0, True)
    assert _run("uninstall --yes")[0] == 0


def test_the_server_listens_where_it_is_told(tmp_path: Path) -> None:
    with as_process(f"sqlite:///{tmp_path}/a.db", "--host", "127.0.0.1") as server:
        assert server.port > 0


def test_mcp_answers_on_its_output_and_ends_with_its_input() -> None:
    ask = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    command = [sys.executable, "-m", "holdfast.cli", "mcp"]
    ran = subprocess.run(command, input=ask, capture_output=True, timeout=60)
    assert (ran.returncode, json.loads(ran.stdout)["id"]) == (0, 1)
