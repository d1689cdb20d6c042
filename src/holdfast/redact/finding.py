"""Where a secret stands and what kind it is; and what is written in its place."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

REDACTED = "[redacted"  # every placeholder begins so, and no rule takes it for a secret


class Finding:
    """One secret: its kind, and the half-open span it fills."""

    __slots__ = ("end", "kind", "start")  # no dataclass: that import alone costs 20 ms

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Finding):
            return NotImplemented
        return self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return f"Finding({self.kind!r}, {self.start}, {self.end})"

    def _all(self) -> tuple[str, int, int]:
        return self.kind, self.start, self.end

    @property
    def placeholder(self) -> str:
        return f"{REDACTED}: {self.kind}]"


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """In order and apart; where two overlap, the one found first (the surer rule) names both."""
    ranked = sorted(enumerate(findings), key=lambda item: item[1].start)
    kept: list[tuple[int, Finding]] = []
    for rank, one in ranked:
        if kept and one.start < kept[-1][1].end:
            last_rank, last = kept[-1]
            kind = last.kind if last_rank < rank else one.kind
            both = Finding(kind, last.start, max(last.end, one.end))
            kept[-1] = (min(last_rank, rank), both)
        else:
            kept.append((rank, one))
    return [one for _, one in kept]
