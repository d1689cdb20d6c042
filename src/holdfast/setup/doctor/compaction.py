"""The doctor's rehearsal of a compaction: with the installed hooks, or with the real Claude Code.

`rehearse` runs the installed commands of PreCompact and SessionStart on a small made-up session in
a folder of its own. `try_cycle` runs Claude Code against a scripted API. Both check what reached
the model.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from holdfast.checkpoint.verify import verify
from holdfast.client import sample_payloads
from holdfast.files.folders import INSIDE
from holdfast.setup.doctor import hooks as client_doctor
from holdfast.setup.trial.cycle import compactions, hook_faults, our_texts, run_cycle
from holdfast.setup.trial.run import Trial
from holdfast.setup.wiring import hook_table, prints_second_half
from holdfast.text.fence import TAG
from holdfast.text.numbers import counted
from holdfast.wire.mark import CHARS_PER_TOKEN

RULE = "Never touch data/raw."
BEFORE, AFTER = "compaction, before", "compaction, after"
STEERS = "Keep these word for word in the summary:"
_MISSED = {
    "alerts_the_api_received": "no alert reached the API",
    "checkpoint_kept": "no checkpoint was saved",
    "summariser_got_our_text": "the summariser did not get our text",
    "brief_in_next_request": "the brief was not in the request after the compaction",
}


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
    by_event = dict(one for one in reversed(commands) if not prints_second_half(one[1]))
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


def try_cycle(binary: Path) -> dict[str, Any]:
    """Run Claude Code against a scripted API, without network, in folders of its own."""
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-") as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        home.mkdir()
        project.mkdir()
        trial = run_cycle(
            binary,
            project,
            home,
            settings={"hooks": hook_table()},
            env={"HOLDFAST_HOME": str(home / ".holdfast")},
        )
        return {"binary": os.fspath(binary)} | judge(trial, kept=has_checkpoint(project))


def judge(trial: Trial, *, kept: bool) -> dict[str, Any]:
    """What the API received from us; everything that is missing is a problem."""
    times = compactions(trial)
    found = {
        "requests": len(trial.requests),
        "compactions": times,
        "alerts_the_api_received": sorted({t for one in trial.requests for t in our_texts(one)}),
        "checkpoint_kept": kept,
        "summariser_got_our_text": any(STEERS in _text(one.body) for one in trial.asked("summary")),
        "brief_in_next_request": f"<{TAG} " in _next_request(trial),
    }
    troubles = hook_faults(trial)
    if not times:
        return found | {"troubles": [*troubles, "Claude Code did not compact"]}
    return found | {"troubles": troubles + [_MISSED[name] for name in _MISSED if not found[name]]}


def in_words(client: dict[str, Any]) -> list[str]:
    lines = [f"real client: {client['requests']} requests, {client['compactions']} compaction"]
    lines += [f"  the API received: {text}" for text in client["alerts_the_api_received"]]
    done = {
        "checkpoint_kept": "a checkpoint was saved",
        "summariser_got_our_text": "the summariser got our text",
        "brief_in_next_request": "our brief was in the next request",
    }
    return lines + [f"  {words}" for name, words in done.items() if client[name]]


def _next_request(trial: Trial) -> str:
    """The first request for a turn after the summary."""
    asked = iter(trial.requests)
    for request in asked:
        if request.kind == "summary":
            return next((_text(one.body) for one in asked if one.kind == "main"), "")
    return ""


def _text(body: dict[str, Any]) -> str:
    return json.dumps(body.get("messages"), ensure_ascii=False)
