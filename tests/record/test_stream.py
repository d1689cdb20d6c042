"""A transcript as turns: whole, from any place on, bounded, and without secrets."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.record import stream
from holdfast.record.model import StreamState, TurnPart
from holdfast.record.stream import load_state, read_turns, save_state
from tests.checkpoint.sessions import Session
from tests.record.test_resume import STEPS, told
from tests.redact.samples import SECRETS
from tests.transcript import builders as b

pytestmark = pytest.mark.requirement("B12")


def parts_of(session: Session, folder: Path, **how: Any) -> list[TurnPart]:
    return list(read_turns(session.written(folder), **how))


def content(part: TurnPart) -> tuple[Any, ...]:
    """All that a part says, without the states beside it."""
    names = (name for name in part.__struct_fields__ if name not in ("before", "after"))
    return tuple(getattr(part, name) for name in names)


def resumed(path: Path, state: StreamState) -> StreamState:
    """The state as a store gives it back."""
    loaded = load_state(path, json.loads(json.dumps(save_state(path, state))))
    assert loaded is not None
    return loaded


def test_a_turn_has_its_question_its_answer_and_its_calls(tmp_path: Path) -> None:
    session = Session().user("Why does the header break?").says("I look.")
    session.calls("Read", "def parse(): ...", file_path="/work/project/a.py")
    session.edits("/work/project/a.py").runs("make", "Exit code 2\nno rule", fails=True)
    session.says("The length was wrong.").user("Thanks, and now the footer.").says("It is right.")
    first, second = parts_of(session, tmp_path)
    assert (first.asked, first.answer) == ("Why does the header break?", "The length was wrong.")
    assert [call.tool for call in first.calls] == ["Read", "Edit", "Bash"]
    assert [(call.read, call.edited) for call in first.calls[:2]] == [
        (["a.py"], []),
        ([], ["a.py"]),
    ]
    assert first.calls[2].is_error and first.calls[2].output == "Exit code 2\nno rule"
    assert [text.step for text in first.texts] == [1, 5]
    assert (second.asked, second.answer) == ("Thanks, and now the footer.", "It is right.")
    assert (first.turn, second.turn, first.is_open, second.is_open) == (1, 2, False, True)
    assert first.end == second.start and first.first_uuid


@given(steps=st.lists(STEPS, max_size=25), cut=st.integers(0, 60))
def test_going_on_before_an_open_part_equals_reading_at_once(
    steps: list[tuple[str, str]], cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = told(steps).lines
    path = tmp_path_factory.mktemp("t") / "s-1.jsonl"
    path.write_bytes(b.jsonl(*lines[:cut]))
    early = list(read_turns(path))
    closed = [part for part in early if not part.is_open]
    state = resumed(path, early[-1].before) if early else None
    path.write_bytes(b.jsonl(*lines))
    whole = [content(part) for part in read_turns(path)]
    assert [content(part) for part in (*closed, *read_turns(path, state))] == whole


@given(steps=st.lists(STEPS, max_size=12), cuts=st.lists(st.integers(0, 9_000), max_size=4))
def test_going_on_behind_what_was_read_gives_each_thing_once(
    steps: list[tuple[str, str]], cuts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A hook reads while the client writes: the last line may be half there."""
    data = told(steps).data()
    path = tmp_path_factory.mktemp("t") / "s-1.jsonl"
    path.write_bytes(data)
    whole = list(read_turns(path))
    some, state = list[TurnPart](), None
    for cut in (*sorted(cuts), len(data)):
        path.write_bytes(data[:cut])
        for part in read_turns(path, state):
            some.append(part)
            state = resumed(path, part.after)
    for names in ("texts", "reports"):
        assert [x for one in some for x in getattr(one, names)] == [
            x for one in whole for x in getattr(one, names)
        ]
    assert [(p.turn, p.asked) for p in some if p.is_first] == [
        (p.turn, p.asked) for p in whole if p.is_first
    ]
    ended = [call for part in some for call in part.calls if call.end]
    assert ended == [call for part in whole for call in part.calls if call.end]


def test_a_very_long_turn_comes_in_bounded_parts(tmp_path: Path) -> None:
    session = Session().user("Read everything.")
    for number in range(4 * stream.PART_STEPS):
        session.runs(f"cat {number}", f"{number} " * 9000)
    parts = parts_of(session, tmp_path)
    assert len(parts) >= 4 and {part.asked for part in parts} == {"Read everything."}
    assert [part.number for part in parts] == list(range(1, len(parts) + 1))
    assert [part.is_first for part in parts] == [True] + [False] * (len(parts) - 1)
    assert max(len(part.steps) for part in parts) <= stream.PART_STEPS
    outputs = [call.output for part in parts for call in part.calls]
    assert len(outputs) == 4 * stream.PART_STEPS
    assert max(map(len, outputs)) == stream.OUTPUT_CHARS
    assert outputs[7].startswith("7 7 ") and outputs[7].endswith("7 7 ")


@pytest.mark.requirement("X4")
@pytest.mark.parametrize("name", [*SECRETS][::7])
def test_no_secret_is_in_a_part_nor_in_its_state(name: str, tmp_path: Path) -> None:
    text, secret = SECRETS[name](Random(name))
    session = Session().user(f"Go on with this:\n{text}").says(f"It is set:\n{text}")
    session.runs(text, f"{text}\n" + "x = 1\n" * 2000 + text).edits("/a.py", new=text)
    session.calls("Agent", text, description="look", prompt=text).queues(text)
    session.calls("AskUserQuestion", "ok", copy={"answers": {"How?": text}}, questions=[])
    path = session.starts("Bash", command=text).written(tmp_path)
    parts = list(read_turns(path))
    stored = "".join(str(content(part)) + str(save_state(path, part.after)) for part in parts)
    assert secret not in stored and "[redacted" in stored


@pytest.mark.requirement("X4")
def test_a_secret_named_once_is_removed_where_it_stands_alone_also_in_a_later_pass(
    tmp_path: Path,
) -> None:
    secret = "Xk9fQ2m" + "Lp7RtZ"
    session = Session().user(f"The password={secret} is new.").says("Noted.").user("And now?")
    path = session.written(tmp_path)
    state = resumed(path, list(read_turns(path))[-1].after)
    path = session.says(f"I tried {secret} there.").written(tmp_path)
    (part,) = read_turns(path, state)
    assert part.texts and secret not in part.texts[0].text


def test_a_compaction_and_its_summary_are_one_also_across_passes(tmp_path: Path) -> None:
    session = Session().user("Go.").says("Done.")
    session.lines.append(b.boundary(trigger="auto", preTokens=160_000))
    path = session.written(tmp_path)
    (early,) = read_turns(path)
    session.lines.append(b.summary("This session is being continued: all is well."))
    path = session.says("On.").written(tmp_path)
    (late,) = read_turns(path, resumed(path, early.after))
    (whole,) = read_turns(path)
    assert [(one.number, one.before_tokens) for one in early.compactions] == [(1, 160_000)]
    assert [one.number for one in late.compactions] == [1]
    assert late.compactions[0].summary == whole.compactions[0].summary != ""
    assert len(whole.compactions) == 1


def test_what_subagents_returned_is_in_the_turn(tmp_path: Path) -> None:
    session = Session().user("Look into the header and the footer.")
    copy = {"agentId": "a1", "totalDurationMs": 1200, "agentType": "Explore"}
    session.calls("Agent", "The header is wrong.", copy=copy, description="header", prompt="Look.")
    launched = "Async agent launched successfully.\nagentId: a2 (internal)"
    session.calls("Agent", launched, description="footer", prompt="Look there.")
    done = "<task-notification>\n<task-id>a2</task-id>\n<status>completed</status>\n"
    session.user(f"{done}<result>The footer is right.</result>\n</task-notification>")
    (part,) = parts_of(session, tmp_path)
    header, footer = (call.report for call in part.calls)
    assert header is not None and footer is not None
    assert (header.agent_id, header.text, header.took_ms) == ("a1", "The header is wrong.", 1200)
    assert (footer.agent_id, footer.text, footer.status) == ("a2", "", "running")
    (ended,) = part.reports
    assert (ended.agent_id, ended.asked, ended.status) == ("a2", "footer", "completed")
    assert ended.text == "The footer is right."


def test_questions_have_their_answers_and_tasks_the_state_that_a_call_set(tmp_path: Path) -> None:
    session = Session().user("Plan it.")
    asked = [{"question": "Which store?", "options": [{"label": "SQLite"}]}]
    form = {"answers": {"Which store?": "SQLite"}}
    session.calls("AskUserQuestion", "ok", copy=form, questions=asked)
    session.calls("TaskCreate", "Task #1 created successfully: draw", subject="Draw it")
    session.calls("TaskUpdate", taskId="1", status="completed")
    session.calls("TodoWrite", todos=[{"content": "Cut it", "status": "pending"}])
    (part,) = parts_of(session, tmp_path)
    assert part.calls[0].questions == [("Which store?", "SQLite")]
    states = [(one.key, one.text, one.status) for call in part.calls for one in call.tasks]
    assert states == [
        ("task 1", "Draw it", "pending"),
        ("task 1", "Draw it", "completed"),
        ("todo Cut it", "Cut it", "pending"),
    ]


def test_a_span_of_a_transcript_can_be_read_with_whole_outputs(tmp_path: Path) -> None:
    session = Session().user("First.").says("One.").user("Second.")
    path = session.runs("cat", "0123456789" * 1000).says("Two.").user("Third.").written(tmp_path)
    second = list(read_turns(path))[1]
    (again,) = read_turns(path, start=second.start, until=second.end, output_chars=50_000)
    assert (again.asked, again.answer) == ("Second.", "Two.")
    assert again.calls[0].output == "0123456789" * 1000
