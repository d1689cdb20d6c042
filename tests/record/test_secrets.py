"""No piece of a secret stays, wherever it was said: not as a name, a hash, nor quoted bare."""

import re
from pathlib import Path
from random import Random

import pytest

from holdfast.archive.save_transcripts import Cleaner
from holdfast.record import reader
from holdfast.record.model import load, save
from holdfast.record.reader import read_record
from holdfast.redact.find import redact
from tests.checkpoint.sessions import Session
from tests.redact.samples import SECRETS

pytestmark = pytest.mark.requirement("X4")
HEX = "3f8a9c0d1e2b4f5a" + "6978c0d1e2f3a4b5"
REFUSED = "The user doesn't want to proceed with this tool use. the user said:\n"
COPY = "User rejected tool use"
WORD = "Xk9fQ2m" + "Lp7RtZ"


def kept(session: Session, folder: Path) -> str:
    """All that is known of it, as it would be stored."""
    return redact(save(session.record(folder)).decode())


def everywhere(text: str) -> list[Session]:
    return [
        Session().user(f"Please go on with this:\n{text}"),
        Session().says(f"It is set now:\n{text}"),
        Session().runs(text),
        Session().runs(f"cat > settings <<'EOF'\n{text}\nEOF"),
        Session().edits("/work/project/settings.py", new=text),
        Session().calls("Write", file_path="/work/project/.env", content=text),
        Session().calls("Read", text, file_path="/work/project/.env"),
        Session().calls("Agent", "ok", description="look", prompt=text),
        Session().calls("mcp__db__query", "ok", sql=text),
        Session().user("Go.").queues(f"And with this:\n{text}"),
        Session().user("Go.").calls("Edit", f"{REFUSED}{text}", error=True, copy=COPY),
        Session().user("Go.").calls("AskUserQuestion", "ok", copy={"answers": {"How?": text}}),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", SECRETS)
def test_no_piece_of_a_secret_is_kept_wherever_it_was_said(name: str, tmp_path: Path) -> None:
    text, secret = SECRETS[name](Random(name))
    pieces = {piece for piece in re.findall(r"\w{8,}", secret) if piece not in redact(text)}
    session = Session()
    for told in everywhere(text):
        session.lines += told.lines
    found = kept(session, tmp_path)
    assert not [piece for piece in pieces if piece in found]


def test_a_short_or_plain_value_is_not_struck_from_other_texts(tmp_path: Path) -> None:
    session = Session().user("Use password=tides1 there.").says("The tides1 gauge is read.")
    assert "The tides1 gauge is read." in kept(session, tmp_path)


def _told_by(value: str) -> list[Session]:
    """Ways a user may tell a secret that are no plain prompts."""
    told = f"my password: {value}"
    form = {"answers": {"Which pass?": told}}
    text = f'User has answered your questions: "Which pass?"="{told}". You can now continue'
    return [
        Session().user("Go.").calls("AskUserQuestion", text, copy=form),
        Session().user("Go.").queues(told).works(1),
        Session().user("Go.").calls("Edit", f"{REFUSED}{told}", error=True, copy=COPY),
        Session().user(f"{'x y z ' * 3000}\n{told}"),
        Session().user(f"{'x y z ' * 1500}\n{told}\n{'x y z ' * 1500}"),
        Session().says(f"{'x y z ' * 1500}\n{told}\n{'x y z ' * 1500}"),
    ]


@pytest.mark.parametrize("number", range(6))
def test_a_secret_the_user_told_is_known_when_it_is_quoted_bare_later(
    number: int, tmp_path: Path
) -> None:
    value = "Qz81mm" + "TT02kd"
    session = _told_by(value)[number]
    first = load(redact(save(session.record(tmp_path)).decode()).encode())
    path = session.says(f"I go with {value} for the login, as it works.").written(tmp_path)
    assert value not in save(read_record(path)).decode(), "read at once"
    assert value not in save(read_record(path, state=first)).decode(), "read on"


def asking(question: str, answer: str) -> Session:
    text = f'User has answered your questions: "{question}"="{answer}". You can now continue'
    form = {"questions": [{"question": question}], "answers": {question: answer}}
    asked = [{"question": question, "options": []}]
    return Session().user("Go.").calls("AskUserQuestion", text, copy=form, questions=asked)


QUESTIONS = [
    "What is the admin password?",
    "Database password?",
    "Please enter your API key",
    "What password should I use for the staging database?",
]


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_to_a_question_for_a_secret_goes(question: str, tmp_path: Path) -> None:
    session = asking(question, WORD)
    first = load(redact(save(session.record(tmp_path)).decode()).encode())
    path = session.says(f"I go with {WORD} for the login.").written(tmp_path)
    for record in (read_record(path), read_record(path, state=first)):
        assert WORD not in save(record).decode()
        assert "[redacted" in record.turns[0].questions[0].answer
    cleaner = Cleaner()
    lines = [line + b"\n" for line in session.data().splitlines()]
    assert WORD.encode() not in b"".join(cleaner.without(lines))


@pytest.mark.parametrize(("near", "far"), [(5_000, 1 << 30), (5_000, 5_000)])
def test_a_secret_the_user_told_far_back_is_known(
    near: int, far: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "NEAR_BYTES", near)
    monkeypatch.setattr(reader, "FAR_BYTES", far)
    session = Session().user(f"the deploy password is: {WORD}").works(100)
    found = session.user(f"now put {WORD} into the vault").record(tmp_path)
    assert WORD not in save(found).decode()


@pytest.mark.parametrize("later", ["Summer2024" + "!Kx7-prod", "Kx7-" + "Summer2024"])
def test_a_secret_that_contains_another_one_is_removed_whole(later: str, tmp_path: Path) -> None:
    session = Session().user("The old one was password=Summer2024, it is gone.")
    session.user(f"Now it is password={later} there, so log in with {later} again.")
    stored = save(reader.RecordReader().read_redacted(session.written(tmp_path))).decode()
    assert not any(part in stored for part in ("Kx7", "Summer"))


def test_a_secret_of_digits_and_commas_leaves_the_numbers_of_the_record(tmp_path: Path) -> None:
    """Replaced in the whole JSON, it would be taken for the numbers of a file."""
    session = Session().user("Rule: mind the gulls.").runs("pytest tests/a.py")
    session.calls("Write", file_path="/p/x.yml", content="password='0,0,1,0,0.6'")
    session.user("What is 0,0,1,0,0.6?")
    record = reader.RecordReader().read_redacted(session.written(tmp_path))
    assert [one.asked for one in record.turns] == [
        "Rule: mind the gulls.",
        "What is [redacted: password]?",
    ]
