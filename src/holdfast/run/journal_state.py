"""What the journal's records come to: which sessions there were, and which work is done.

Work is noted by task, not by batch: how a plan is cut into batches changes with the estimates, and
with every edit of it. A task is what it was while its id and its content hash are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

DONE, FAILED, STOPPED = "done", "failed", "stopped"


@dataclass(frozen=True, slots=True)
class Share:
    """What a session was given of one task: all of it, or some of its files."""

    id: str
    hash: str
    files: tuple[str, ...] | None = None  # None: all there is to it
    of_files: tuple[str, ...] = ()  # what its folders held when it was cut

    def as_json(self) -> dict[str, Any]:
        known = {"id": self.id, "hash": self.hash, "files": self.files and list(self.files)}
        return {**known, "of_files": list(self.of_files)} if self.of_files else known


@dataclass(frozen=True, slots=True)
class Try:
    """One session: what it was to do, and what came of it; `result` empty: nobody noted."""

    session_id: str
    batch: str
    shares: tuple[Share, ...]
    result: str = ""
    error: str = ""
    used_tokens: int = 0  # its window at its fullest
    grown_tokens: int = 0  # what its work took of that
    saved: bool = False  # its checkpoint was taken, or cannot be
    credited: tuple[int, ...] = ()  # of one that failed: which shares it did all the same

    @property
    def done_shares(self) -> tuple[Share, ...]:
        if self.result == DONE:
            return self.shares
        return tuple(share for at, share in enumerate(self.shares) if at in self.credited)

    @property
    def names(self) -> frozenset[tuple[str, str]]:
        return frozenset((one.id, one.hash) for one in self.shares)

    @property
    def specs(self) -> frozenset[str]:
        """The tasks, and those they are steps of."""
        ids = [one.id for one in self.shares]
        return frozenset([*ids, *(name.partition("/")[0] for name in ids)])


@dataclass(slots=True)
class Account:
    tries: dict[str, Try] = field(default_factory=dict)  # by session, in order

    def take(self, record: Mapping[str, Any]) -> None:
        """A record that does not fit tells nothing."""
        session = record.get("session")
        if not isinstance(session, str):
            return
        kind, known = record.get("kind"), self.tries.get(session)
        if kind == "started":
            shares = tuple(_shares(record.get("tasks")))
            self.tries[session] = Try(session, str(record.get("batch", "")), shares)
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
    def sessions(self) -> list[Try]:
        """In order; a copy, for sessions side by side note their ends while others look."""
        return list(self.tries.values())

    @property
    def unsettled(self) -> list[Try]:
        """Begun, and nobody noted their end."""
        return [one for one in self.sessions if not one.result]

    @property
    def unsaved(self) -> list[Try]:
        return [one for one in self.done if not one.saved]

    @property
    def done(self) -> list[Try]:
        """Those that did something that is not to be done again."""
        return [one for one in self.sessions if one.done_shares]

    @property
    def batches_done(self) -> int:
        return len({one.batch for one in self.sessions if one.result == DONE})

    def coverage(self) -> dict[tuple[str, str], frozenset[str] | None]:
        """By task and hash: None where all of it is done, else the files that are."""
        found: dict[tuple[str, str], frozenset[str] | None] = {}
        for share in (share for one in self.done for share in one.done_shares):
            key = (share.id, share.hash)
            before = found.get(key, frozenset())
            whole = share.files is None or before is None
            found[key] = None if whole else (before or frozenset()) | set(share.files or ())
        return found

    def spread(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """By task and hash: the files of its folders, settled when its first part was begun."""
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        for share in (share for one in self.sessions for share in one.shares if share.of_files):
            found.setdefault((share.id, share.hash), share.of_files)
        return found

    def half_done(self, shares: Sequence[Share]) -> Try | None:
        """The last session that had some of this work and did not end it."""
        wanted = {(one.id, one.hash) for one in shares}
        for one in reversed(self.sessions):
            if one.names & wanted:
                return None if one.result == DONE else one
        return None

    def before(self, needs: Iterable[str], most: int) -> list[Try]:
        """Sessions to start from: the last batch's, and those that did what this work needs."""
        done, wanted = self.done, set(needs)
        if not done:
            return []
        last = [one for one in done if one.batch == done[-1].batch]
        needed = [one for one in done if wanted & one.specs]
        chosen = {one.session_id: one for one in [*last[::-1], *needed[::-1]]}
        return list(chosen.values())[:most]


def of(records: Iterable[Mapping[str, Any]]) -> Account:
    found = Account()
    for record in records:
        found.take(record)
    return found


def _shares(value: object) -> Iterable[Share]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict) and isinstance(one.get("id"), str):
            hash_ = str(one.get("hash", ""))
            yield Share(
                one["id"], hash_, _names(one.get("files")), _names(one.get("of_files")) or ()
            )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _positions(value: object) -> tuple[int, ...]:
    return tuple(one for one in value if isinstance(one, int)) if isinstance(value, list) else ()


def _names(value: object) -> tuple[str, ...] | None:
    return tuple(map(str, value)) if isinstance(value, list) else None
