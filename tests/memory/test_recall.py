"""Finding again what was said, and the way back to it."""

import json
from pathlib import Path

import pytest

from holdfast.archive import transcripts
from holdfast.archive.save_transcripts import save_all
from holdfast.memory import engines, locations
from holdfast.memory.expand import FitsSeveral, NotFound, expand
from holdfast.memory.recall import recall
from holdfast.memory.sync import sync_project
from tests.archive.sessions import ROOM
from tests.memory.transcripts import a_session, said
from tests.segment.library_builders import a_segment, kept

TALK = (
    "which port does the staging database use?",
    "Staging runs PostgreSQL on port 5544, behind the bastion.",
    "and how do we deploy?",
    "Deployments go through the blue pipeline on Tuesdays.",
)


@pytest.mark.requirement("M6")
def test_a_result_names_the_lines_it_came_from_and_expands_to_them(project: Path) -> None:
    path = a_session(project, "s1", *TALK)
    [first, *_] = recall("blue pipeline", project=str(project)).found
    assert (first.item.file, first.item.session) == (str(path), "s1")
    assert (first.item.first_turn, first.item.uuids) == (2, ("s1-2", "s1-3"))
    whole = expand(first.id, project=str(project))
    assert "Deployments go through the blue pipeline on Tuesdays." in whole.text
    assert "Staging runs" not in whole.text
    told = whole.fenced()
    assert told.startswith("<holdfast-brief") and told.endswith("</holdfast-brief>")
    assert not whole.gone


@pytest.mark.requirement("M6")
def test_turns_go_with_their_transcript_and_what_was_made_of_them_stays(project: Path) -> None:
    """What is deleted there is deleted here, and said so; our own words for it are ours."""
    path = a_session(project, "s1", *TALK)
    made = a_segment("s1_seg_7", compressed_content="blue pipeline: Tuesdays", start_turn=1)
    made.metadata.project, made.metadata.transcript = str(project), str(path)
    kept(made)
    found = {one.item.kind: one.id for one in recall("blue pipeline", project=str(project)).found}
    path.unlink()
    left = recall("blue pipeline", project=str(project)).found
    assert [one.id for one in left] == [found["segment"]]
    whole = expand(found["segment"], project=str(project))
    assert whole.gone and "blue pipeline: Tuesdays" in whole.text
    assert "is gone" in whole.notes[0]
    with pytest.raises(NotFound) as error:
        expand(found["turn"], project=str(project))
    assert "forgotten with their transcript" in error.value.hint
    assert "segments, decisions and checkpoints" in error.value.hint


@pytest.mark.requirement("M6", "U3")
def test_the_start_of_an_id_is_enough_where_it_fits_one(project: Path) -> None:
    a_session(project, "s1", *TALK)
    ids = sorted(one.id for one in recall("staging pipeline", project=str(project)).found)
    first = ids[0]
    assert expand(first[:-2], project=str(project)).id == first
    with pytest.raises(FitsSeveral) as error:
        expand("turn-", project=str(project))
    assert error.value.exit_code == 2
    for word in ("zzz", ""):
        with pytest.raises(NotFound):
            expand(word, project=str(project))


@pytest.mark.requirement("M2")
def test_what_is_written_later_is_found_and_nothing_twice(project: Path) -> None:
    path = a_session(project, "s1", *TALK)
    before = sync_project(str(project))
    assert sync_project(str(project)).items == 0
    more = said("s1", "who owns the cache?", "The cache belongs to team Heron.", first=4)
    with path.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in more)
    after = sync_project(str(project))
    assert before.items == 2
    assert after.items == 2  # the last one may not have been whole: it is read again
    found = recall("Heron cache deployments", project=str(project), limit=50).found
    texts = [one.item.text for one in found]
    assert found[0].item.sayings[-1] == "The cache belongs to team Heron."
    assert len(texts) == len(set(texts)) == len({one.id for one in found})


@pytest.mark.requirement("M2")
def test_what_was_said_twice_is_given_once(project: Path) -> None:
    words = "the gauge at the north pier is read every day"
    a_session(project, "s1", words, "Noted.")
    a_session(project, "s2", words, "Noted.")
    assert len(recall("north pier gauge", project=str(project)).found) == 1


@pytest.mark.requirement("M2", "M6")
def test_a_segment_that_only_quotes_its_turns_is_no_second_result(project: Path) -> None:
    a_session(project, "s1", *TALK)
    for name, text in (("s1_seg_1", TALK[3]), ("s1_seg_2", "The blue pipeline needs two keys.")):
        made = a_segment(name, compressed_content=text, topic="", session_id="s1")
        made.metadata.project = str(project)
        kept(made)
    found = recall("blue pipeline", project=str(project)).found
    assert [one.id for one in found if one.kind == "segment"] == ["segment-s1_seg_2"]
    alone = recall("blue pipeline", project=str(project), kinds=("segment",)).found
    assert len(alone) == 2, "who asks for the kind gets both"


@pytest.mark.requirement("M3", "X6")
@pytest.mark.parametrize("damage", [b"", b"not a database at all", b"SQLite format 3\0" * 600])
def test_a_damaged_index_is_set_aside_made_again_and_said(project: Path, damage: bytes) -> None:
    a_session(project, "s1", *TALK)
    recall("bastion", project=str(project))
    engines.release()
    path = Path(locations.index_file(str(project)))
    path.write_bytes(damage)
    for tail in ("-wal", "-shm"):
        path.with_name(path.name + tail).unlink(missing_ok=True)
    answer = recall("bastion", project=str(project))
    assert TALK[1] in answer.found[0].text
    if damage:  # an empty file is simply filled
        assert any("made again" in note for note in answer.notes)
        assert [one.read_bytes() for one in path.parent.glob("*.damaged-*")] == [damage]


@pytest.mark.requirement("X4")
def test_secrets_are_not_indexed(project: Path) -> None:
    token = "ghp_" + "a1B2c3D4" * 5
    a_session(project, "s1", f"use the token {token} for releases", "noted, the releases are set")
    [first, *_] = recall("token releases", project=str(project)).found
    assert token not in first.text and "[redacted" in first.text
    data = b"".join(one.read_bytes() for one in Path(locations.root()).iterdir())
    assert token.encode() not in data
    assert token not in expand(first.id, project=str(project)).text


@pytest.mark.requirement("X4")
def test_the_index_is_the_owners_alone(project: Path) -> None:
    a_session(project, "s1", *TALK)
    sync_project(str(project))
    assert Path(locations.root()).stat().st_mode & 0o077 == 0
    assert all(one.stat().st_mode & 0o077 == 0 for one in Path(locations.root()).iterdir())


@pytest.mark.requirement("R9", "M6")
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


@pytest.mark.requirement("R9", "M6")
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
