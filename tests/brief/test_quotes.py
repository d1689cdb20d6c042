"""All that the user typed stands in the brief, in order, under one shared limit of characters."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief import quotes
from holdfast.brief.compose import Brief, compose
from holdfast.brief.item import BriefItem
from holdfast.brief.quotes import LEAST_CHARS, USUAL_CHARS, WHERE_CHARS
from holdfast.budget.compartments import units
from holdfast.checkpoint.sections import sections_of
from holdfast.record.model import FileUse, Place, Record, Task, Turn
from tests.checkpoint.sessions import UNMARKING, Session
from tests.transcript import builders as b

pytestmark = pytest.mark.requirement("B11")
LONG = (
    "Rework the parser of the gauges so that every height is kept in metres, please, and test it."
)
LETTERS = "abcdefghijklmnopqrstuvwxyz äß不要改接口はい항상"
WORDS = st.text(LETTERS, min_size=1, max_size=900).map(lambda words: f"w{words}w")


def said(*words: str) -> Record:
    turns = [Turn(text, Place(n, "", n), chars=len(text)) for n, text in enumerate(words)]
    return Record(turns=turns, op=len(words), session_id="s")


def quoted(brief: Brief) -> list[BriefItem]:
    found = [one for one in brief.items if one.section == quotes.SECTION and one.pinned]
    return sorted((one for one in found if one.order >= 0), key=lambda one: one.order)


def words_of(item: BriefItem) -> str:
    return item.text.removeprefix("“").rpartition("”")[0]


def busy(record: Record) -> Record:
    """Much else that would like to be told."""
    for number in range(150):
        record.files[f"src/part_{number}/a_long_name_of_a_file_{number}.py"] = FileUse(1, 2, 3)
        record.tasks[str(number)] = Task(f"task number {number} of very many", Place())
    return record


def test_everything_typed_in_any_way_stands_in_the_brief_in_order(tmp_path: Path) -> None:
    refused = "The user doesn't want to proceed with this tool use. To tell you how to proceed, "
    refused += "the user said:\nleave moon.py as it is"
    command = "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n"
    command += "<command-args>the table by Friday</command-args>"
    form = {"answers": {"Which store?": "a flat file"}}
    note = {**b.attachment(), "attachment": {"type": "queued_command", "prompt": "mind the swell"}}
    session = Session(UNMARKING).user("around here we squash before a merge").says("Noted.")
    session.user("die Prüfer mögen keine langen Zeilen").says("Gut.").user("今後は日本語で書いて。")
    session.says("はい。").queues("and the reviewers hate TODOs").works(2)
    session.calls("Edit", refused, error=True, copy="User rejected tool use", file_path="/moon.py")
    session.calls("AskUserQuestion", "ok", copy=form, questions=[{"question": "Which store?"}])
    session.user(command).says("Planned.")
    session.lines.append(note)
    session.user("<bash-input>make tides</bash-input>").says("ok").user("no").works(30)
    text = compose(busy(session.record(tmp_path)), 2000).text
    places = [
        text.index(f"“{words}”")
        for words in (
            "and the reviewers hate TODOs",  # it waits in the queue
            "no",  # the current request
            "around here we squash before a merge",
            "die Prüfer mögen keine langen Zeilen",
            "今後は日本語で書いて。",
            "leave moon.py as it is",
            "a flat file",
            "/plan the table by Friday",
            "mind the swell",
            "! make tides",
        )
    ]
    assert places == sorted(places)


@given(words=st.lists(WORDS, min_size=1, max_size=60, unique=True), room=st.integers(0, 9000))
def test_the_words_take_the_room_they_are_given_and_the_limit_is_the_largest(
    words: list[str], room: int
) -> None:
    record = said(*words)
    items = quotes.items(record, room)
    quoted_words = [one for one in items if one.text != quotes.ALL_TYPED]
    cost = sum(units(one.text) + quotes.PER_LINE for one in quoted_words)
    last = quotes.quotes(record)[-1]
    assert cost <= max(room, units(last.text) + USUAL_CHARS)
    if len(items) == len(words) and any(one.text.endswith(" …”") for one in items[:-1]):
        limit = max(len(words_of(one)) for one in items[:-1])
        assert limit <= USUAL_CHARS
        assert room - cost < (len(words) + 1) * 14 or limit >= USUAL_CHARS - 14


def test_of_a_wall_head_and_tail_stand_in_the_brief(tmp_path: Path) -> None:
    wall = "Leave the columns alone.\n" + "- a column holds metres.\n" * 600 + "Ask me at the end."
    text = compose(Session().user(wall).says("ok").record(tmp_path), 2000).text
    assert "“Leave the columns alone." in text and "Ask me at the end.”" in text
    assert "[…]" in text
    assert f"({len(wall):,} characters, line 1 of the transcript)" in text


@pytest.mark.slow
def test_of_very_many_the_newest_stand_and_a_line_says_how_many_are_older() -> None:
    count = 2000
    record = Record(session_id="s", op=count)
    for number in range(count):
        record.turns.append(Turn(f"Prompt {number} of many: {LONG}", Place(number, "", number)))
    brief = compose(busy(record), 2000)
    kept = quoted(brief)
    assert f"({count - len(kept)} more messages: the tool `recall` finds them" in brief.text
    assert [int(one.order) for one in kept] == list(range(count - len(kept), count))
    assert len(kept) > 30
    assert len(words_of(kept[0])) <= LEAST_CHARS + WHERE_CHARS, (
        "what room is left makes them longer"
    )


@pytest.mark.requirement("B11")
def test_images_and_interruptions_stand_with_the_words(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    session = Session().user([{"type": "text", "text": "Can you fix this?"}, image])
    session.user("[Request interrupted by user]").user("Use the tide tables instead.")
    text = compose(session.works(2).record(tmp_path)).text
    stopped = "(interrupted before the model began)"
    assert f"- “Can you fix this? [Image]” (turn 1) {stopped}\n" in text
    assert text.index("- “Use the tide tables instead.” (turn 2)\n") < text.index(
        "Can you fix this?"
    )


@pytest.mark.requirement("B11", "C14")
def test_a_request_that_the_user_stopped_is_marked_in_brief_and_checkpoint(tmp_path: Path) -> None:
    session = Session().user("Send the heights to the harbour master.")
    session.user("[Request interrupted by user]").user("Print them on paper instead.")
    session.runs("make paper").user("[Request interrupted by user]").user("Now the moon.")
    record = session.says("It is drawn.").record(tmp_path)
    stopped = "(interrupted before the model began)"
    assert f"“Send the heights to the harbour master.” (turn 1) {stopped}" in compose(record).text
    assert "“Print them on paper instead.” (turn 2) (interrupted)" in compose(record).text
    assert sections_of(record)["Why Changed"] == [
        f"turn 1 {stopped}: “Send the heights to the harbour master.”",
        "turn 2 (interrupted): “Print them on paper instead.”",
        "turn 3: “Now the moon.”",
    ]
