"""`holdfast replay`: what Holdfast would have done in any past session; nothing to install."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from holdfast.brief.summary_coverage import count_messages
from holdfast.cli import sessions, terminal
from holdfast.cli.brief import KINDS, in_kinds
from holdfast.cli.options import AS_JSON, of_session
from holdfast.cli.terminal import ALERT_PAINT, paint, print_json, say, working
from holdfast.client import claude_folder, limit_settings
from holdfast.client.agents import session_of
from holdfast.session import summary_report
from holdfast.session.summary_report import NO_ROOM, SummaryReport, summary_reports
from holdfast.settings import load as settings_load
from holdfast.text.numbers import counted, short
from holdfast.window.replay import Point, Raised, Replay, Replayer
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

SHOWN_ITEMS, WORDS_CHARS = 3, 160
TEXT_COLUMN = 16  # right of step and fill


@click.command()
@of_session
@AS_JSON
def replay(session: str, as_json: bool) -> None:
    """Show what Holdfast would have done in a past session.

    SESSION is an id, its first characters, or a transcript file; without it, the newest session of
    this folder is replayed, else the newest of all. Works without `holdfast install`.
    """
    path = Path(sessions.choose(session, quiet=True).state.transcript)
    replayed, counts = play(path)
    if not replayed.points:
        raise HoldfastError(f"{path} holds no answer of a model", sessions.NoSuchTranscript.hint)
    reports = _reports(path, replayed)
    if as_json:
        return print_json(_plain(replayed, counts, reports))
    if not session:
        say(f"The transcript: {inert(str(path), 4096)}", err=True)
    _show(replayed, counts, reports)
    if not replayed.compactions:
        other = sessions.newest_compacted(path)
        hint = f" The newest that was: holdfast replay {session_of(other)[:8]}" if other else ""
        say(f"This session was not compacted.{hint}", err=True)


def _reports(path: Path, replayed: Replay) -> list[SummaryReport | None]:
    """Return for each compaction what its summary holds; None if no summary followed it."""
    if not replayed.compactions:
        return []
    with working("comparing"):
        by_offset = list(summary_reports(path, sidechain=path.parent.name == "subagents"))
    starts = [hit.offset for hit in replayed.compactions]
    ends = [*starts[1:], sys.maxsize]
    return [
        next((report for at, report in by_offset if start <= at < end), None)
        for start, end in zip(starts, ends, strict=True)
    ]


def play(transcript: Path) -> tuple[Replay, dict[str, int]]:
    """Run the whole file through the guard."""
    project = claude_folder.project_of(transcript)
    player = Replayer(
        settings_load.load(project), limit_settings.read(project, transcript=str(transcript))
    )
    size = transcript.stat().st_size  # in a gzip file, its text is several times as long
    with working("reading") as tell:
        counts = player.read(
            transcript,
            sidechain=transcript.parent.name == "subagents",
            tell=lambda done: tell("reading", min(done, size), size),
        )
    return player.replay, counts


def _plain(
    replayed: Replay, counts: dict[str, int], reports: Sequence[SummaryReport | None]
) -> dict[str, Any]:
    errors = [c.error_ratio for c in replayed.compactions if c.error_ratio is not None]
    heard = {"is_delivered": "heard"}  # its name in JSON
    return {
        "session_id": replayed.session_id,
        "model": replayed.model or None,
        "client_version": replayed.client_version or None,
        "operations": len(replayed.points),
        "window_tokens": replayed.edge.window_tokens if replayed.edge else None,
        "edge_tokens": replayed.edge.edge_tokens if replayed.edge else None,
        "readings": [asdict(point) for point in replayed.points],
        "alerts": [
            {heard.get(name, name): value for name, value in asdict(alert).items()}
            for alert in replayed.raised
        ],
        "compactions": [
            {
                **asdict(hit),
                "error_ratio": hit.error_ratio,
                "warned_steps_ahead": max(_count_steps_ahead(replayed, at).values(), default=None),
                **_plain_report(report),
            }
            for at, (hit, report) in enumerate(zip(replayed.compactions, reports, strict=True))
        ],
        "checkpoints": [
            {"index": alert.index, "trigger": alert.checkpoint}
            for alert in replayed.raised
            if alert.checkpoint
        ],
        "median_error_ratio": sorted(errors)[len(errors) // 2] if errors else None,
        "lines": counts,
    }


def _plain_report(report: SummaryReport | None) -> dict[str, Any]:
    if report is None:
        return {"items": None, "not_found": None, "restored": None, "not_restored": None}
    rows = {
        name: [summary_report.plain(item) for item in getattr(report, name)]
        for name in ("not_found", "restored", "not_restored")
    }
    sizes = {"items": len(report.items), "brief_tokens": sum(report.brief_sizes)}
    return {**sizes, **rows, "messages": count_messages(item.kind for item in report.items)}


def _show(
    replayed: Replay, counts: dict[str, int], reports: Sequence[SummaryReport | None]
) -> None:
    limit = f"{replayed.edge.edge_tokens:,} tokens" if replayed.edge else "unknown"
    steps = counted(len(replayed.points), "step")
    about = f"{inert(replayed.model)}, {steps}, compaction limit {limit}"
    say(f"{paint(inert(replayed.session_id[:8]) or 'session', 'bold')}  {about}")
    print("\n".join(columns(replayed, max(20, (terminal.columns() or 80) - 8))))
    if replayed.compactions:
        say(paint("      ▲ compaction", "cyan"))
    say(paint(f"{'step':>6}  {'full':>6}  what Holdfast would have done", "dim"))
    for line in _events(replayed, reports):
        say(line, hang=max(2, TEXT_COLUMN - len(line) + len(line.lstrip(" "))))
    names = {"understood": "used", "left_alone": "not needed"}
    parts = (f"{count:,} {names.get(name, name)}" for name, count in counts.items() if count)
    say(paint(f"transcript: {', '.join(parts)}".replace("_", " "), "dim"))


def _events(replayed: Replay, reports: Sequence[SummaryReport | None]) -> Iterator[str]:
    """Return all events in order; a compaction comes after what its last step raised."""
    raised = [(alert.index, 0, at) for at, alert in enumerate(replayed.raised)]
    hits = [(hit.index, 1, at) for at, hit in enumerate(replayed.compactions)]
    # The window proved larger, or the model changed: from here shares are of another limit.
    pairs = pairwise(replayed.points)
    changes = [(b.index, -1, b.index) for a, b in pairs if a.edge_tokens != b.edge_tokens]
    for _, kind, at in sorted(changes + raised + hits):
        if kind < 0:
            before, after = replayed.points[at - 1 : at + 1]
            words = f"compaction limit {after.edge_tokens:,} tokens; {before.edge_tokens:,} before"
            yield f"{at + 1:>6}  {'':>6}  {paint(words, 'cyan')}"
        elif not kind:
            yield _raised(replayed.raised[at])
        else:
            yield from _compaction(replayed, at, reports[at])


def _raised(alert: Raised) -> str:
    levels = [alert.zone and f"zone {alert.zone}", alert.alert and f"alert {alert.alert}"]
    too_late = "past the limit, so nobody is told" if alert.used_ratio >= 1 else "logged only"
    outcome = "told to model and user" if alert.is_delivered else too_late
    outcome += "; checkpoint saved" if alert.checkpoint else ""
    colour = ALERT_PAINT.get(alert.alert or "") or alert.zone or "dim"
    what = paint(", ".join(filter(None, levels)), colour)
    return f"{alert.index + 1:>6}  {alert.used_ratio:>6.1%}  {what}: {outcome}"


def _compaction(replayed: Replay, at: int, report: SummaryReport | None) -> Iterator[str]:
    hit = replayed.compactions[at]
    head = paint(f"compaction {at + 1} ({inert(hit.trigger)})", "bold", "cyan")
    words = f"Holdfast read {hit.read_tokens:,} tokens; Claude Code stated no count"
    if hit.error_ratio is not None:
        words = f"Claude Code counted {hit.pre_tokens:,} tokens; Holdfast read {hit.read_tokens:,}"
        words += f" ({hit.error_ratio:.2%} apart)"
    yield f"{hit.index + 1:>6}  {'':>6}  {head}: {words}"
    indent = " " * TEXT_COLUMN
    ahead = {level: steps for level, steps in _count_steps_ahead(replayed, at).items() if steps}
    levels = ", ".join(f"{level} {steps:,}" for level, steps in ahead.items())
    warned = f"warned {counted(max(ahead.values(), default=0), 'step')} ahead: {levels}"
    yield f"{indent}{warned if ahead else 'no warning before it'}"
    if report is None:
        yield f"{indent}no summary of it is in the transcript"
        return
    yield from (f"{indent}{line}" for line in _measured(report))


def _count_steps_ahead(replayed: Replay, at: int) -> dict[str, int]:
    """Return how many steps before a compaction the model and the user first read of each level."""
    end = replayed.compactions[at].index
    begin = replayed.compactions[at - 1].index if at else -1
    ahead: dict[str, int] = {}
    for alert in replayed.raised:
        if alert.is_delivered and begin < alert.index <= end:
            ahead.setdefault(alert.alert or alert.zone or "", end - alert.index)
    return ahead


def _measured(report: SummaryReport) -> Iterator[str]:
    if not report.not_found:
        yield f"all {counted(len(report.items), 'item')} found in the summary"
        return
    yield paint(f"not found in the summary: {in_kinds(report.not_found, report.items)}", "yellow")
    for item in report.not_found[:SHOWN_ITEMS]:
        text = short(inert(" ".join(item.item.text.split())), WORDS_CHARS)
        yield f"  - {KINDS[item.kind]}: {text}"
    if (more := len(report.not_found) - SHOWN_ITEMS) > 0:
        yield f"  … {more:,} more: --json has all; `holdfast lost` shows the last compaction's"
    restored = in_kinds(report.restored) or "none of it"
    restored = "all of it" if report.restored == report.not_found else restored
    missing = in_kinds(report.not_restored)
    why = f"; {NO_ROOM.removesuffix(' it')} {missing}" if missing else ""
    size = " + ".join(f"{tokens:,}" for tokens in report.brief_sizes)
    yield paint(f"Holdfast restores {restored}", "green") + f", in {size} tokens{why}"


BLOCKS = " ▁▂▃▄▅▆▇█"


def columns(replay: Replay, width: int = 78, height: int = 10) -> list[str]:
    """The fullest reading of each slice of steps, the compaction limit at the top."""
    points = replay.points
    count = min(width, len(points))
    bounds = [round(at * len(points) / count) for at in range(count + 1)]
    slices = [points[start:end] for start, end in pairwise(bounds)]
    tops = [max(points, key=_ratio) for points in slices]
    rows = [
        paint(f"{row * 100 // height:>4}% ", "dim")
        + "".join(paint(_block(_ratio(top) * height - row + 1), top.zone) for top in tops)
        for row in range(height, 0, -1)
    ]
    compacted = {compaction.index for compaction in replay.compactions}
    marks = (any(point.index in compacted for point in points) for points in slices)
    foot = (paint("▲", "bold", "cyan") if mark else paint("─", "dim") for mark in marks)
    return [*rows, f"      {''.join(foot)}"]


def _block(share: float) -> str:
    return BLOCKS[min(8, max(0, round(share * 8)))]


def _ratio(point: Point) -> float:
    return point.used_tokens / point.edge_tokens if point.edge_tokens else 0.0
