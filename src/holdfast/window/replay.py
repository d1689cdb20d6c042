"""A past session through the same guard: what would have been read, said and when.

At every operation the replay knows only what a hook could have known at that moment.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.client import compaction_limit as client_edge
from holdfast.client.compaction_limit import CompactionLimit
from holdfast.client.limit_settings import LimitSettings
from holdfast.settings.load import Settings
from holdfast.transcript.entries import Boundary, Entry, Summary
from holdfast.transcript.reader import Reader
from holdfast.transcript.steps import Operation, operations
from holdfast.window import guard, history
from holdfast.window.guard import Alert, Crossing, Thresholds, cross
from holdfast.window.state import State
from holdfast.wire.mark import CHARS_PER_TOKEN


@dataclass(frozen=True, slots=True)
class Point:
    """One step: what its answer left, and what a hook read once its results were in."""

    index: int
    at_ms: int
    input_tokens: int
    total_tokens: int
    used_tokens: int
    edge_tokens: int
    zone: str
    alert: str | None


@dataclass(frozen=True, slots=True)
class Raised:
    index: int
    at_ms: int
    alert: str | None
    zone: str | None
    used_ratio: float
    is_delivered: bool
    checkpoint: str


@dataclass(frozen=True, slots=True)
class ReplayedCompaction:
    index: int
    trigger: str
    pre_tokens: int | None
    read_tokens: int
    edge_tokens: int
    ops_ahead: dict[str, int]
    offset: int = 0  # the byte of the transcript at which it stands

    @property
    def error_ratio(self) -> float | None:
        """How far our last reading was from the client's own count."""
        if not self.pre_tokens:
            return None
        return abs(self.read_tokens - self.pre_tokens) / self.pre_tokens


@dataclass(slots=True)
class Replay:
    points: list[Point] = field(default_factory=list)
    raised: list[Raised] = field(default_factory=list)
    compactions: list[ReplayedCompaction] = field(default_factory=list)
    model: str = ""
    client_version: str = ""
    session_id: str = ""
    edge: CompactionLimit | None = None


class Replayer:
    """Feed it a transcript in order; `replay` holds what happened so far."""

    def __init__(self, settings: Settings, switches: LimitSettings | None = None) -> None:
        self.replay = Replay()
        self._settings = settings
        self._switches = switches or LimitSettings()
        self._thresholds = Thresholds.of(settings)
        self._seen: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self._state = State()
        self._recent: list[Operation] = []
        self._totals: list[int] = []
        self._density = CHARS_PER_TOKEN
        self._used = 0
        self._highest = 0
        self._since: dict[str, int] = {}

    def feed(self, items: Iterable[Operation | Boundary | Summary]) -> Replay:
        for item in items:
            if isinstance(item, Operation):
                if item.usage.total_tokens:
                    self._operation(item)
            elif isinstance(item, Boundary) and item.resets_window:
                self._compaction(item)
            elif isinstance(item, Boundary):
                self._used = max(0, self._used - item.saved_tokens)  # old results were cleared
                self._totals = history.lower_levels(self._totals, item)
        return self.replay

    def read(
        self, path: Path, *, sidechain: bool, tell: Callable[[int], object] | None = None
    ) -> dict[str, int]:
        """Feed a whole file; `tell` is told how far it was read. Returns the counts of lines."""
        reader = Reader(path)

        def entries() -> Iterator[Entry]:
            for entry in reader:
                if tell is not None:
                    tell(reader.offset)
                yield entry

        self.feed(operations(entries(), sidechain=sidechain))
        return reader.tally.as_dict()

    def _operation(self, item: Operation) -> None:
        replay = self.replay
        replay.model, replay.client_version = item.model, item.version
        replay.session_id = replay.session_id or item.lines[0].line.session_id
        self._recent = [*self._recent[-history.FITTED_OPERATIONS :], item]
        self._density = history.fit_density(self._recent) or self._density
        total = history.total_tokens(item, self._density)
        self._totals.append(total)
        self._used = total + int(history.added_chars(item) / self._density)
        self._highest = max(self._highest, total)
        seen = self._seen[item.model, item.version]
        edge = replay.edge = client_edge.find(
            *(item.model, item.version, self._switches),
            used_tokens=self._highest,
            seen_pre_tokens=seen,
        )
        at_ms = int((item.epoch_s or 0) * 1000)
        verdict = guard.judge(self._totals, self._used, edge.edge_tokens, self._thresholds)
        crossing = cross(self._state, verdict, at_ms, self._settings)
        index = len(replay.points)
        is_delivered = crossing.speaks and not edge.is_passed(self._used)
        self._note(crossing, index, at_ms, verdict.used_ratio, is_delivered=is_delivered)
        alert = verdict.alert.name.lower() if verdict.alert else None
        zone = verdict.zone.name.lower()
        inputs = item.usage.input_side_tokens
        replay.points.append(
            Point(index, at_ms, inputs, total, self._used, edge.edge_tokens, zone, alert)
        )

    def _note(
        self, crossing: Crossing, index: int, at_ms: int, used_ratio: float, *, is_delivered: bool
    ) -> None:
        if crossing.checkpoint:
            self._state.checkpoint_ms = at_ms
        if crossing.zone is None and crossing.alert is None:
            return
        for level in Alert:  # an alert implies the milder ones it leapt over
            if Alert.NONE < level <= (crossing.alert or Alert.NONE):
                self._since.setdefault(level.name.lower(), index)
        self.replay.raised.append(
            Raised(
                index,
                at_ms,
                crossing.alert.name.lower() if crossing.alert else None,
                crossing.zone.name.lower() if crossing.zone else None,
                round(used_ratio, 4),
                is_delivered,
                crossing.checkpoint,
            )
        )

    def _compaction(self, boundary: Boundary) -> None:
        replay = self.replay
        last = len(replay.points) - 1
        edge_tokens = replay.edge.edge_tokens if replay.edge else 0
        replay.compactions.append(
            ReplayedCompaction(
                last,
                boundary.trigger or "unknown",
                boundary.pre_tokens,
                self._used,
                edge_tokens,
                {level: last - index for level, index in self._since.items()},
                boundary.offset,
            )
        )
        if boundary.pre_tokens and boundary.trigger == "auto":
            self._seen[replay.model, replay.client_version].append(boundary.pre_tokens)
        self._totals, self._recent, self._since = [], [], {}
        self._used, self._state = 0, State()
