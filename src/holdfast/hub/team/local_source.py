"""What hooks and the client left on this machine, for who sends it on."""

from __future__ import annotations

import os
from collections.abc import Sequence

from holdfast.hub.ingest import gather as gathering
from holdfast.hub.ingest import records
from holdfast.hub.ingest.records import Position
from holdfast.wire import places


class LocalSource:
    """An outbox: see `forward`."""

    def sources(self) -> Sequence[str]:
        return gathering.sources()

    def gather(self, source: str, position: Position) -> records.RecordBatch | None:
        batch = gathering.gather(source, position)
        return batch and records.renamed(batch, gathering.told_as(source))

    def encode(self, batch: records.RecordBatch) -> bytes:
        return records.encode(batch)

    def touched(self, source: str) -> float | None:
        kind, _, name = source.partition(":")
        spool = os.path.join(places.windows(), name, "spool")  # noqa: PTH118
        try:
            return os.stat(spool).st_mtime if kind == gathering.WINDOW else None  # noqa: PTH116
        except OSError:
            return None
