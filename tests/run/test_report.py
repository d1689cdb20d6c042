"""The report of a session: read from the client's object, and from nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.run.journal import Ended
from holdfast.run.report import (
    MAX_QUOTE_CHARS,
    SessionEnd,
    SessionReport,
    TaskReport,
    decode_end,
    encode_end,
    read_end,
)
from holdfast.run.session import judge

pytestmark = pytest.mark.requirement("P5")
REPORT: dict[str, Any] = {
    "tasks": [
        {"id": "cart", "state": "done", "reason": "", "files": ["cart.py"]},
        {"id": "price", "state": "failed", "reason": "no compiler", "files": []},
    ],
    "summary": "Built the cart.",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tasks", "id", "state", "summary"]), inner, max_size=3)
    ),
)


def _read(**event: object) -> SessionEnd:
    return read_end({"subtype": "success", "is_error": False, **event}, 0, "")


def _judged(end: SessionEnd, *names: str) -> Ended:
    return judge("s", end, names or ("cart", "price"))


def test_what_is_not_done_is_said_with_the_reason() -> None:
    ended = _judged(_read(structured_output=REPORT))
    assert (ended.result, ended.credited) == ("failed", (0,))
    assert ended.error == "it reports as not done: price (price: no compiler)"


def test_nothing_is_read_out_of_words() -> None:
    end = _read(result='NOT DONE price: no compiler\n```json\n{"tasks": []}\n```')
    assert end.report is None
    assert _judged(end).result == "done"


@given(JSON)
def test_a_report_of_any_form_is_read_without_an_error(value: object) -> None:
    _judged(_read(structured_output=value))


def test_a_task_that_is_not_in_the_report_is_not_done() -> None:
    ended = _judged(_read(structured_output={**REPORT, "tasks": REPORT["tasks"][:1]}))
    assert (ended.result, ended.credited, ended.halt) == ("failed", (0,), "")


def test_who_is_waited_for_is_said_in_the_words_of_the_report() -> None:
    tasks = [{"id": "cart", "state": "waiting", "reason": "Lena: approve it"}]
    ended = _judged(_read(structured_output={"tasks": tasks}))
    assert (ended.halt, ended.waiting, ended.credited) == ("Lena: approve it", (0,), ())


def test_a_report_of_a_session_that_failed_is_not_believed() -> None:
    event = {"subtype": "error_during_execution", "is_error": True, "structured_output": REPORT}
    ended = _judged(read_end(event, 1, "the disk is on fire"))
    assert (ended.result, ended.credited) == ("failed", ())
    assert ended.error == "exit 1 (error_during_execution): the disk is on fire"


@pytest.mark.requirement("X4")
def test_no_secret_of_a_report_is_kept_and_no_text_is_long() -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    tasks = [{"id": "cart", "state": "failed", "reason": f"{secret} {'x' * 9_000}"}]
    end = _read(structured_output={"tasks": tasks, "summary": f"token={secret}\nwell"})
    assert secret not in encode_end(end).decode()
    assert end.report and len(end.report.tasks[0].reason) <= MAX_QUOTE_CHARS
    assert "\n" not in end.report.summary


@given(st.text(max_size=40), st.integers(-9, 255) | st.none(), st.text(max_size=40))
def test_an_end_is_read_back_as_it_was_written(words: str, code: int | None, name: str) -> None:
    report = SessionReport((TaskReport(name, "done", words, (words,)),), words)
    end = SessionEnd(code, "success", False, words, report)
    assert decode_end(encode_end(end).ljust(4096)) == end
    assert decode_end(b" " * 4096) == SessionEnd()
