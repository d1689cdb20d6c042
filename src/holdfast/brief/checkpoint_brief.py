"""A checkpoint as the model gets it: its sections, and their origin."""

from __future__ import annotations

from datetime import UTC, datetime

from holdfast.checkpoint import additions, checkpoint_file, find, index
from holdfast.checkpoint.checkpoint_file import Document
from holdfast.checkpoint.index import CheckpointEntry
from holdfast.redact.find import redact
from holdfast.text import fence
from holdfast.text.fence import shown
from holdfast.wire.errors import HoldfastError

OFFER_CHARS = 900
MOST_STEPS, STEPS_CHARS = 3, 480  # open steps, and the characters that they share
WORKFLOW_CHARS = 300


class Changed(HoldfastError):
    """The file is not what was saved: somebody edited it, or it was damaged."""

    hint = "`holdfast verify FILE` says what is wrong; --anyway loads it as it is"


def sections(entry: CheckpointEntry, *, anyway: bool = False) -> str:
    """Return the text; `Changed` for one that does not verify, unless wanted anyway."""
    if not entry.verified and not anyway:
        raise Changed(changed(entry))
    return checkpoint_file.body(checkpoint_file.read(entry.path).document).lstrip("\n")


def changed(entry: CheckpointEntry) -> str:
    return (
        f"{shown(entry.path)} is NOT VERIFIED: it was changed after it was saved, or its "
        "transcript was not read to the end"
    )


def origin(entry: CheckpointEntry) -> str:
    since = "" if entry.verified else ", NOT VERIFIED"
    why = index.why_not_own(entry)
    return f"checkpoint {entry.id}, saved {entry.created}{since}" + (f", {why}" if why else "")


def not_own(entry: CheckpointEntry) -> str:
    """Return a warning if the checkpoint is not known to be ours; empty if it is."""
    why = index.why_not_own(entry)
    return f"{shown(entry.path)}: {why}; read it before you trust it" if why else ""


def offer(project: str, session_id: str, now_ms: int) -> str:
    """Return the newest checkpoint of a project in a few lines, if it is less than a day old."""
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    report = find.newest(project, now)
    if report is None or report.document is None:
        return ""
    if report.document.session_id == session_id:
        return ""  # a resumed session still has all of it
    return in_few_lines(report.path, report.document, now)


def in_few_lines(path: str, document: Document, now: datetime) -> str:
    """Return a short text, fenced: a repository could contain one made by anyone."""
    minutes = max(0, int((now - document.created).total_seconds() // 60))
    age = f"{minutes} min" if minutes < 90 else f"{minutes // 60} h"
    open_steps = document.sections.get("Next Steps", ())[:MOST_STEPS]
    steps = [fence.flat(text, STEPS_CHARS // len(open_steps)) for text in open_steps]
    about = fence.flat(document.summary, 200)
    lines = [
        f"Earlier session, saved {age} ago: {about}",
        f"Continue it only if the user asks. All of it: {fence.flat(path, 300)}",
        *_workflow(document.project),
        *(f"- {step}" for step in steps),
    ]
    return _fenced([fence.line(redact(line)) for line in lines])


def _workflow(project: str) -> list[str]:
    """Return the state of a workflow that a tool keeps in the project."""
    place, state = additions.read_workflow(project)
    told = additions.workflow_lines(state)
    return [f"- {place}: {fence.flat('; '.join(told), WORKFLOW_CHARS)}"] if told else []


def _fenced(lines: list[str]) -> str:
    """Drop the last lines until the rest fits. The fence is always closed."""
    opening = fence.opening("the newest checkpoint of this project") + "\n"
    closing = "\n" + fence.closing()
    room = OFFER_CHARS - len(opening) - len(closing)
    while len(lines) > 1 and len("\n".join(lines)) > room:
        lines = lines[:-1]
    return opening + "\n".join(lines)[:room] + closing
