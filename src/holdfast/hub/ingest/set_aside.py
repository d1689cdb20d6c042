"""Sources that could not be ingested: which, why, and when each is tried again.

They are saved in `~/.holdfast/set-aside.json`, so that every process of this machine waits with
them and `holdfast doctor` can report them. Imports no database: the doctor would pay 200 ms for it.
"""

from contextlib import suppress
from pathlib import Path

import msgspec

from holdfast.files.lock import hold_file
from holdfast.wire import places

FIRST_WAIT_MS, LONGEST_WAIT_MS = 60_000, 3_600_000
PATIENCE_SECONDS = 2.0
MOST_BYTES = 4 << 20


class FailedSource(msgspec.Struct, frozen=True):
    error: str
    since_ms: int
    failed_ms: int  # the last time
    tries: int = 1

    @property
    def next_try_ms(self) -> int:
        return self.failed_ms + min(FIRST_WAIT_MS << min(self.tries - 1, 10), LONGEST_WAIT_MS)

    def is_waiting(self, now_ms: int) -> bool:
        return self.failed_ms <= now_ms < self.next_try_ms  # else the clock was set back


class _Saved(msgspec.Struct, frozen=True):
    sources: dict[str, FailedSource]
    version: int = 1


def load() -> dict[str, FailedSource]:
    """Return the sources that are set aside; none if the file is missing or damaged."""
    try:
        saved = msgspec.json.decode(places.read_small(_path(), MOST_BYTES), type=_Saved)
    except (msgspec.DecodeError, UnicodeError):
        return {}
    return saved.sources if saved.version == 1 else {}


def add(source: str, error: str, now_ms: int) -> None:
    with hold_file(f"{places.home()}/set-aside.lock", PATIENCE_SECONDS):
        found = load()
        before = found.get(source)
        since_ms, tries = (before.since_ms, before.tries) if before else (now_ms, 0)
        _save(found | {source: FailedSource(error, since_ms, now_ms, tries + 1)})


def remove(source: str) -> None:
    with hold_file(f"{places.home()}/set-aside.lock", PATIENCE_SECONDS):
        _save({name: failed for name, failed in load().items() if name != source})


def forget() -> None:
    """Try every source again."""
    with suppress(FileNotFoundError):
        Path(_path()).unlink()


def _save(sources: dict[str, FailedSource]) -> None:
    if sources:
        places.replace_whole(_path(), msgspec.json.encode(_Saved(sources)))
    else:
        forget()


def _path() -> str:
    return f"{places.home()}/set-aside.json"
