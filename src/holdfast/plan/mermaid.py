"""A workflow as text that mermaid draws."""

from __future__ import annotations

from holdfast.plan.workflow import Batch, Workflow
from holdfast.text.numbers import about, named, short

MOST_BATCHES = 400  # a picture of more shows nothing
LONGEST_LABEL = 60


def mermaid(workflow: Workflow) -> str:
    """For whatever draws mermaid: `flowchart TD`, a node per batch and checkpoint."""
    lines = ["flowchart TD"]
    for at, batch in enumerate(workflow.batches[:MOST_BATCHES]):
        titles = (_quoted(piece.task.shown) for piece in batch.pieces)
        lines.append(f'    batch_{at}["{"<br/>".join([head(at, batch), *titles])}"]')
        if at:
            lines.append(f'    checkpoint_{at - 1}(["checkpoint"])')
            lines.append(f"    batch_{at - 1} --> checkpoint_{at - 1} --> batch_{at}")
    if not workflow.batches:
        lines.append('    nothing["nothing left to do"]')
    if (more := len(workflow.batches) - MOST_BATCHES) > 0:
        lines.append(f'    more["{more:,} more batches"]')
    return "\n".join(lines) + "\n"


def _quoted(title: str) -> str:
    """Mermaid reads entities, so no mark of a title can end its label."""
    return "".join(
        mark if mark.isalnum() or mark in " .,-_/…" else f"#{ord(mark)};"
        for mark in short(named(title), LONGEST_LABEL)
    )


def head(at: int, batch: Batch) -> str:
    where = "" if batch.fresh else " in this session"
    large = ", larger than the room" if batch.tokens > batch.room_tokens else ""
    side = ", side by side" if batch.parallel else ""
    size = f"about {about(batch.tokens)} of {batch.room_tokens:,} tokens"
    size = "size unknown, a session of its own" if batch.is_unknown else size
    return f"batch {at + 1}{where}: {size}{large}{side}"
