"""What an archived transcript said is found and expanded once the client has deleted its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.archive import transcripts
from holdfast.archive.save_transcripts import save_all
from holdfast.memory.expand import expand
from holdfast.memory.recall import recall
from tests.archive.sessions import ROOM, TOKEN
from tests.memory.transcripts import a_session
from tests.segment.library_builders import a_segment, kept

pytestmark = pytest.mark.requirement("R9", "M6")
TALK = (
    f"the deploy token is {TOKEN}; which port does staging use?",
    "Staging runs PostgreSQL on port 5544, behind the bastion.",
    "and how do we deploy?",
    "Deployments go through the blue pipeline on Tuesdays.",
)


def test_a_result_keeps_its_id_when_the_client_deletes_the_transcript(project: Path) -> None:
    path = a_session(project, "s1", *TALK)
    [before, *_] = recall("blue pipeline", project=str(project)).found
    save_all(ROOM)
    path.unlink()
    [after, *_] = recall("blue pipeline", project=str(project)).found
    assert after.id == before.id
    assert after.item.file == transcripts.copy_of(str(path))
    whole = expand(before.id, project=str(project))
    assert "Deployments go through the blue pipeline on Tuesdays." in whole.text
    assert not whole.gone


def test_a_segment_leads_back_to_the_archived_turns(project: Path) -> None:
    path = a_session(project, "s1", *TALK)
    told = {"project": str(project), "transcript": str(path)}
    one = a_segment(metadata=told, start_turn=1, end_turn=2)
    kept(one)
    recall("anything", project=str(project))
    save_all(ROOM)
    path.unlink()
    found = recall(one.topic, project=str(project), kinds=["segment"]).found
    whole = expand(found[0].id, project=str(project))
    assert "port 5544" in whole.text
    assert any("from the copy" in note for note in whole.notes)
