"""Automatic compactions seen on this machine: evidence of where the client really compacts.

Stored in `seen.json`. A file of another version is not read: limits are learned again.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.client import compaction_limit
from holdfast.client.limit_settings import LimitSettings, from_json
from holdfast.wire import log, places
from holdfast.wire.errors import describe

VERSION = 2
MOST = 400


Conditions = tuple[str, str, str]  # must be equal for one compaction to be evidence for the next


class Observation(NamedTuple):
    """One automatic compaction; `boundary` is the id of its line, so that it counts once."""

    model: str
    client_version: str
    switches: str  # those that move the limit, as sorted JSON
    pre_tokens: int
    boundary: str
    at_ms: int

    @property
    def conditions(self) -> Conditions:
        return self[:3]


class Observed(NamedTuple):
    """All that is known; compactions up to `forgotten_ms` were forgotten and do not count."""

    observations: tuple[Observation, ...] = ()
    forgotten_ms: int = 0

    def pre_tokens(self, wanted: Conditions, new: Iterable[Observation] = ()) -> list[int]:
        known = {
            observation.boundary: observation
            for observation in (*self.observations, *self.not_forgotten(new))
        }
        return [one.pre_tokens for one in known.values() if one.conditions == wanted]

    def not_forgotten(self, new: Iterable[Observation]) -> list[Observation]:
        return [one for one in new if one.at_ms > self.forgotten_ms]


def conditions(model: str, client_version: str, switches: LimitSettings) -> Conditions:
    turned = json.dumps(switches.moving_limit_of(model), sort_keys=True)
    return model, client_version, turned


def path() -> Path:
    return Path(places.home(), "seen.json")


def load() -> Observed:
    data = places.read_small(str(path()), 1 << 20)
    if not data:
        return Observed()
    try:
        return _decode(json.loads(data))
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        log.add("WARN", "limits", f"{path()} was not read: {describe(error)}")
        return Observed()


def _decode(value: Any) -> Observed:
    if value["version"] != VERSION:
        return Observed()
    kinds: dict[str, Any] = dict.fromkeys(Observation._fields, str)
    kinds |= {"pre_tokens": int, "at_ms": int}
    rows = [
        Observation(*(kinds[name](row[name]) for name in Observation._fields))
        for row in value["observations"][-MOST:]
    ]
    return Observed(tuple(rows), int(value["forgotten_ms"]))


def add(new: Iterable[Observation]) -> None:
    """Save what is not known yet; two writers at once may lose one, and the next hook adds it."""
    found = load()
    boundaries = {observation.boundary for observation in found.observations}
    fresh = [one for one in found.not_forgotten(new) if one.boundary not in boundaries]
    if fresh:
        _save([*found.observations, *fresh][-MOST:], found.forgotten_ms)


def forget(now_ms: int) -> int:
    """Drop all observations; compactions up to now are not learned again. Says how many."""
    found = load()
    _save([], now_ms)
    return len(found.observations)


def learned_limits() -> list[dict[str, Any]]:
    """Return every limit that compactions on this machine contradict, with its source."""
    seen, found = load(), []
    for where in dict.fromkeys(one.conditions for one in seen.observations):
        model, version, switches = where
        tokens, turned = seen.pre_tokens(where), from_json(json.loads(switches))
        limit = compaction_limit.find(model, version, turned, seen_pre_tokens=tokens)
        if limit.source.startswith("learned"):
            found.append({"tokens": limit.edge_tokens, "source": limit.source})
    return found


def _save(observations: list[Observation], forgotten_ms: int) -> None:
    rows = [observation._asdict() for observation in observations]
    value = {"version": VERSION, "forgotten_ms": forgotten_ms, "observations": rows}
    Path(places.home()).mkdir(mode=0o700, parents=True, exist_ok=True)
    places.replace_whole(str(path()), json.dumps(value).encode("utf-8", "replace"))
