"""An endurance session: the real client through ten compactions, facts planted once each.

Measured is which of the facts the model still gets after each compaction, where the summaries keep
nothing: for the client with Holdfast and for the client alone. `python -m benchmarks.endurance
--help`.
"""

from __future__ import annotations

from benchmarks.endurance.figures import rows

__all__ = ["rows"]
