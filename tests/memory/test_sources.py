"""What is taken in: windows' transcripts, subagents, decisions, checkpoints, segments, messages."""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.checkpoint.checkpoint_file import Document
from holdfast.checkpoint.write import keep
from holdfast.memory import engines, turns
from holdfast.memory.expand import expand
from holdfast.memory.item import PIECE_CHARS, Item, pieces
from holdfast.memory.recall import recall
from holdfast.memory.sync import rebuild, sync_project
from holdfast.record import model as facts
from holdfast.segment import library
from holdfast.segment.formats import Compressed, Metadata
from holdfast.window import state
from holdfast.wire import places
from tests.memory.transcripts import a_line, a_session, said, written
from tests.transcript.builders import jsonl

NOW_MS = 1_772_000_000_000


def found(project: Path, query: str, *, cold: bool = False, everywhere: bool = False) -> list[Item]:
    answer = recall(query, project=str(project), cold=cold, everywhere=everywhere)
    return [one.item for one in answer.found]


def noted(project: Path, session: str, transcript: Path) -> Path:
    """A window as hooks leave it."""
    folder = Path(places.window(session))
    folder.mkdir(parents=True)
    told = state.State(session_id=session, project=str(project), transcript=str(transcript))
    state.save(str(folder), told)
    return folder


@pytest.mark.requirement("M2", "M6")
def test_a_transcript_that_hooks_named_is_found_wherever_it_lies(
    project: Path, tmp_path: Path
) -> None:
    path = tmp_path / "elsewhere.jsonl"
    path.write_bytes(jsonl(*said("s9", "where is the walrus?", "In the northern bay.")))
    noted(project, "s9", path)
    assert found(project, "walrus")[0].file == str(path)


@pytest.mark.requirement("M2")
def test_a_subagents_words_are_found_with_its_name(project: Path) -> None:
    path = a_session(project, "s1", "ask the explorer", "It is on its way.")
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    text = [{"type": "text", "text": "The pelican nests below the pier."}]
    line = a_line("assistant", text, 7, "s1", isSidechain=True, agentId="ab12")
    (folder / "agent-ab12.jsonl").write_bytes(jsonl(line))
    [first, *_] = found(project, "pelican")
    assert (first.agent, first.session) == ("ab12", "s1")


@pytest.mark.requirement("M2", "M6")
def test_a_fact_from_before_two_compactions_is_found_and_leads_to_its_turns(project: Path) -> None:
    lines = said("s1", "what is the code of the vault?", "The vault opens with 4711.")
    for number in range(2):
        passed = {"trigger": "auto", "preTokens": 1000}
        boundary = {"type": "system", "subtype": "compact_boundary", "uuid": f"b{number}"}
        lines.append(boundary | {"compactMetadata": passed})
        lines += said("s1", f"go on {number}", f"Working on {number}.", first=10 + 2 * number)
    written(project, "s1", lines)
    [first, *_] = found(project, "vault opens")
    assert first.uuids == ("s1-0", "b0")
    assert "4711" in expand(first.id, project=str(project)).text


@pytest.mark.requirement("M2", "M6")
def test_decisions_and_answers_lead_to_the_line_they_were_said_in(project: Path) -> None:
    path = a_session(project, "s1", "tabs, never", "I chose the bronze parser.")
    offset = path.read_bytes().index(b"\n") + 1
    folder = noted(project, "s1", path)
    known = facts.Record(session_id="s1", op=1)
    known.decisions.append(
        facts.Decision("I chose the bronze parser.", facts.Place(offset, "2026-03-01", 1))
    )
    place = facts.Place(0, "2026-03-01", 1)
    asked = facts.Question("Tabs or blanks?", place, "tabs, never")
    known.turns.append(facts.Turn("tabs, never", place, questions=[asked]))
    (folder / "record.json").write_bytes(facts.save(known))
    found = recall("bronze parser tabs", project=str(project), kinds=("decision",))
    assert {one.item.text: one.item.by for one in found.found} == {
        "I chose the bronze parser.": "model",
        "tabs, never": "user",
    }
    [rule] = [one.id for one in found.found if one.item.by == "user"]
    assert "user: tabs, never" in expand(rule, project=str(project)).text


def a_checkpoint(project: Path, hour: int, sections: dict[str, list[str]]) -> None:
    created = datetime(2026, 3, 1, hour, tzinfo=UTC)
    keep(Document(created, "manual", str(project), "s1", sections=sections))


@pytest.mark.requirement("X7")
@pytest.mark.parametrize(
    "inside",
    [".claude/checkpoints", "data/knowledge-db/compressed_context", ".claude/data/sessions"],
)
def test_a_link_in_a_project_brings_in_nothing_of_another(
    project: Path, tmp_path: Path, inside: str
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    a_checkpoint(private, 1, {"Next Steps": ["paint the lighthouse"]})
    (private / "s1" / "archived_context").mkdir(parents=True)
    told = Compressed("seg_s1_001", compressed_content="paint the lighthouse", session_id="s1")
    for folder in (private, private / "s1" / "archived_context"):
        (folder / "seg_s1_001.json").write_bytes(msgspec.json.encode(told))
    assert found(private, "lighthouse"), "it can be found in its own project"
    target = private / ".claude" / "checkpoints" if "checkpoints" in inside else private
    (project / inside).parent.mkdir(parents=True)
    (project / inside).symlink_to(target)
    assert found(project, "lighthouse", cold=True) == []


@pytest.mark.requirement("M2")
def test_what_several_checkpoints_say_is_found_once_in_the_newest(project: Path) -> None:
    for hour in (1, 2):
        told = {"Next Steps": ["paint the lighthouse"], "Key Decisions": [f"use lamp {hour}"]}
        a_checkpoint(project, hour, told)
    steps = recall("lighthouse", project=str(project), kinds=("checkpoint",)).found
    assert [Path(one.item.file).name for one in steps] == ["2026-03-01-020000.md"]
    assert "use lamp 2" in steps[0].text and "use lamp 1" not in steps[0].text
    Path(steps[0].item.file).unlink()
    [left] = recall("lighthouse", project=str(project), kinds=("checkpoint",)).found
    assert Path(left.item.file).name == "2026-03-01-010000.md"


def a_segment(project: Path, name: str, text: str, transcript: str = "") -> Compressed:
    about = Metadata(project=str(project), transcript=transcript, first_uuid="s1-0")
    made = Compressed(name, "tides", "s1", 1, 1, compressed_content=text)
    made.metadata = about
    return made


@pytest.mark.requirement("R6")
def test_segments_are_found_warm_by_default_and_cold_when_asked_for(project: Path) -> None:
    library.keep(a_segment(project, "seg1", "the buoy is red"), NOW_MS)
    cold = a_segment(project, "seg2", "the buoy was green")
    library.keep(cold, NOW_MS)
    library.demote(cold, NOW_MS)
    assert [one.text for one in found(project, "buoy")] == ["the buoy is red"]
    assert {one.text for one in found(project, "buoy", cold=True)} == {
        "the buoy is red",
        "the buoy was green",
    }


@pytest.mark.requirement("R6", "M6")
def test_a_segment_expands_to_its_turns_and_is_noted_as_read(project: Path) -> None:
    path = a_session(project, "s1", "what about the buoy?", "It is red.")
    library.keep(a_segment(project, "seg1", "buoy: red", str(path)), NOW_MS)
    [first] = [one for one in found(project, "buoy") if one.kind == "segment"]
    assert "what about the buoy?" in expand(first.id, project=str(project)).text
    path.unlink()
    gone = expand(first.id, project=str(project))
    assert gone.gone and "buoy: red" in gone.text
    kept = library.find("seg1")
    assert kept is not None and kept.access_count == 2


@pytest.mark.store
@pytest.mark.requirement("M2")
def test_messages_of_a_project_are_found_and_others_are_not(project: Path) -> None:
    from holdfast.hub import ids
    from holdfast.hub.board import messages
    from holdfast.hub.store.store import Store
    from holdfast.hub.tree.sessions import put_project

    store = Store.open()
    for path, words in ((project, "the anchor is stuck"), (project / "other", "anchor away")):
        store.write(partial(put_project, given={"path": str(path)}, now_ms=NOW_MS))
        row = messages.draft("a1", "notes", words, NOW_MS, project_id=ids.project_id(str(path)))
        store.write(partial(messages.post, row=row))
    store.close()
    [first] = found(project, "anchor")
    assert (first.kind, first.by, first.text) == ("message", 'agent "a1"', "the anchor is stuck")


@pytest.mark.requirement("M3")
def test_rebuild_makes_every_index_again_and_keeps_vectors(project: Path) -> None:
    a_session(project, "s1", "the kettle is hot", "Yes, it is.")
    sync_project(str(project))
    index = engines.open_index(str(project))
    index.begin_vectors("m")
    import numpy as np

    from holdfast.memory import vector

    [kept] = vector.encode(vector.unit(np.ones((1, 8), np.float32)))
    [(place, missing)] = index.without_vector(9).items()
    index.put_vectors("m", place, missing.hash, [kept])
    [done] = rebuild([str(project)])
    assert (done.project, done.items) == (str(project), 1)
    assert engines.open_index(str(project)).counts() == (1, 1, "m")


@pytest.mark.slow
@pytest.mark.requirement("X6")
def test_a_kill_while_taking_in_loses_nothing_and_doubles_nothing(project: Path) -> None:
    a_session(project, "s1", *[f"word{n} is said" for n in range(4_000)])
    code = (
        "import os, signal\n"
        "from holdfast.memory import sqlite_index\n"
        "from holdfast.memory.sync import sync_project\n"
        "was, at = sqlite_index.Embedded._add, [0]\n"
        "def add(self, ask, rows):\n"
        "    was(self, ask, rows[: len(rows) // 2])\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "sqlite_index.Embedded._add = add\n"
        f"sync_project({str(project)!r})\n"
    )
    run = subprocess.run([sys.executable, "-c", code], check=False, env=dict(os.environ))
    assert run.returncode == -signal.SIGKILL
    assert sync_project(str(project)).items == 2_000
    assert engines.open_index(str(project)).counts().items == 2_000


@pytest.mark.requirement("M2")
@given(st.text(max_size=6_000))
def test_pieces_are_short_and_lose_no_word(text: str) -> None:
    parts = pieces(text)
    assert all(0 < len(one) <= PIECE_CHARS for one in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


SECRET = "Tr0ub4dorXY99longsecret99"


def a_result(text: str, number: int) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    return a_line("user", [block], number, "s1")


@pytest.mark.slow
@pytest.mark.requirement("X4", "M2")
@pytest.mark.parametrize("name_chars", [0, 40, 130, 200])
@pytest.mark.parametrize("filler", ["heron " * 100, "heron\n" * 20_000])
def test_a_result_is_cut_once_its_secrets_are_gone(
    project: Path, name_chars: int, filler: str
) -> None:
    text = f"{filler}{'x' * name_chars}_DB_PASSWORD={SECRET * 6}"
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "show"}}
    called = a_line("assistant", [call], 2, "s1")
    path = written(project, "s1", [*said("s1", "show it", "Here."), called, a_result(text, 3)])
    told = turns.read(str(path), "").items
    assert any("heron" in one.more for one in told)
    assert not any("longsecret" in one.more for one in told)


@pytest.mark.requirement("X4", "M2", "M5")
def test_a_secret_is_known_in_later_readings_and_not_stored_for_it(project: Path) -> None:
    lines = said("s1", f"set DB_PASSWORD={SECRET} please", "Done.", "go on", "Well.")
    first = turns.read(str(written(project, "s1", lines)), "")
    for number in (4, 6, 8):
        lines += said("s1", "and?", f"I log in with {SECRET}", first=number)
        first = turns.read(str(written(project, "s1", lines)), first.state)
        assert first.start > 0, "it was read on"
        assert "log in with [redacted" in first.items[-1].text
        assert SECRET not in f"{first}"
