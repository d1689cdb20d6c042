"""What a new session is told about the last one: there is a checkpoint, and what it is about."""

from __future__ import annotations

from datetime import datetime

from holdfast.checkpoint import workflow_state
from holdfast.checkpoint.document import Document
from holdfast.checkpoint.sections import NOTHING_OPEN
from holdfast.redact import redact
from holdfast.text import fence

MOST_CHARS = 900
WORKFLOW_CHARS = 300


def _workflow(project: str) -> list[str]:
    """The state of a workflow that a tool keeps in the project."""
    place, state = workflow_state.read(project)
    told = workflow_state.lines(state)
    return [f"- {place}: {fence.flat('; '.join(told), WORKFLOW_CHARS)}"] if told else []


def text_for(path: str, document: Document, now: datetime) -> str:
    """Fenced as reference: a repository could ship a checkpoint of its own."""
    minutes = max(0, int((now - document.created).total_seconds() // 60))
    age = f"{minutes} min" if minutes < 90 else f"{minutes // 60} h"
    steps = [fence.flat(text, 160) for text in document.sections.get("Next Steps", ())][:3]
    about = fence.flat(document.summary, 200)
    lines = [
        f"saved {age} ago ({fence.flat(document.trigger, 20)}): {about}",
        f"continue it only if the user asks; whole: {fence.flat(path, 300)}, or `holdfast resume`",
        *_workflow(document.project),
        *(f"- {step if step.startswith(NOTHING_OPEN) else f'open: {step}'}" for step in steps),
    ]
    return _fenced([fence.line(redact(line)) for line in lines])


def _fenced(lines: list[str]) -> str:
    """Drop the last lines until the rest fits. The fence is always closed."""
    opening = fence.opening("the newest checkpoint of this project") + "\n"
    closing = "\n" + fence.closing()
    room = MOST_CHARS - len(opening) - len(closing)
    while len(lines) > 1 and len("\n".join(lines)) > room:
        lines = lines[:-1]
    return opening + "\n".join(lines)[:room] + closing
