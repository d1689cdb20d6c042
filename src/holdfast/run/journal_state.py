"""What the journal's records add up to: which sessions there were, and which work is done.

Work is recorded per task, not per batch, because the batches change with the estimates and with
every edit of the plan. A task is the same while its id and its content hash are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

DONE, FAILED, STOPPED = "done", "failed", "stopped"


@dataclass(frozen=True, slots=True)
class TaskShare:
    """The share of a task that a session was given: all of it, or some of its files."""

    id: str
    hash: str
    files: tuple[str, ...] | None = None  # None: the whole task
    of_files: tuple[str, ...] = ()  # the files in its folders when the task was cut

    def as_json(self) -> dict[str, Any]:
        known = {"id": self.id, "hash": self.hash, "files": self.files and list(self.files)}
        return {**known, "of_files": list(self.of_files)} if self.of_files else known


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One session: its work, and its result, which is empty if nobody recorded it."""

    session_id: str
    batch: str
    shares: tuple[TaskShare, ...]
    result: str = ""
    error: str = ""
    used_tokens: int = 0  # the window at its fullest
    grown_tokens: int = 0  # how much of that the work took
    saved: bool = False  # the checkpoint was saved, or cannot be
    credited: tuple[int, ...] = ()  # the shares that a failed session did all the same

    @property
    def done_shares(self) -> tuple[TaskShare, ...]:
        if self.result == DONE:
            return self.shares
        return tuple(share for at, share in enumerate(self.shares) if at in self.credited)

    @property
    def names(self) -> frozenset[tuple[str, str]]:
        return frozenset((one.id, one.hash) for one in self.shares)

    @property
    def specs(self) -> frozenset[str]:
        """The tasks, and the larger tasks they are steps of."""
        ids = [one.id for one in self.shares]
        return frozenset([*ids, *(name.partition("/")[0] for name in ids)])


@dataclass(slots=True)
class RunHistory:
    tries: dict[str, SessionRecord] = field(default_factory=dict)  # by session, in order

    def take(self, record: Mapping[str, Any]) -> None:
        """Add one record. Records that do not fit are ignored."""
        session = record.get("session")
        if not isinstance(session, str):
            return
        kind, known = record.get("kind"), self.tries.get(session)
        if kind == "started":
            shares = tuple(_shares(record.get("tasks")))
            self.tries[session] = SessionRecord(session, str(record.get("batch", "")), shares)
        elif kind == "ended" and known is not None:
            self.tries[session] = replace(
                known,
                result=str(record.get("result", "")),
                error=str(record.get("error", "")),
                used_tokens=_number(record.get("used_tokens")),
                grown_tokens=_number(record.get("grown_tokens")),
                credited=_positions(record.get("credited")),
            )
        elif kind == "checkpoint" and known is not None:
            self.tries[session] = replace(known, saved=True)

    @property
    def sessions(self) -> list[SessionRecord]:
        """A copy, in order: parallel sessions record their ends while others read."""
        return list(self.tries.values())

    @property
    def unsettled(self) -> list[SessionRecord]:
        """Sessions that started and whose end was not recorded."""
        return [one for one in self.sessions if not one.result]

    @property
    def unsaved(self) -> list[SessionRecord]:
        return [one for one in self.done if not one.saved]

    @property
    def done(self) -> list[SessionRecord]:
        """Sessions that did something that must not be done again."""
        return [one for one in self.sessions if one.done_shares]

    @property
    def batches_done(self) -> int:
        return len({one.batch for one in self.sessions if one.result == DONE})

    def coverage(self) -> dict[tuple[str, str], frozenset[str] | None]:
        """By task and hash: the files that are done; None if the whole task is."""
        found: dict[tuple[str, str], frozenset[str] | None] = {}
        for share in (share for one in self.done for share in one.done_shares):
            key = (share.id, share.hash)
            before = found.get(key, frozenset())
            whole = share.files is None or before is None
            found[key] = None if whole else (before or frozenset()) | set(share.files or ())
        return found

    def spread(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """By task and hash: the files of its folders, fixed when its first part started."""
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        for share in (share for one in self.sessions for share in one.shares if share.of_files):
            found.setdefault((share.id, share.hash), share.of_files)
        return found

    def half_done(self, shares: Sequence[TaskShare]) -> SessionRecord | None:
        """The last session that had some of this work, if it did not finish it."""
        wanted = {(one.id, one.hash) for one in shares}
        for one in reversed(self.sessions):
            if one.names & wanted:
                return None if one.result == DONE else one
        return None

    def before(self, needs: Iterable[str], most: int) -> list[SessionRecord]:
        """Sessions to build on: the last batch's, and those that did what this work needs."""
        done, wanted = self.done, set(needs)
        if not done:
            return []
        last = [one for one in done if one.batch == done[-1].batch]
        needed = [one for one in done if wanted & one.specs]
        chosen = {one.session_id: one for one in [*last[::-1], *needed[::-1]]}
        return list(chosen.values())[:most]


def build_history(records: Iterable[Mapping[str, Any]]) -> RunHistory:
    found = RunHistory()
    for record in records:
        found.take(record)
    return found


def _shares(value: object) -> Iterable[TaskShare]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict) and isinstance(one.get("id"), str):
            hash_ = str(one.get("hash", ""))
            yield TaskShare(
                one["id"], hash_, _names(one.get("files")), _names(one.get("of_files")) or ()
            )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _positions(value: object) -> tuple[int, ...]:
    return tuple(one for one in value if isinstance(one, int)) if isinstance(value, list) else ()


def _names(value: object) -> tuple[str, ...] | None:
    return tuple(map(str, value)) if isinstance(value, list) else None
