"""A record is read on from where it ended only while it is the same file, and it can be true."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.record.model import Record
from holdfast.record.storage import read_on
from holdfast.window.state import State
from tests.checkpoint.sessions import Session

OLD, NEW = "Never touch the old module at all.", "Never touch the new module at all."


def _session(rule: str, works: int = 3) -> bytes:
    return Session().user(rule).works(works).runs("make all").data()


def _facts(path: Path, folder: Path) -> Record:
    folder.mkdir(exist_ok=True)
    return read_on(State(transcript=str(path), session_id="s1"), str(folder))


def _asked(record: Record) -> list[str]:
    return [turn.asked for turn in record.turns]


@pytest.mark.requirement("C11")
def test_a_transcript_that_grew_is_read_on(tmp_path: Path) -> None:
    path, folder = tmp_path / "t.jsonl", tmp_path / "window"
    path.write_bytes(_session(OLD))
    reached = _facts(path, folder).offset
    noted = folder / "record.json"
    kept = json.loads(noted.read_text())
    noted.write_text(json.dumps(kept | {"branch": "as it was kept"}))
    with path.open("ab") as file:
        file.write(Session().user(NEW).data())
    found = _facts(path, folder)
    assert found.offset > reached
    assert found.branch == "as it was kept", "what was read before is not read again"
    assert _asked(found) == [OLD, NEW]


def _set(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda kept: kept.update(values)


@pytest.mark.requirement("X6", "C12")
@pytest.mark.parametrize(
    "spoil",
    [
        _set(offset=-7),
        _set(offset=10**30),
        _set(names={"a": "x"}),
        lambda kept: kept.update(offset=kept["offset"] - 40),
    ],
)
def test_a_record_that_cannot_be_is_thrown_away(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], None]
) -> None:
    path, folder = tmp_path / "t.jsonl", tmp_path / "window"
    path.write_bytes(_session(OLD))
    good = _facts(path, folder)
    noted = folder / "record.json"
    kept = json.loads(noted.read_text())
    spoil(kept)
    noted.write_text(json.dumps(kept))
    assert _facts(path, folder) == good


@pytest.mark.requirement("C12", "X7", "U3")
def test_two_transcripts_of_one_name_are_two_sessions(tmp_path: Path) -> None:
    texts = []
    for name, rule in (("a", OLD), ("b", NEW)):
        path = tmp_path / name / "transcript.jsonl"
        path.parent.mkdir()
        path.write_bytes(_session(rule, 3 if name == "a" else 40))
        project = tmp_path / f"project-{name}"
        project.mkdir()
        asked = ["checkpoint", "--transcript", str(path), "--project", str(project)]
        found = CliRunner().invoke(holdfast_command, asked)
        assert found.exit_code == 0, found.output
        texts.append(Path(found.stdout.splitlines()[0]).read_text())
    assert OLD in texts[0]
    assert NEW in texts[1]
    assert OLD not in texts[1]
