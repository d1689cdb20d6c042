"""An endurance session: the real client through ten compactions, facts planted once each.

Two things are measured, for the client with Holdfast and for the client alone: which of the facts
the model still gets after each compaction, where the summaries keep nothing; and whether a summary
that calls open work done is contradicted. `python -m benchmarks.endurance --help`.
"""

from __future__ import annotations

from benchmarks.endurance.figures import rows

__all__ = ["rows"]
