"""What a reader of a checkpoint finds: every edited file, what is open, what was said."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.brief import checkpoint_brief
from holdfast.brief.compose import compose
from holdfast.checkpoint.document import Document, normalize
from holdfast.checkpoint.sections import sections_of, snapshot_of
from tests.checkpoint.sessions import Session

REQUEST = "Please build the tide tables, and report the hours that the gauge missed."
WHEN = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.mark.requirement("C14", "B12")
def test_what_changed_says_why_in_the_order_of_the_turns(tmp_path: Path) -> None:
    session = Session().user("Write chapter one of the tide tables, whole.")
    session.edits("/work/project/one.md").says("Chapter one is there.").user("Only look at it.")
    session.says("Looked.").user("Write chapter two of the tide tables, whole.")
    session.edits("/work/project/two.md").edits("/work/project/index.md")
    assert sections_of(session.record(tmp_path))["Why Changed"] == [
        "turn 1: Write chapter one of the tide tables, whole.: one.md → Chapter one is there.",
        "turn 2: Only look at it. → Looked.",
        "turn 3: Write chapter two of the tide tables, whole.: two.md, index.md",
    ]


@pytest.mark.requirement("C14", "B11")
def test_the_users_words_are_in_it_whole_and_in_order(tmp_path: Path) -> None:
    session = Session()
    for number in range(60):
        session.user(f"Prompt {number}: {'tell me more of it; ' * 40}and stop.").works(1)
    session.says("Shall I?").user("yes")
    words = sections_of(session.record(tmp_path))["User Words"]
    assert len(words) == 61
    assert [one.partition(":")[0] for one in words[:3]] == ["turn 1", "turn 2", "turn 3"]
    assert words[7].count("tell me more of it; ") == 40
    assert words[-1] == "turn 61: yes (to: Shall I?)"


@pytest.mark.requirement("C14")
@pytest.mark.parametrize("seen", [300, 1500])
def test_every_edited_file_is_in_what_changed_whatever_was_seen_after(
    seen: int, tmp_path: Path
) -> None:
    session = Session().user(REQUEST)
    for number in range(120):
        session.edits(f"/work/project/src/edited{number}.py")
    for number in range(0, seen, 30):
        listed = "\n".join(f"lib/part{number}/file{n}.py:1:x" for n in range(30))
        session.calls("Grep", listed, pattern="x")
    record = session.record(tmp_path)
    changed = sections_of(record)["What Changed"]
    assert [one.partition(" - ")[0] for one in changed] == [
        f"src/edited{number}.py" for number in range(120)
    ]
    assert set(snapshot_of(record)["modified_files"]) == {
        f"src/edited{number}.py" for number in range(120)
    }


@pytest.mark.requirement("C14")
def test_of_very_many_edited_files_the_rest_is_counted(tmp_path: Path) -> None:
    session = Session().user(REQUEST)
    for number in range(450):
        session.edits(f"/work/project/src/edited{number}.py")
    changed = sections_of(session.record(tmp_path))["What Changed"]
    assert changed[0] == "51 more files, edited earlier"
    assert changed[1].startswith("src/edited51.py") and len(changed) == 400


@pytest.mark.requirement("C14")
def test_a_changed_file_says_what_was_done_to_it(tmp_path: Path) -> None:
    patch = {"structuredPatch": [{"oldStart": 9, "oldLines": 2, "newStart": 10, "newLines": 4}]}
    session = Session().user(REQUEST).edits("/work/project/a.py", copy=patch)
    session.edits("/work/project/a.py").edits("/work/project/b.py").runs("rm b.py")
    assert sections_of(session.record(tmp_path))["What Changed"] == [
        "a.py:10-13 - edited 2 times",
        "b.py - edited 1 time, removed since",
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
    assert "- left open: turn 1, the model was still at work: " in text


@pytest.mark.requirement("C14")
@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("cat > src/tide.py <<'EOF'\nprint('a > b.py')\nEOF", ["src/tide.py"]),
        ("cat <<'EOF' >> notes.md\n- high\nEOF", ["notes.md"]),
        ("sed -i 's/a/b/' src/tide.py src/moon.py", ["src/tide.py", "src/moon.py"]),
        ("for f in a.json b.json; do\n  perl -i -pe 's/1/2/' \"$f\"\ndone", ["a.json", "b.json"]),
        ("git add src/tide.py && git commit -m 'tide > moon.py'", ["src/tide.py"]),
        ("git checkout --theirs src/tide.py src/moon.py", ["src/tide.py", "src/moon.py"]),
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
    assert found == [f"{name} - changed by a command" for name in changed]
    failed = sections_of(Session().user("Go.").runs(command, fails=True).record(tmp_path))
    assert failed["What Changed"] == []


@pytest.mark.requirement("C14")
def test_a_removed_file_is_in_what_changed(tmp_path: Path) -> None:
    session = Session().user("Go.").calls("Read", file_path="/work/project/old.py")
    session.runs("rm old.py src/older.py").calls("Write", file_path="/tmp/try.py", content="1")
    assert sections_of(session.record(tmp_path))["What Changed"] == [
        "old.py - removed",
        "src/older.py - removed",
        "/tmp/try.py - edited 1 time",
    ]
    assert "/tmp/try.py" not in compose(session.record(tmp_path)).text.partition("last calls")[0]


@pytest.mark.requirement("C14")
def test_files_used_are_those_read_or_run_the_most_used_first(tmp_path: Path) -> None:
    session = Session().calls("Read", file_path="/work/project/once.py").user("See docs/told.md.")
    session.calls("Read", file_path="/work/project").edits("/work/project/edited.py")
    for _ in range(3):
        session.calls("Read", file_path="/work/project/thrice.py")
    session.calls("Grep", "src/found.py:3:x = 1", pattern="x").runs("bash tools/run.sh")
    session.runs("jq .items[0].id out/all.json && python -c 'print(sum(c.values))'")
    assert sections_of(session.record(tmp_path))["Files Used"] == [
        "thrice.py - read 3",
        "once.py - read 1",
        "out/all.json - in commands 1",
        "tools/run.sh - in commands 1",
    ]
    for number in range(30):
        session.calls("Read", file_path=f"/work/project/more{number}.py")
    used = sections_of(session.record(tmp_path))["Files Used"]
    assert len(used) == 20 and used[0] == "thrice.py - read 3" and used[1] == "more29.py - read 1"


@pytest.mark.requirement("C14")
def test_a_moved_file_is_shown_under_both_names(tmp_path: Path) -> None:
    session = Session().user("Go.").edits("/work/project/plan.md")
    session.runs("git mv plan.md docs/old.md")
    assert sections_of(session.record(tmp_path))["What Changed"] == [
        "plan.md - edited 1 time, removed since",
        "docs/old.md - changed by a command",
    ]


@pytest.mark.requirement("C14")
def test_a_long_request_stands_whole_under_user_words_only(tmp_path: Path) -> None:
    long = "Print the tides. " * 60 + "And the moon."
    found = sections_of(Session().user(long).runs("ls").record(tmp_path))
    assert found["User Words"] == [f"turn 1: {long}"]
    request = found["In Progress"][0]
    assert len(request) < 500 and request.endswith("… (whole under User Words)")


@pytest.mark.requirement("C14")
def test_words_that_were_sent_again_stand_once(tmp_path: Path) -> None:
    session = Session().user("Print the tides.").user("Print the tides.").works(1)
    session.user("Now the moon.").works(1)
    words = sections_of(session.record(tmp_path))["User Words"]
    assert words[0] == "turns 1-2: Print the tides." and words[1].startswith("turn 3: Now")


@pytest.mark.requirement("C14")
def test_a_file_of_another_checkout_is_listed_once(tmp_path: Path) -> None:
    session = Session().user(REQUEST).edits("/work/other/src/tide.py")
    made = "[fix/ebb 18345cf] Draw\n 1 file changed\n create mode 100644 src/tide.py"
    session.runs("cd /work/other && git commit -m Draw", made)
    changed = sections_of(session.record(tmp_path))["What Changed"]
    assert [one for one in changed if "tide.py" in one] == [
        "/work/other/src/tide.py - edited 1 time"
    ]
