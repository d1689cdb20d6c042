"""What was met while reading, so that nothing is skipped in silence."""

from collections import Counter
from collections.abc import Iterable

# Line types written by clients 1.0.53 to 2.1.325. Only the first five become entries.
UNDERSTOOD = frozenset({"assistant", "user", "system", "attachment", "queue-operation"})
LEFT_ALONE = frozenset(
    {
        "api-request",
        "api-request-blob",  # a copy of every sent message: counting it would count twice
        "api-request-shape",
        "agent-name",
        "ai-title",
        "atis-latch",
        "bridge-session",
        "cost-state",
        "custom-title",
        "file-history-delta",
        "file-history-snapshot",
        "holdfast-left-out",  # ours, in an archived transcript
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "summary",  # a session's title, not a compaction's summary
        "tools-used",
    }
)
MOST_TYPES = 64  # a hostile file could name a new type on every line
LONGEST_TYPE = 64
ALL_FURTHER = "(all further)"


class Tally:  # no dataclass: that import costs 20 ms, and a compaction waits
    """Counts of lines: by type, and by what was wrong with them."""

    __slots__ = (
        "by_type",
        "malformed",
        "misfit",
        "misfit_fields",
        "oversized",
        "torn_tail",
        "words_lost",
    )

    def __init__(self) -> None:
        self.by_type: dict[str, int] = {}
        self.malformed = 0  # whole lines that are not a JSON object
        self.torn_tail = False  # the last line has no end yet, and is not whole
        self.oversized = 0
        self.words_lost = 0  # of the malformed and oversized, those that may hold a prompt
        self.misfit = 0  # lines that needed mending, kept or not
        self.misfit_fields: Counter[str] = Counter()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # it changes

    @property
    def lines(self) -> int:
        """Whole lines met; empty ones are not counted."""
        return sum(self.by_type.values()) + self.malformed + self.oversized

    @property
    def torn(self) -> int:
        """Lines that do not parse, an unfinished last one among them."""
        return self.malformed + self.torn_tail

    @property
    def unknown(self) -> dict[str, int]:
        """Line types we have never heard of, and how many of each."""
        return {
            name: count
            for name, count in self.by_type.items()
            if name not in UNDERSTOOD and name not in LEFT_ALONE
        }

    def as_dict(self) -> dict[str, int]:
        """The counts to show."""
        return {
            "lines": self.lines,
            "understood": sum(self.by_type.get(name, 0) for name in UNDERSTOOD),
            "left_alone": sum(self.by_type.get(name, 0) for name in LEFT_ALONE),
            "unknown": sum(self.unknown.values()),
            "torn": self.torn,
            "oversized": self.oversized,
            "misfit": self.misfit,
        }

    def add_type(self, name: str) -> None:
        """Count one line of this type, holding only so many different names."""
        if name not in self.by_type:
            name = name[:LONGEST_TYPE] or "(none)"
            if name not in self.by_type and len(self.by_type) >= MOST_TYPES:
                name = ALL_FURTHER
        self.by_type[name] = self.by_type.get(name, 0) + 1

    def add_misfit(self, fields: Iterable[str]) -> None:
        """Count one line whose named fields were not as they should be."""
        self.misfit += 1
        self.misfit_fields.update(fields)
