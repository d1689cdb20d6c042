"""`/metrics` for Prometheus: one line per live window, and how the writing goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastapi import Response

from holdfast.api.database import Db
from holdfast.api.router import Router
from holdfast.hub import row_times
from holdfast.hub.store.rows import Row
from holdfast.hub.store.write_health import WriteHealth
from holdfast.hub.tree import capacity

if TYPE_CHECKING:
    from prometheus_client.core import Metric

router = Router(tags=["health"])
KIND = "text/plain; version=0.0.4; charset=utf-8"
LABELS = ("session_id", "agent_id", "zone", "alert")
GAUGES = {
    "holdfast_window_used_tokens": ("tokens in the window", "used_tokens"),
    "holdfast_window_edge_tokens": ("compaction limit in tokens", "edge_tokens"),
    "holdfast_window_used_ratio": ("share of the compaction limit used", "used_ratio"),
    "holdfast_window_estimated": ("1 where the tokens used are an estimate", "estimated"),
    "holdfast_window_velocity_tokens": ("tokens per step", "velocity_tokens_per_op"),
    "holdfast_window_minutes_left": (
        "minutes until the compaction limit, where known",
        "minutes_left",
    ),
    "holdfast_checkpoint_seconds": ("when the last checkpoint was taken", "checkpoint_ms"),
}


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(db: Db) -> Response:
    """Windows heard of in the last half hour; writes since the server started."""
    from prometheus_client import CollectorRegistry, generate_latest

    windows = await db.read(lambda c: capacity.live(c, row_times.now_ms()))
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Windows(windows))
    registry.register(_Writes(db.store.write_health))
    return Response(generate_latest(registry), media_type=KIND)


class _Windows:
    def __init__(self, windows: list[Row]) -> None:
        self._windows = windows

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        for name, (meaning, field) in GAUGES.items():
            family = GaugeMetricFamily(name, meaning, labels=LABELS)
            for row in self._windows:
                held = row["health"] or {}
                value = held.get(field)
                if isinstance(value, int | float):
                    labels = [row["session_id"], row["agent_id"], held.get("zone") or "unknown"]
                    seconds = value / 1000 if field == "checkpoint_ms" else value
                    family.add_metric([*labels, held.get("alert") or ""], seconds)
            yield family


class _Writes:
    def __init__(self, health: WriteHealth) -> None:
        self._health = health

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        yield CounterMetricFamily(
            "holdfast_writes", "writes acknowledged", value=self._health.written
        )
        yield CounterMetricFamily(
            "holdfast_write_failures", "valid writes that failed", value=self._health.failed
        )
        yield GaugeMetricFamily(
            "holdfast_writes_degraded",
            "1 while a valid write failed in the last ten minutes, or none succeeded since",
            value=int(self._health.is_degraded(row_times.now_ms())),
        )
