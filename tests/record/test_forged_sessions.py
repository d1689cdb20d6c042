"""A word is the user's only if the client's record says so; what the user typed is never lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.summary_instructions import write_instructions
from holdfast.checkpoint.sections import sections_of, snapshot_of
from holdfast.memory.expand import read_turns_of
from holdfast.memory.item import Item
from holdfast.record import model
from holdfast.record.model import Record
from holdfast.record.reader import read_record
from tests.checkpoint.sessions import Session

from .forged_sessions import ASKED, EVIL, FORGED, HONEST

SAID = ("## What the user said last", "## What the user said before, in order")
OF_USER = ("- request: “", "- said by the user: “")
PLAN = "a plan that the model wrote"
UNSURE = "Not Certain Who Said This"


def lines_of_user(record: Record) -> Iterator[str]:
    """All that any surface attributes to the user, without the words of the model that it
    answers."""
    for turn in record.turns:
        yield "" if turn.is_plan else turn.asked
        yield from (one.answer for one in turn.questions)
    for size in (2000, 400):
        brief = compose(record, size).text
        for heading in SAID:
            assert sum(line.strip() == heading for line in brief.splitlines()) <= 1, brief
            said = brief.partition(heading)[2].partition("\n## ")[0]
            yield from (line for line in said.splitlines() if line.startswith("- “"))
        yield brief.partition("not answered yet\n")[2].partition("\n## ")[0]
    for line in write_instructions(record).splitlines():
        is_users = line.startswith((*OF_USER, "- open question")) and PLAN not in line
        yield line if is_users else ""
    sections = sections_of(record)
    words = [one.partition("”")[0] for one in sections["Why Changed"]]
    yield from (one for one in [*words, *sections["Key Decisions"]] if PLAN not in one)
    summary = snapshot_of(record)["context_summary"]
    yield "" if PLAN in summary else summary.rpartition(" → ")[2]
    lines = [line for items in sections.values() for line in "\n".join(items).splitlines()]
    assert not any(line.lstrip("# -").startswith(tuple(one[3:] for one in SAID)) for line in lines)


@pytest.mark.requirement("B11", "C2", "X7")
@pytest.mark.parametrize("name", FORGED)
def test_nobody_else_speaks_as_the_user(name: str, tmp_path: Path) -> None:
    session = FORGED[name]()
    record = session.record(tmp_path)
    said = "\n".join(lines_of_user(record))
    assert EVIL not in said and "push straight" not in said
    assert ASKED in said
    assert "“From now" not in compose(record).text.replace(f"→ “{EVIL}", "")


@pytest.mark.requirement("B11", "C2")
@pytest.mark.parametrize("name", HONEST)
def test_no_word_that_was_typed_is_lost(name: str, tmp_path: Path) -> None:
    make, typed, apart = HONEST[name]
    record = make().record(tmp_path)
    words = [part for turn in record.turns if not turn.is_plan for part in [turn.asked]]
    assert words[0] == ASKED
    assert "\n".join(words[1:]) == "\n".join(typed)
    found = [one.text for one in record.unsure]
    assert len(found) == len(apart)
    brief = compose(record).text
    for text, one in zip(apart, found, strict=True):
        assert text in one
        assert one in sections_of(record)[UNSURE]
        assert " ".join(text.split())[:40].replace("<", "\u2039")[1:] in brief.replace(
            "<", "\u2039"
        )


@pytest.mark.requirement("B11", "C2")
def test_a_text_of_unknown_author_stands_apart_without_quotation_marks(tmp_path: Path) -> None:
    record = Session().user(ASKED).queues(EVIL).record(tmp_path)
    text = compose(record).text
    assert f"## Not certain who said this\n- {EVIL} (not delivered yet)" in text
    assert EVIL not in write_instructions(record)
    assert sections_of(record)[UNSURE] == [EVIL]


@pytest.mark.requirement("B11", "C2", "C12")
@pytest.mark.parametrize("name", [*FORGED, *HONEST])
def test_reading_on_after_each_line_makes_no_difference(name: str, tmp_path: Path) -> None:
    session = FORGED[name]() if name in FORGED else HONEST[name][0]()
    whole = session.record(tmp_path)
    lines, state = session.data().splitlines(keepends=True), Record()
    path = tmp_path / "s-1.jsonl"
    for count in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]))
        state = model.copy(read_record(path, state=state))
    assert [turn.asked for turn in state.turns] == [turn.asked for turn in whole.turns]
    assert state.unsure == whole.unsure


@pytest.mark.requirement("B11")
@pytest.mark.parametrize("name", [*FORGED][:10])
def test_the_text_of_old_turns_names_nobody_else_the_user(name: str, tmp_path: Path) -> None:
    path = FORGED[name]().written(tmp_path)
    item = Item("turn-1", "turn", "", file=str(path), first_turn=1, last_turn=99, uuids=("u-1",))
    for one in (item, item._replace(uuids=())):
        lines = read_turns_of(one).splitlines()
        assert not any(EVIL in line for line in lines if line.startswith("user: "))


@pytest.mark.requirement("B11")
def test_a_block_that_several_prompts_share_is_not_shown(tmp_path: Path) -> None:
    record = FORGED["an orchestrator"]().record(tmp_path)
    assert EVIL not in compose(record).text
    assert [turn.asked for turn in record.turns][-2:] == [
        "And name the files by their depth.",
        "Go.",
    ]
