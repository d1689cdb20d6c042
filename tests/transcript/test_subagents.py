"""Finding a session's subagents, and never leaving its folder for it."""

from pathlib import Path

import pytest

from holdfast.transcript.lookup import subagent_files


def test_subagents_are_found_beside_their_session(tmp_path: Path) -> None:
    folder = tmp_path / "s-1" / "subagents"
    folder.mkdir(parents=True)
    for name in ("agent-b2.jsonl", "agent-a1.jsonl", "agent-a1.meta.json", "notes.jsonl"):
        (folder / name).touch()
    (folder / "agent-folder.jsonl").mkdir()
    (folder / "agent-link.jsonl").symlink_to("/etc/passwd")
    assert subagent_files(tmp_path / "s-1.jsonl") == [
        ("a1", folder / "agent-a1.jsonl"),
        ("b2", folder / "agent-b2.jsonl"),
    ]
    assert len(subagent_files(str(tmp_path / "s-1.jsonl.gz"))) == 2  # a packed one has the same


@pytest.mark.requirement("X7")
@pytest.mark.parametrize("name", ["...jsonl", "..", ".jsonl", "a b.jsonl", "..jsonl"])
def test_a_session_name_that_could_lead_elsewhere_is_no_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "subagents").mkdir()
    (tmp_path / "subagents" / "agent-a1.jsonl").touch()
    assert subagent_files(tmp_path / "session" / name) == []
