"""The headline under the doctor's eyes: a made-up session is compacted, and nothing is lost.

The installed commands of PreCompact and SessionStart, one after the other, on one small session in
a folder of its own; what they leave and say is judged by what a user wants of them.
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
from holdfast.wire.mark import CHARS_PER_TOKEN

RULE = "Never touch data/raw."
BEFORE, AFTER = "compaction, before", "compaction, after"


@dataclass(frozen=True, slots=True)
class Step:
    """One half of a compaction: what we did, in words, or what did not come."""

    name: str
    ok: bool
    milliseconds: float
    words: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def rehearse(commands: list[tuple[str, str]]) -> list[Step]:
    """Both halves; none where a hook that is needed is not installed: that is told elsewhere."""
    by_event = dict(reversed(commands))
    before, after = by_event.get("PreCompact"), by_event.get("SessionStart")
    if not before or not after:
        return []
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as name:
        folder = Path(name)
        work = [
            sample_payloads.prompt_line(f"Mend the parser. {RULE}"),
            sample_payloads.answer_line(165_500),
        ]
        said, first = _fired("PreCompact", before, folder, work)
        steps = [_before(said, kept_in(folder), first)]
        said, second = _fired(
            "SessionStart", after, folder, [*work, *sample_payloads.compacted_lines()]
        )
        return [*steps, _after(said, second)]


def kept_in(project: Path) -> bool:
    """Whether a checkpoint lies in this project that can be read back whole."""
    return any(verify(str(path)).ok for path in (project / INSIDE).glob("*.md"))


def _fired(
    event: str, command: str, folder: Path, lines: list[dict[str, Any]]
) -> tuple[str, float]:
    """What reached the model, and how long it took; a hook that failed has said nothing."""
    own = {"source": "compact"} if event == "SessionStart" else {}
    path = client_doctor.written(folder, lines)
    where = {"session_id": client_doctor.SESSION, "transcript": path, "cwd": str(folder)}
    ran = client_doctor.run_as_client(
        command, sample_payloads.make_payload(event, **where) | own, folder
    )
    if isinstance(ran, str):
        return "", 0.0
    done, milliseconds = ran
    out = done.stdout.decode("utf-8", "replace").strip()
    return client_doctor.understood(event, out)[0], milliseconds


def _before(steering: str, kept: bool, milliseconds: float) -> Step:
    if kept and RULE in steering:
        words = f"kept a checkpoint and steered the summary ({len(steering)} characters)"
        return Step(BEFORE, True, milliseconds, words)
    missing = [] if kept else ["no checkpoint was kept"]
    missing += [] if RULE in steering else ["the summary was not steered"]
    return Step(BEFORE, False, milliseconds, " and ".join(missing))


def _after(brief: str, milliseconds: float) -> Step:
    if RULE in brief:
        words = f"gave back a brief of {len(brief) / CHARS_PER_TOKEN:.0f} tokens"
        return Step(AFTER, True, milliseconds, words)
    return Step(AFTER, False, milliseconds, "no brief was given back")
