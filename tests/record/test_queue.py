"""What was typed while the model worked is the user's word, and is kept once."""

from functools import partial
from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.record.reader import RecordReader
from holdfast.record.turns import MOST_QUEUED
from tests.checkpoint import sessions
from tests.checkpoint.sessions import UNMARKING
from tests.transcript import builders as b

pytestmark = pytest.mark.requirement("B11", "C2")
FIRST = "Please print the tides of the northern harbours."
Session = partial(sessions.Session, UNMARKING)
ALSO = "No, never use floats for heights, use decimals instead."


def asked(session: sessions.Session, folder: Path) -> list[str]:
    return [turn.asked for turn in session.record(folder).turns if turn.asked]


def note(prompt: object) -> dict[str, object]:
    return {**b.attachment(), "attachment": {"type": "queued_command", "prompt": prompt}}


@pytest.mark.parametrize("told", ["prompt", "note", "note in parts"])
def test_handed_over_it_is_not_kept_twice(told: str, tmp_path: Path) -> None:
    session = Session().user(FIRST).queues(ALSO).works(2).unqueues()
    line = {"prompt": b.prompt(ALSO), "note": note(ALSO), "note in parts": note([b.text(ALSO)])}
    session.lines.append(line[told])
    assert asked(session.works(1), tmp_path) == [FIRST, ALSO]


def test_several_are_handed_over_in_one(tmp_path: Path) -> None:
    session = Session().user(FIRST).queues(ALSO).works(1).queues("And the moon.").unqueues()
    session.says("Ready.").user(f"{ALSO}\nAnd the moon.")
    assert asked(session, tmp_path) == [FIRST, ALSO, "And the moon."]


def test_taken_back_before_anybody_read_it_it_was_not_said(tmp_path: Path) -> None:
    session = Session().user(FIRST).queues(ALSO).unqueues("popAll")
    assert asked(session, tmp_path) == [FIRST]


def test_more_than_the_queue_is_watched_for_are_all_kept(tmp_path: Path) -> None:
    words = [f"Number {number} of the list." for number in range(3 * MOST_QUEUED)]
    session = Session().user(FIRST)
    for one in words:
        session.queues(one)
    assert asked(session.works(1), tmp_path) == [FIRST, *words]


@pytest.mark.requirement("B12")
@pytest.mark.parametrize("handed_over", [True, False])
def test_what_was_done_before_the_model_read_it_belongs_to_the_turn_before(
    handed_over: bool, tmp_path: Path
) -> None:
    session = Session().user(FIRST).queues(ALSO).edits("/work/project/tide.py")
    session.runs("make test", "Error 1", fails=True).says("The tides are printed.")
    session = session.user(ALSO).says("On it.") if handed_over else session.unqueues("popAll")
    first, *rest = session.record(tmp_path).turns
    assert (first.said, first.edited) == ("The tides are printed.", ["tide.py"])
    assert [(turn.asked, turn.said, turn.edited) for turn in rest] == (
        [(ALSO, "On it.", [])] if handed_over else []
    )


@pytest.mark.parametrize("origin", [{"kind": "peer"}, {"kind": "coordinator"}])
def test_words_that_turn_out_to_be_anothers_are_taken_out(
    origin: dict[str, str], tmp_path: Path
) -> None:
    handed_over = note(ALSO)
    handed_over["attachment"] = {"type": "queued_command", "prompt": ALSO, "origin": origin}
    for line in (b.prompt(ALSO, origin=origin), handed_over):
        session = Session().user(FIRST).queues(ALSO).works(1).unqueues()
        session.lines.append(line)
        assert asked(session.works(1), tmp_path) == [FIRST]


@pytest.mark.requirement("B11", "B13")
def test_a_prompt_by_the_clock_is_nobodys_words_and_its_schedule_is_running(tmp_path: Path) -> None:
    prompt = "Look at the gauges: 1) read them 2) tell what changed"
    session = Session().user("Watch the gauges every ten minutes.")
    made = "Scheduled recurring job ab12cd34 (Every 10 minutes)."
    session.calls("CronCreate", made, cron="*/10 * * * *", prompt=prompt)
    session.queues(prompt).unqueues("dequeue").user(prompt, isMeta=True).says("All is calm.")
    record = session.record(tmp_path)
    assert [turn.asked for turn in record.turns] == ["Watch the gauges every ten minutes."]
    schedule = "schedule ab12cd34 (started in turn 1, no end seen): */10 * * * *: Look at"
    assert schedule in compose(record).text
    ended = session.calls("CronDelete", "Deleted.", id="ab12cd34").record(tmp_path)
    assert "running" not in compose(ended).text


@pytest.mark.parametrize("parts", [("{}",), ("{}", "And the moon.")])
def test_a_secret_in_a_queued_prompt_does_not_keep_it_waiting(
    parts: tuple[str, ...], tmp_path: Path
) -> None:
    """A hook between typing and delivery saves the words without the secret."""
    words = "Log in with password=" + "Xk9fQ2m" + "Lp7RtZ, then print the tides."
    typed = [part.format(words) for part in parts]
    session = Session().user(FIRST)
    for one in typed:
        session.queues(one)
    before = RecordReader().read_redacted(session.written(tmp_path))
    session.unqueues().works(1).user("\n".join(typed)).says("Done.")
    found = RecordReader(before).read_redacted(session.written(tmp_path))
    assert not any(turn.waits for turn in found.turns)
    assert len(found.turns) == 1 + len(typed)
