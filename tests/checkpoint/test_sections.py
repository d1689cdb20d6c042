"""What a reader of a checkpoint finds: every edited file, what is open, what was said."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.brief import checkpoint_brief
from holdfast.brief.compose import compose
from holdfast.checkpoint.checkpoint_file import Document, normalize, render
from holdfast.checkpoint.sections import TOKENS, sections_of, share_out, snapshot_of
from holdfast.wire.mark import CHARS_PER_TOKEN
from tests.checkpoint.sessions import Session

REQUEST = "Please build the tide tables, and report the hours that the gauge missed."
WHEN = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.mark.requirement("C14", "B12")
def test_requests_stand_in_order_each_with_its_answer(tmp_path: Path) -> None:
    session = Session().user("Write chapter one of the tide tables, whole.")
    session.edits("/work/project/one.md").says("Chapter one is there.").user("Only look at it.")
    session.says("Looked.").user("Write chapter two of the tide tables, whole.")
    session.edits("/work/project/two.md").edits("/work/project/index.md")
    assert sections_of(session.record(tmp_path))["Why Changed"] == [
        "turn 1: “Write chapter one of the tide tables, whole.”\n→ “Chapter one is there.”",
        "turn 2: “Only look at it.” (to “Chapter one is there.”)\n→ “Looked.”",
        "turn 3: “Write chapter two of the tide tables, whole.”",
    ]


def long_session(turns: int) -> Session:
    session = Session()
    for number in range(1, turns + 1):
        session.user(f"Prompt {number}: {'tell me more of it; ' * 40}and stop.")
        session.edits(f"/work/project/part{number}/tide{number}.py").runs(f"make {number}", "no")
        session.says(f"Answer {number}. " + "It was a long way. " * 40)
    return session


@pytest.mark.requirement("C14")
@pytest.mark.parametrize("turns", [1, 20, 60, 300])
def test_a_checkpoint_is_short_and_says_what_it_leaves_out(turns: int, tmp_path: Path) -> None:
    record = long_session(turns).record(tmp_path)
    document = Document(WHEN, "auto", "/work/project", "s", sections=sections_of(record))
    assert len(render(normalize(document))) <= TOKENS * CHARS_PER_TOKEN
    words = document.sections["Why Changed"]
    assert f"Prompt {turns}: {'tell me more of it; ' * 40}and stop." in words[-1]
    assert f"Answer {turns}." in document.sections["Next Steps"][0]
    numbers = [int(one.split(":")[0][5:]) for one in words if one.startswith("turn ")]
    first = numbers[1] if turns > 1 else 1
    assert numbers == [1, *range(max(first, 2), turns + 1)], "the first one always stands"
    assert len(numbers) >= min(turns, 10)
    if first > 2:
        assert words[1].startswith(f"(turns 2 to {first - 1} are not shown: see `holdfast search`")


@pytest.mark.requirement("C14")
def test_a_very_short_reply_is_shown_with_the_question_it_answers(tmp_path: Path) -> None:
    session = Session().user("Print the tides of all the harbours in the north, please.")
    session.says("They are printed. Shall I push them?").user("yes").says("Pushed.")
    record = session.record(tmp_path)
    told = "turn 2: “yes” (to “They are printed. Shall I push them?”)"
    assert sections_of(record)["Why Changed"][-1] == told
    assert snapshot_of(record)["context_summary"] == "They are printed. Shall I push them? → yes"
    summary = snapshot_of(session.user("go on").record(tmp_path))["context_summary"]
    assert summary == "Print the tides of all the harbours in the north, please. → go on"


@pytest.mark.requirement("C14")
def test_of_very_many_edited_files_the_oldest_are_counted_and_listed_by_folder(
    tmp_path: Path,
) -> None:
    session = Session().user(REQUEST)
    for number in range(450):
        session.says(f"Now mend number {number}.")
        session.edits(f"/work/project/src{number % 3}/edited{number}.py")
    changed = sections_of(session.record(tmp_path))["What Changed"]
    assert changed[0] == "src2/edited449.py (turn 1): “Now mend number 449.”"
    shown = len(changed) - 1
    assert changed[-1].startswith(f"{450 - shown} more files (see `holdfast search`")
    assert f": src{(449 - shown) % 3}/: edited{449 - shown}.py, " in changed[-1]
    assert changed[-1].endswith(" …")


@pytest.mark.requirement("C14")
def test_a_changed_file_says_what_was_done_to_it(tmp_path: Path) -> None:
    hunk = {"oldStart": 9, "newStart": 10, "lines": [" low = 1", "-ebb = 2", "+ebb = 3", "+x = 4"]}
    patch, new = {"structuredPatch": [hunk]}, {"content": "a\nb\n", "structuredPatch": []}
    session = Session().user(REQUEST).edits("/work/project/a.py", copy=patch)
    session.says("Now let me look at the build:").runs("make").edits("/work/project/b.py")
    session.runs("rm b.py").says("It drops null fields. Fix it:")
    session.edits("/work/project/c.py").edits("/work/project/c2.py", copy=patch).works(4)
    session.user("And the moon?").calls("Write", file_path="/work/project/d.py", copy=new)
    session.calls("mcp__desk__edit_block", file_path="/work/project/e.py", old="a", new="b")
    session.calls("mcp__desk__write_note", note="/work/project/f.py")
    assert sections_of(session.record(tmp_path))["What Changed"] == [
        "e.py (turn 2)",
        "d.py (turn 2, in all +2 -0 lines)",
        "c2.py (turn 1, in all +2 -1 lines)",
        "c.py (turn 1): “It drops null fields. Fix it:”",
        "b.py (turn 1): removed since",
        "a.py (turn 1, in all +2 -1 lines)",
    ]


@pytest.mark.requirement("B11", "C14")
def test_a_transcript_that_begins_midway_is_said_to(tmp_path: Path) -> None:
    record = Session().compacts().user(REQUEST).record(tmp_path)
    words = "the transcript begins midway: earlier words are in another file"
    assert words in sections_of(record)["Active Issues"]
    assert words.capitalize() in compose(record).text


@pytest.mark.requirement("B7")
def test_an_offer_says_what_was_asked_and_what_is_open(tmp_path: Path) -> None:
    facts = Session().user(REQUEST).says("Now the gaps.").runs("make").record(tmp_path)
    kept = Document(
        WHEN, "auto", "/p", "s", sections=sections_of(facts), snapshot=snapshot_of(facts)
    )
    text = checkpoint_brief.in_few_lines("/p/.claude/checkpoints/a.md", normalize(kept), WHEN)
    assert f": {REQUEST}" in text
    assert f"- turn 1, 2026-11-15 06:25, the model was still at work: \u2018{REQUEST}\u2019" in text


@pytest.mark.requirement("C14")
@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("cat > src/tide.py <<'EOF'\nprint('a > b.py')\nEOF", ["src/tide.py"]),
        ("sed -i 's/a/b/' src/tide.py src/moon.py", ["src/tide.py", "src/moon.py"]),
        ("cd /work/project/src && echo 1 | tee tide.txt", ["src/tide.txt"]),
        ("make > /dev/null 2>&1; pytest > /tmp/log.txt", []),
        ("git add . && git checkout main", []),
        ("python -c 'print(3 > tide.py)' && cat src/tide.py", []),
    ],
)
def test_a_file_that_a_command_wrote_is_in_what_changed(
    command: str, changed: list[str], tmp_path: Path
) -> None:
    found = sections_of(Session().user("Go.").runs(command).record(tmp_path))["What Changed"]
    assert found == [f"{name} (by a command, turn 1)" for name in reversed(changed)]
    failed = sections_of(Session().user("Go.").runs(command, fails=True).record(tmp_path))
    assert failed["What Changed"] == []


@pytest.mark.requirement("C14")
def test_next_steps_are_the_task_list_and_the_plan_as_they_stood(tmp_path: Path) -> None:
    session = Session().user(REQUEST)
    todos = [{"content": "Read", "status": "completed"}, {"content": "Draw", "status": "pending"}]
    session.calls("TodoWrite", todos=todos).calls("ExitPlanMode", "approved", plan="# Tides\n- x")
    session.runs("make tides", "src/a.c:3: error: no moon", fails=True).says("It fails.")
    record = session.user("Why did it fail, and since when does it?").record(tmp_path)
    found = sections_of(record)
    assert found["Next Steps"] == [
        "turn 2, 2026-11-15 06:25, not answered yet: “Why did it fail, and since when does it?”",
        "[ ] Draw (set in turn 1)",
        "[x] 1 of 2 tasks completed, last in turn 1: Read",
        "the newest plan, as it stood:\n# Tides (from turn 1)\n- x",
    ]
    [issue] = found["Active Issues"]
    assert issue == "`make tides` (since turn 1): src/a.c:3: error: no moon"
    assert snapshot_of(record)["next_steps"] == found["Next Steps"]
    assert snapshot_of(record)["key_decisions"] == found["Key Decisions"]


@pytest.mark.requirement("C14")
def test_a_section_gets_what_it_needs_and_what_others_leave() -> None:
    shares = {"a": 0.5, "b": 0.25, "c": 0.25}
    assert share_out({"a": 10, "b": 900, "c": 20}, shares, 400) == {"a": 10, "c": 20, "b": 370}
    assert share_out({"a": 900, "b": 900, "c": 900}, shares, 400) == {"a": 200, "b": 100, "c": 100}


@pytest.mark.requirement("C14")
def test_every_request_without_an_answer_is_a_next_step(tmp_path: Path) -> None:
    session = Session().user(REQUEST).says("Done.").user("Print the hours of the north, please.")
    session.runs("make").user("And then print the hours of the south, too.")
    found = sections_of(session.record(tmp_path))["Next Steps"]
    when = "2026-11-15 06:25"
    assert found == [
        f"turn 2, {when}, no answer of its own: “Print the hours of the north, please.”",
        f"turn 3, {when}, not answered yet: “And then print the hours of the south, too.”",
    ]


@pytest.mark.requirement("C2", "C14")
def test_a_teammate_that_was_started_has_answered_nothing(tmp_path: Path) -> None:
    started = "Spawned successfully.\nagent_id: sounder@tides\nname: sounder\nIt is running now."
    session = Session().user(REQUEST).calls("Task", started, description="Sound the quay")
    assert sections_of(session.record(tmp_path))["Agents"] == [
        "agent sounder@tides (started in turn 1, no end seen): Sound the quay"
    ]
