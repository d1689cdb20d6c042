"""What the user said last is shown, even if a hook had no time to read that far."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from holdfast.record import storage
from holdfast.record.model import Record, Turn
from holdfast.window.state import State
from holdfast.wire import places
from holdfast.wire.hook_time import HookTime
from tests.checkpoint.sessions import Session
from tests.transcript import builders as b

pytestmark = pytest.mark.requirement("X4", "B11")
WORD = "Xk9fQ2m" + "Lp7RtZ"
HOST = "k8s-prod-eu1-db02"
REJECTED = "User rejected tool use"


def cut_short(session: Session, folder: Path) -> Record:
    """Read a session with so little time that only its newest words are known. The clock counts how
    often it is asked."""
    bait = Session()
    for number in range(20):
        bait.user(f"{number} {folder.name} {'password= ' * 400} password={WORD} ok {WORD}")
    bait.lines += session.lines
    state = State(session_id="s1", transcript=str(bait.written(folder)), project="")
    with HookTime(30_000, clock=count().__next__):
        found = storage.read_on(state, places.window("s1"))
    assert found.unread
    return found


def newest(session: Session, folder: Path) -> Turn:
    return cut_short(session, folder).turns[-1]


def test_a_word_that_an_unread_entry_may_name_is_hidden(tmp_path: Path) -> None:
    session = Session().user(f"Why does the log print {WORD} twice?")
    asked = newest(session, tmp_path).asked
    assert asked == "Why does the log print [redacted: secret] twice?"


def test_a_name_that_only_looks_random_is_shown(tmp_path: Path) -> None:
    session = Session().queues(f"Restart {HOST} first.").unqueues()
    session.lines += [
        b.prompt(f"Restart {HOST} first."),
        {"type": "last-prompt", "lastPrompt": f"Restart {HOST} first."},
    ]
    assert newest(session, tmp_path).asked == f"Restart {HOST} first."


def test_a_prompt_that_was_taken_back_from_the_queue_is_not_shown(tmp_path: Path) -> None:
    session = Session().queues("Delete it all.").unqueues("popAll")
    assert "Delete it all." not in str(cut_short(session, tmp_path).turns)


def test_a_prompt_that_had_left_the_queue_is_not_taken_back(tmp_path: Path) -> None:
    session = Session().queues("Mind the gulls.").unqueues().queues("Delete it all.")
    turns = str(cut_short(session.unqueues("popAll"), tmp_path).turns)
    assert "Mind the gulls." in turns and "Delete it all." not in turns


def test_a_command_that_leaves_the_queue_is_not_taken_for_a_prompt(tmp_path: Path) -> None:
    session = Session().queues("/compact").queues("Delete it all.").unqueues("dequeue")
    assert "Delete it all." not in str(cut_short(session.unqueues("popAll"), tmp_path).turns)


def test_a_prompt_that_the_user_replaced_is_marked(tmp_path: Path) -> None:
    session = Session().user("Use the red database.", parentUuid="u-1").says("It is red.")
    session.user("Use a plain file.", parentUuid="u-1")
    *_, draft, meant = cut_short(session, tmp_path).turns
    assert (draft.asked, draft.taken_back) == ("Use the red database.", True)
    assert (meant.asked, meant.taken_back) == ("Use a plain file.", False)


def test_a_prompt_that_reached_the_model_while_it_worked_is_shown(tmp_path: Path) -> None:
    session = Session().says("Working.")
    session.lines.append(
        {**b.attachment(), "attachment": {"type": "queued_command", "prompt": "Stop at the quay."}}
    )
    assert newest(session, tmp_path).asked == "Stop at the quay."


def test_words_with_which_a_call_was_refused_are_shown(tmp_path: Path) -> None:
    why = "The user doesn't want to proceed with this tool use. The user said:\nLeave it alone."
    session = Session().calls("Bash", why, error=True, copy=REJECTED, command="rm -r harbour")
    turn = newest(session, tmp_path)
    assert (turn.asked, turn.reply_to) == ("Leave it alone.", "refused: Bash")


def test_words_beside_a_result_are_shown(tmp_path: Path) -> None:
    session = Session().starts("Bash", command="make")
    session.lines.append(b.result(b.tool_result("ok"), b.text("Skip the slow tests.")))
    assert newest(session, tmp_path).asked == "Skip the slow tests."


def test_an_approved_plan_is_not_shown_as_typed(tmp_path: Path) -> None:
    plan = "Implement the following plan:\n\n# Plan\n1. Dredge the bay"
    said = f"{plan}\n\nUser feedback on this plan: mind the gulls"
    session = Session().user(said, planContent="# Plan\n1. Dredge the bay")
    *_, made, typed = cut_short(session, tmp_path).turns
    assert (made.asked, made.is_plan) == (plan, True)
    assert (typed.asked, typed.is_plan) == ("mind the gulls", False)


@pytest.mark.parametrize("text", ["/compact", "<task-notification>\n<task-id>b1</task-id>"])
def test_what_nobody_typed_into_the_queue_is_not_shown(text: str, tmp_path: Path) -> None:
    assert text[:9] not in str(cut_short(Session().queues(text), tmp_path).turns)


def test_a_prompt_queued_before_the_stop_is_gone_if_it_was_taken_back(tmp_path: Path) -> None:
    transcript = Session().user("Print the tides.").queues("Delete it all.").written(tmp_path)
    state = State(session_id="s1", transcript=str(transcript), project="")
    assert "Delete it all." in str(storage.read_on(state, places.window("s1")).turns)
    session = Session().user("Print the tides.").queues("Delete it all.").unqueues("popAll")
    with HookTime(0, clock=count().__next__):
        state.transcript = str(session.user("Print the moon.").written(tmp_path))
        found = storage.read_on(state, places.window("s1"))
    assert found.unread and "Delete it all." not in str(found.turns)


@pytest.mark.parametrize("word", [f"https://a.example/production/{WORD}/set", "aB3,dE5;fG7(hI9"])
def test_a_part_of_an_address_may_be_named_in_what_is_unread(word: str, tmp_path: Path) -> None:
    session = Session().user(f"{word} is in the log").user(f"Why does it print {word} twice?")
    secret = WORD if WORD in word else word
    assert secret not in str(newest(session, tmp_path).asked)


@pytest.mark.parametrize(
    ("question", "answer", "shown"),
    [
        ("Which chart?", "Line", "Line"),
        ("What is the admin password?", "tidal42!Bay", "[redacted: password]"),
    ],
)
def test_an_answer_is_shown_with_its_question(
    question: str, answer: str, shown: str, tmp_path: Path
) -> None:
    asked = [{"question": question, "options": []}]
    copy = {"answers": {question: answer}}
    session = Session().calls("AskUserQuestion", "ok", copy=copy, questions=asked)
    turn = newest(session, tmp_path)
    assert (turn.asked, turn.reply_to) == (shown, question)
