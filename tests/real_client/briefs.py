"""The briefs in a request, and the checkpoints of a project, as plain values."""

import re
from pathlib import Path

from holdfast.checkpoint.checkpoint_file import Document
from holdfast.checkpoint.index import load_or_empty
from holdfast.checkpoint.verify import verify
from tests.trial.cycle import texts
from tests.trial.run import Trial
from tests.trial.script import ReceivedRequest

MOST_TOKENS = 2_000
_BRIEF = re.compile(r"<holdfast-brief.*?</holdfast-brief>", re.DOTALL)


def briefs(request: ReceivedRequest) -> list[str]:
    """Every brief in one request, in order, as often as it is there."""
    said = (_BRIEF.findall(text) for text in texts(request.body["messages"]))
    return [brief for found in said for brief in found]


def tokens(text: str) -> float:
    """As the brief counts them."""
    return len(text) / 3.5


def after_compactions(trial: Trial) -> list[ReceivedRequest]:
    """For each summary, the next request of the window it was written for."""
    asked = trial.requests
    return [
        next(r for r in asked[n:] if r.kind != "summary" and r.agent_id == summary.agent_id)
        for n, summary in enumerate(asked)
        if summary.kind == "summary"
    ]


def checkpoints(project: Path) -> list[Document]:
    """What was kept, oldest first, each proven by hash and entry; HOLDFAST_HOME must be set."""
    files = (project / ".claude" / "checkpoints").glob("*.md")
    reports = [verify(str(path), load_or_empty()) for path in files]
    assert [finding for report in reports for finding in report.findings] == []
    kept = [report.document for report in reports if report.document]
    return sorted(kept, key=lambda one: (one.created, one.iteration))
