"""A bucket per caller that fills again; those not seen for long are forgotten first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

MOST_CALLERS = 10_000


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


@dataclass(slots=True)
class Rate:
    per_second: float
    burst: float
    callers: OrderedDict[Hashable, _Bucket] = field(default_factory=OrderedDict)

    def wait_seconds(self, caller: Hashable, now: float) -> float:
        """0: come in. `now` never goes back."""
        bucket = self.callers.get(caller)
        if bucket is None:
            bucket = self.callers[caller] = _Bucket(self.burst, now)
            if len(self.callers) > MOST_CALLERS:
                self.callers.popitem(last=False)
        bucket.left = min(self.burst, bucket.left + (now - bucket.at) * self.per_second)
        bucket.at = now
        self.callers.move_to_end(caller)
        if bucket.left < 1:
            return (1 - bucket.left) / self.per_second
        bucket.left -= 1
        return 0.0
