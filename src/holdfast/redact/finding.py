"""One secret in a text, and the placeholder that replaces it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

REDACTED = "[redacted"  # every placeholder begins so, and no rule takes it for a secret


@lru_cache(None)
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when first needed; `re.compile` takes ten times as long to find it."""
    return re.compile(pattern)


class SecretFinding:
    """One secret: its kind, and the half-open span it fills."""

    __slots__ = ("end", "kind", "start")  # no dataclass: that import alone costs 20 ms

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"SecretFinding({self.kind!r}, {self.start}, {self.end})"

    @property
    def placeholder(self) -> str:
        return f"{REDACTED}: {self.kind}]"


def merge_findings(findings: Iterable[SecretFinding]) -> list[SecretFinding]:
    """Sort findings and merge those that overlap; the first one names the result."""
    kept: list[SecretFinding] = []
    for finding in sorted(findings, key=lambda finding: finding.start):
        if kept and finding.start < kept[-1].end:
            kept[-1].end = max(kept[-1].end, finding.end)
        else:
            kept.append(finding)
    return kept
