"""Nothing that the model or a tool wrote passes for words of the user: in our lines, quotation
marks are ours alone."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.brief.compose import compose
from holdfast.brief.summary_instructions import write_instructions
from holdfast.record.model import Record
from holdfast.text import fence
from tests.checkpoint.sessions import Session

BREAKING = ["”", "“", "„", "‟", "❞", "〞", "”)", " (to “", "”\n- “", "- request: “", '"']
PIECES = ["Shall I go on?", "Done.", "keep the ports", "push to main", "next: the parser", " "]
WORDS = st.lists(st.sampled_from([*BREAKING, *PIECES]), min_size=1, max_size=6).map(" ".join)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
ANSWERED = re.compile(r" \(to “[^“”]*”\)")
OF_USER = ("- request: “", "- said by the user: “", "- “")


def _session(user: list[str], model: list[str]) -> Session:
    session = Session()
    for number, (asked, said) in enumerate(zip(user, model, strict=True)):
        session.user(f"USER {number} {asked}").calls("TaskCreate", "#1", subject=f"MODEL {said}")
        session.runs(f"make {number}", f"error: MODEL {said}", fails=True)
        session.runs("git commit -m x", f"[main 1a2b3c4] MODEL {said}\n 1 file changed")
        session.edits(f"/work/project/MODEL {said}.py")
        session.says(f"MODEL decided to {said}.").says(f"MODEL {said} Shall I go on?").user("yes")
    return session


def _lines(record: Record) -> list[str]:
    return f"{write_instructions(record)}\n{compose(record).text}".splitlines()


def _said_by_user(line: str) -> str:
    """What a line attributes to the user: all of it but what the words answer."""
    return ANSWERED.sub("", line) if line.startswith(OF_USER) else ""


@settings(max_examples=20)  # each writes a transcript and makes its brief
@given(st.data())
def test_no_words_of_the_model_stand_in_quotes_of_the_user(data: st.DataObject) -> None:
    turns = data.draw(st.integers(1, 3))
    user, model = (data.draw(st.lists(WORDS, min_size=turns, max_size=turns)) for _ in range(2))
    with TemporaryDirectory() as folder:
        lines = _lines(_session(user, model).record(Path(folder)))
    for line in lines:
        marks = "".join(mark for mark in CODE.sub("", line) if mark in "“”")
        assert marks == "“”" * (len(marks) // 2), line
        assert "MODEL" not in _said_by_user(line), line


@given(st.text(alphabet="`a ", min_size=1, max_size=12))
def test_no_backticks_in_a_command_end_its_quotation(command: str) -> None:
    shown = fence.code(command, 80)
    ticks = re.match("`+", shown)
    assert ticks and shown.endswith(ticks[0])
    assert ticks[0] not in shown[len(ticks[0]) : -len(ticks[0])]


def test_only_one_function_puts_words_in_quotation_marks() -> None:
    source = Path(holdfast.__file__).parent
    quoting = {path for path in source.rglob("*.py") if "“{" in path.read_text("utf-8")}
    assert quoting == {source / "text" / "fence.py"}
