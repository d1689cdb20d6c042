"""A plan as its run left it: what `holdfast run` has done of it is not planned again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from holdfast.plan.formats import read
from holdfast.plan.task import TaskPlan
from holdfast.run import journal_state
from holdfast.run.errors import NewerJournal, NotNoted
from holdfast.run.journal import Journal
from holdfast.run.journal_state import Account
from holdfast.run.plan_folder import folder_of
from holdfast.run.remaining import left


@dataclass(frozen=True, slots=True)
class Begun:
    """`ran` counts the tasks a run has done that the file does not mark; `note` says why nobody
    knows."""

    plan: TaskPlan
    ran: int = 0
    note: str = ""


def load(file: Path, root: Path) -> Begun:
    known, note = _known(file, root)
    written = read.load_plan(file, root, known.spread())
    plan = left(written, known.coverage())
    ran = sum(one.done for one in plan.tasks) - sum(one.done for one in written.tasks)
    return Begun(plan, ran, note)


def _known(file: Path, root: Path) -> tuple[Account, str]:
    """A journal that cannot be read is no reason not to plan: all is shown as to do, and why."""
    try:
        folder = folder_of(file, root)
    except (OSError, ValueError):  # no such name can be; reading the plan says so
        return Account(), ""
    try:
        return journal_state.of(Journal(folder, only_read=True).records), ""
    except (NotNoted, NewerJournal) as slip:
        return Account(), f"what a run has done of it cannot be read: {slip}"
