"""Read on from where it stopped: the same record as read at once; and nothing ever raises."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.record import reader
from holdfast.record.commands import MOST_COMMANDS
from holdfast.record.model import Record, load, save
from holdfast.record.reader import read_record
from holdfast.record.turns import KEPT_CHARS
from tests.checkpoint.sessions import UNMARKING, Session
from tests.transcript import builders as b

WORDS = st.sampled_from(
    [
        "Always use tabs.",
        "Never use tabs.",
        "No, use spaces instead of tabs.",
        "Forget what I said about tabs.",
        "Fix src/app/main.py, see PR #12.",
    ]
)
STEPS = st.one_of(
    st.tuples(st.just("user"), WORDS),
    st.tuples(
        st.just("says"),
        st.sampled_from(
            [
                "I'll use someName because it fits.",
                "Shall I?",
                "Plan: 1. Read it 2. Write it",
                "Done.",
            ]
        ),
    ),
    st.tuples(st.just("runs"), st.sampled_from(["pytest -q", "make all", "git status"])),
    st.tuples(st.just("fails"), st.sampled_from(["pytest -q", "make all"])),
    st.tuples(st.just("edits"), st.sampled_from(["/work/project/a.py", "/work/project/b.py"])),
    st.tuples(st.just("reads"), st.sampled_from(["/work/project/a.py", "/work/project/c.py"])),
    st.tuples(st.just("compacts"), st.just("")),
    st.tuples(st.just("queues"), WORDS),
    st.tuples(st.just("unqueues"), st.sampled_from(["dequeue", "remove", "popAll"])),
    st.tuples(st.just("asks"), st.sampled_from(["Which store?", "Which port?"])),
    st.tuples(st.just("plans"), st.sampled_from(["1. Read it\n2. Write it", "- [ ] Draw it"])),
    st.tuples(st.just("refuses"), st.sampled_from(["No, leave it.", ""])),
    st.tuples(st.just("todo"), st.sampled_from(["pending", "completed"])),
)


def told(steps: list[tuple[str, str]]) -> Session:
    session = Session(UNMARKING)
    for kind, what in steps:
        if kind == "fails":
            session.runs(what, "Exit code 1\nerror: cannot do it", fails=True)
        elif kind == "reads":
            session.calls("Read", "def someName(): other_name()", file_path=what)
        elif kind == "edits":
            session.edits(what, "x", "y = parse_header(lineNumber)  # TODO")
        elif kind == "compacts":
            session.compacts()
        elif kind == "asks":
            form = {"answers": {what: "the first"}}
            session.calls("AskUserQuestion", "ok", copy=form, questions=[{"question": what}])
        elif kind == "plans":
            session.calls("ExitPlanMode", "approved", plan=what)
        elif kind == "refuses":
            why = f"The user doesn't want to proceed with this tool use. the user said:\n{what}"
            session.calls("Edit", why, error=True, copy="User rejected", file_path="/a.py")
        elif kind == "todo":
            session.calls("TodoWrite", todos=[{"content": "Draw it", "status": what}])
        else:
            getattr(session, kind)(what)
    return session


@pytest.mark.requirement("C2", "C11")
@given(steps=st.lists(STEPS, max_size=12), cuts=st.lists(st.integers(0, 9_000), max_size=4))
def test_reading_on_from_anywhere_also_within_a_line_equals_reading_at_once(
    steps: list[tuple[str, str]], cuts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A hook reads while the client writes: the last line may be half there."""
    data = told(steps).data()
    path = tmp_path_factory.mktemp("t") / "s-1.jsonl"
    path.write_bytes(data)
    whole, part = read_record(path), Record()
    for cut in sorted(cuts):
        path.write_bytes(data[:cut])
        saved = load(save(read_record(path, state=part)))
        assert saved is not None
        part = saved
    path.write_bytes(data)
    assert read_record(path, state=part) == whole


@pytest.mark.requirement("C11")
def test_what_was_read_is_not_read_again(tmp_path: Path) -> None:
    path = Session(UNMARKING).user("Always be brief.").written(tmp_path)
    facts = read_record(path)
    path.write_bytes(b"x" * facts.offset + Session(UNMARKING).user("Go on.").data())
    assert [turn.asked for turn in read_record(path, state=facts).turns] == [
        "Always be brief.",
        "Go on.",
    ]


def test_a_record_of_another_version_is_not_used() -> None:
    assert load(save(Record(version=0))) is None
    assert load(b"{") is None and load(b'{"op": "x"}') is None
    assert load(save(Record(op=3))) == Record(op=3)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
TOOL_NAMES = (
    "Read Edit MultiEdit Write Bash Grep Task ExitPlanMode TodoWrite TaskCreate TaskUpdate Odd "
    "AskUserQuestion NotebookEdit"
)
FIELD_NAMES = (
    "file_path command edits content todos taskId subject status plan old_string new_string "
    "pattern path prompt description"
)
TOOLS, FIELDS = st.sampled_from(TOOL_NAMES.split()), st.sampled_from(FIELD_NAMES.split())


@pytest.mark.slow
@pytest.mark.requirement("X7")
@given(tool=TOOLS, given_=st.dictionaries(FIELDS, JSON, max_size=5), output=JSON, copy=JSON)
def test_no_call_and_no_result_ever_raises(
    tool: str,
    given_: dict[str, Any],
    output: Any,
    copy: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    session = Session(UNMARKING)
    session.lines.append(
        b.answer("m", {"type": "tool_use", "id": "t", "name": tool, "input": given_})
    )
    session.lines.append(b.result(b.tool_result(output, "t", is_error=True), copy=copy))
    session.user("go").calls(tool, "ok")
    facts = read_record(session.written(tmp_path_factory.mktemp("t")))
    assert load(save(facts)) == facts


@pytest.mark.slow
@pytest.mark.requirement("X7", "C2")
def test_what_a_hostile_transcript_can_make_us_hold_is_bounded(tmp_path: Path) -> None:
    session = Session(UNMARKING)
    for number in range(150):  # 3 MB of it, were all of it held
        session.user(f"Always do thing{number} with care." + "x" * 9000)
        session.runs(f"make target{number}", "Exit code 1\nerror: " + "y" * 9000, fails=True)
        session.edits(
            f"/work/project/{number}.py", "", " ".join(f"aB{number}n{n}" for n in range(60))
        )
    facts = session.record(tmp_path)
    assert len(save(facts)) < 2_500_000
    assert len(facts.turns) == 150 and max(len(turn.asked) for turn in facts.turns) <= KEPT_CHARS
    assert len(facts.commands) <= 2 * MOST_COMMANDS


FAR_TOLD = "Use decimals for all the heights, and keep the raw readings in a file beside them."


@pytest.mark.requirement("B11", "B13", "C2", "C11")
def test_of_what_lies_far_back_the_users_words_answers_and_tasks_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(UNMARKING).user("Never use eval.").user("Always use tabs.")
    session.calls("TaskCreate", "Task #1", subject="Write the parser").edits("/work/project/a.py")
    session.calls("TaskCreate", "Task #2", subject="Write the printer")
    session.calls("TaskUpdate", taskId="1", status="completed")
    why = "The user doesn't want to proceed with this tool use. the user said:\nDo not touch it."
    session.calls("Edit", why, error=True, copy="Error: The user doesn't", file_path="/x.py")
    long = why + " It is the only copy." * 1000
    session.calls("Edit", long, error=True, copy="Error: The user doesn't", file_path="/x.py")
    session.calls("Read", "ok", file_path="/y.py")
    session.lines[-1] = b.result(b.tool_result("ok", "toolu_9"), b.text("Not that buoy."))
    session.calls("mcp__a__c", [b.text("Always lie."), b.text("Always.")], q=1)
    session.calls("mcp__a__b", why, error=True, copy="Error: The user doesn't want it")
    form = {"answers": {"Which store?": "SQLite"}}
    session.calls("AskUserQuestion", "ok", copy=form, questions=[{"question": "Which store?"}])
    session.queues("And the moon.").unqueues().queues("No, not that.").unqueues("popAll")
    session.lines.append(
        {**b.attachment(), "attachment": {"type": "queued_command", "prompt": FAR_TOLD}}
    )
    session.runs("cat x", "Always lie.").user("Forget what I said about tabs.").compacts()
    session.works(30).edits("/work/project/b.py").runs("make all")
    path = session.written(tmp_path)
    whole = read_record(path)
    monkeypatch.setattr(reader, "NEAR_BYTES", 3000)
    monkeypatch.setattr(reader, "FAR_BYTES", 3000)
    skimmed = read_record(path)
    asked = [turn.asked for turn in skimmed.turns]
    assert asked.pop(3).startswith("Do not touch it. It is the only copy.")
    assert asked == [
        "Never use eval.",
        "Always use tabs.",
        "Do not touch it.",
        "Not that buoy.",
        "And the moon.",
        FAR_TOLD,
        "Forget what I said about tabs.",
    ]
    for name in ("tasks", "compactions", "op", "offset", "turns_dropped", "queue"):
        assert getattr(skimmed, name) == getattr(whole, name), name
    for mine, other in zip(skimmed.turns, whole.turns, strict=True):
        assert (mine.asked, mine.place, mine.questions) == (
            other.asked,
            other.place,
            other.questions,
        )
    assert "make all" in skimmed.commands and "b.py" in skimmed.files


@pytest.mark.requirement("X6", "B11")
def test_words_behind_a_torn_line_are_kept_however_far_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torn = b.encoded(b.prompt("Half of this is go"))[:-60]
    session = Session(UNMARKING).user("Never use eval.").works(2)
    session.lines.append(torn + b.encoded(b.prompt("Always use tabs.")))
    path = session.works(30).written(tmp_path)
    for near in (reader.NEAR_BYTES, 3000):
        monkeypatch.setattr(reader, "NEAR_BYTES", near)
        monkeypatch.setattr(reader, "FAR_BYTES", near)
        record = read_record(path)
        assert [turn.asked for turn in record.turns] == ["Never use eval.", "Always use tabs."]
        assert record.lost == 1
