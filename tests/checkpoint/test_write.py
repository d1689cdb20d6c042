"""Saving a checkpoint: Markdown and snapshot, once per state, with its parent."""

import json
import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.checkpoint import index, snapshot
from holdfast.checkpoint.verify import verify
from holdfast.checkpoint.write import keep
from holdfast.files import folders
from tests.checkpoint.documents import NOON, a_document, final_names, in_project


def _mode(path: Path | str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116


@pytest.mark.requirement("C1", "C5")
def test_a_kept_checkpoint_has_two_faces_and_verifies(project: Path) -> None:
    document = a_document(project, "one", snapshot={"key_decisions": ["use tabs"], "extra": 1})
    kept = keep(document)
    assert kept.path == f"{in_project(project)}/2026-01-15-120000.md"
    assert verify(kept.path, index.load()).ok
    face = snapshot.load(str(project), kept.id)
    assert (face["session_id"], face["trigger"], face["timestamp"]) == (
        "s1",
        "auto",
        "2026-01-15T12:00:00Z",
    )
    assert (face["key_decisions"], face["recent_actions"], face["extra"]) == (["use tabs"], [], 1)
    assert (kept.reused, kept.why_elsewhere, kept.notes) == (False, "", ())


@pytest.mark.requirement("X4", "C10")
def test_files_are_owner_only_and_hidden_from_git(project: Path) -> None:
    before = os.umask(0)
    try:
        kept = keep(a_document(project))
    finally:
        os.umask(before)
    ours = Path(folders.root())
    assert (in_project(project) / ".gitignore").read_text() == "*\n"
    for path in [Path(kept.path), *ours.rglob("*"), *in_project(project).iterdir()]:
        assert _mode(path) == (0o700 if path.is_dir() else 0o600), path
    for folder in (ours, in_project(project), in_project(project).parent):
        assert _mode(folder) == 0o700


@pytest.mark.requirement("C9")
def test_the_same_state_is_the_same_checkpoint(project: Path) -> None:
    first = keep(a_document(project, state_hash="h1"))
    again = keep(a_document(project, state_hash="h1", created=NOON + timedelta(minutes=5)))
    assert (again.id, again.path, again.reused) == (first.id, first.path, True)
    assert again.document.sections == first.document.sections
    assert len(final_names(in_project(project))) == 1
    other = keep(a_document(project, state_hash="h1", session_id="s2"))
    agents = keep(a_document(project, state_hash="h1", agent_id="a1"))
    assert not other.reused
    assert not agents.reused


@pytest.mark.requirement("C8")
def test_each_window_counts_its_own_and_knows_its_parent(project: Path) -> None:
    first, second = keep(a_document(project, "a")), keep(a_document(project, "b"))
    agents = keep(a_document(project, "c", agent_id="a1"))
    assert [one.document.iteration for one in (first, second, agents)] == [1, 2, 1]
    assert [one.document.parent for one in (first, second, agents)] == ["", first.id, ""]
    stated = keep(a_document(project, "d", iteration=9, parent="elsewhere"))
    assert (stated.document.iteration, stated.document.parent) == (9, "elsewhere")


@pytest.mark.requirement("X6", "C8")
def test_a_clock_set_back_does_not_turn_the_line_around(project: Path) -> None:
    late = keep(a_document(project, "a"))
    early = keep(a_document(project, "b", created=NOON - timedelta(days=2)))
    third = keep(a_document(project, "c", created=NOON - timedelta(days=1)))
    assert [early.document.parent, third.document.parent] == [late.id, early.id]
    assert third.document.iteration == 3
    assert keep(a_document(project, "c")).reused


@pytest.mark.requirement("X6")
def test_a_snapshot_that_cannot_be_json_is_noted_and_not_fatal(project: Path) -> None:
    endless: list[object] = []
    endless.append(endless)  # how deep a value may be depends on the version of Python
    kept = keep(replace(a_document(project), snapshot={"endless": endless}))
    assert any("snapshot" in note for note in kept.notes)
    assert verify(kept.path, index.load()).ok
    assert json.loads(Path(index.path()).read_text())["version"] == "1.0"
