"""The doctor's rehearsal of a compaction: the installed commands of PreCompact and SessionStart run
on a small made-up session in a folder of its own, and what reached the model is checked.
"""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from holdfast.checkpoint.verify import verify
from holdfast.client import sample_payloads
from holdfast.files.folders import INSIDE
from holdfast.setup.doctor import hooks as client_doctor
from holdfast.setup.wiring import prints_second_half
from holdfast.text.numbers import counted
from holdfast.wire.mark import CHARS_PER_TOKEN

RULE = "Never touch data/raw."
BEFORE, AFTER = "compaction, before", "compaction, after"


@dataclass(frozen=True, slots=True)
class RehearsalStep:
    """One half of a compaction: what happened or what is missing, in words."""

    name: str
    ok: bool
    milliseconds: float
    words: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def rehearse(commands: list[tuple[str, str]]) -> list[RehearsalStep]:
    """Rehearse both halves. Empty if a needed hook is missing, which is reported elsewhere."""
    by_event = dict(command for command in reversed(commands) if not prints_second_half(command[1]))
    before, after = by_event.get("PreCompact"), by_event.get("SessionStart")
    if not before or not after:
        return []
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as name:
        folder = Path(name)
        work = [
            sample_payloads.prompt_line(f"Fix the parser. {RULE}"),
            sample_payloads.answer_line(165_500),
        ]
        text, first = _fire("PreCompact", before, folder, work)
        steps = [_before(text, has_checkpoint(folder), first)]
        text, second = _fire(
            "SessionStart", after, folder, [*work, *sample_payloads.compacted_lines()]
        )
        return [*steps, _after(text, second)]


def has_checkpoint(project: Path) -> bool:
    """Whether this project has a checkpoint that can be read back completely."""
    return any(verify(str(path)).ok for path in (project / INSIDE).glob("*.md"))


def _fire(event: str, command: str, folder: Path, lines: list[dict[str, Any]]) -> tuple[str, float]:
    """What reached the model, and the milliseconds it took; empty for a hook that failed."""
    own = {"source": "compact"} if event == "SessionStart" else {}
    path = client_doctor.write_transcript(folder, lines)
    where = {"session_id": client_doctor.SESSION, "transcript": path, "cwd": str(folder)}
    ran = client_doctor.run_as_client(
        command, sample_payloads.make_payload(event, **where) | own, folder
    )
    if isinstance(ran, str):
        return "", 0.0
    done, milliseconds = ran
    out = done.stdout.decode("utf-8", "replace").strip()
    return client_doctor.read_output(event, out)[0], milliseconds


def _before(steering: str, kept: bool, milliseconds: float) -> RehearsalStep:
    if kept and RULE in steering:
        size = counted(len(steering), "character")
        words = f"saved a checkpoint and told the summariser what to keep ({size})"
        return RehearsalStep(BEFORE, True, milliseconds, words)
    missing = [] if kept else ["no checkpoint was saved"]
    missing += [] if RULE in steering else ["the summariser was not told what to keep"]
    return RehearsalStep(BEFORE, False, milliseconds, " and ".join(missing))


def _after(brief: str, milliseconds: float) -> RehearsalStep:
    if RULE in brief:
        words = f"restored a brief of {counted(round(len(brief) / CHARS_PER_TOKEN), 'token')}"
        return RehearsalStep(AFTER, True, milliseconds, words)
    return RehearsalStep(AFTER, False, milliseconds, "no brief was restored")
