"""A secret that lies across a cut is kept whole and found, or left out: never half of it stays."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from holdfast.record import model
from holdfast.record.secrets import redact_record
from tests.checkpoint.sessions import Session
from tests.redact.samples import drawn

pytestmark = pytest.mark.requirement("X4")
REFUSED = (
    "The user doesn't want to proceed with this tool use. To tell you how to proceed, "
    "the user said:\nNo."
)
FILE = "/work/project/tide.py"
Put = Callable[[Session, str], Session]
# Where a text comes from, and how many characters of it are kept.
CUT: dict[str, tuple[int, Put]] = {
    "remark": (140, lambda one, text: one.says(f"{text} {'gauge ' * 60}")),
    "step of a plan": (200, lambda one, text: one.calls("ExitPlanMode", plan=f"1. {text}\n2. B")),
    "step in prose": (200, lambda one, text: one.says(f"Plan:\n1. {text}\n2. B").user("go")),
    "task": (300, lambda one, text: one.calls("TaskCreate", "Task #1", subject=text)),
    "todo": (
        300,
        lambda one, text: one.calls("TodoWrite", todos=[{"content": text, "status": "pending"}]),
    ),
    "command": (4000, lambda one, text: one.runs(f"echo {text}")),
    "key of a command": (400, lambda one, text: one.runs(f"make {text}")),
    "refused command": (
        400,
        lambda one, text: one.calls(
            "Bash", REFUSED, error=True, copy="Error: The user doesn't", command=text
        ),
    ),
    "failure": (240, lambda one, text: one.runs("make", f"error: {text}", fails=True)),
    "names in a file": (6000, lambda one, text: one.calls("Read", text, file_path=FILE)),
    "names": (4000, lambda one, text: one.edits(FILE, "a", text)),
    "left to do": (160, lambda one, text: one.edits(FILE, "a", f"# TODO: {text}")),
    "question": (
        600,
        lambda one, text: one.calls("AskUserQuestion", questions=[{"question": text}]),
    ),
    "agent": (400, lambda one, text: one.calls("Agent", "ok", description=text, prompt="x")),
    "commit": (120, lambda one, text: one.runs("git commit -m x", f"[main abc1234] {text}")),
}


def _leaks(session: Session, secret: str, folder: Path) -> bool:
    stored = model.save(redact_record(session.record(folder))).decode()
    return any(secret[at : at + 8] in stored for at in range(len(secret) - 8))


@pytest.mark.slow
@pytest.mark.parametrize("place", CUT)
def test_no_half_of_a_secret_stays_in_a_record(place: str, tmp_path: Path) -> None:
    chars, put = CUT[place]
    for before in range(chars - 60, chars + 5, 3):
        secret = drawn(Random(before), 36)
        for told in (f"gh{'p_'}{secret}", f"https://bob:{secret}@quay.example/x"):
            text = ("tide " * 2000)[: before - 1] + f" {told} and so on. " + "gauge " * 200
            session = put(Session().user("Print the tides.").works(1), text).says("Next.")
            assert not _leaks(session, secret, tmp_path), before
