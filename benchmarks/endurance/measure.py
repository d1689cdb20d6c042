"""The sessions of one seed: with Holdfast and without, with poor summaries."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.endurance import score
from benchmarks.endurance.codex_session import NOT_HEADLESS, run_codex
from benchmarks.endurance.facts import HERE
from benchmarks.endurance.score import Seen, Shown
from benchmarks.endurance.session import NOTHING, Incidents, Ran, run_session
from benchmarks.endurance.story import Story, tell

WITH_HOLDFAST, CLIENT_ALONE = "Holdfast", "client alone"
SIDES = (WITH_HOLDFAST, CLIENT_ALONE)


@dataclass(frozen=True)
class Result:
    """What one session showed."""

    seed: int
    side: str
    seen: tuple[Seen, ...] = ()
    shown: tuple[Shown, ...] = ()
    seconds: float = 0.0
    faults: tuple[str, ...] = ()
    injected: tuple[int, ...] = ()  # tokens, by compaction
    steps: int = 0  # of the main session
    agent_steps: int = 0
    checkpoints: int = 0
    lives: int = 1
    home: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Course:
    """How a session goes: its windows, which of them the user closes, and what else happens."""

    windows: int
    closed_by_hand: frozenset[int] = frozenset()
    incidents: Incidents = NOTHING
    facts: Path = HERE  # the folder of said.toml and happened.toml
    is_codex: bool = False  # in the real Codex, without what it cannot do headless


def long_course(windows: int) -> Course:
    """Every fourth compaction by hand, a crash before the middle and an upgrade after it."""
    by_hand = frozenset(range(3, windows + 1, 4))
    return Course(windows, by_hand, Incidents(max(2, windows * 2 // 5), max(2, windows * 13 // 20)))


def measure(
    binary: Path,
    seeds: Sequence[int],
    *,
    windows: int | Course,
    sides: Sequence[str] = SIDES,
    keep: Path | None = None,
    jobs: int = 1,
) -> list[Result]:
    """All sessions asked for; raises SessionFailed if one leaves its story."""

    course = Course(windows) if isinstance(windows, int) else windows

    def one(seed: int, side: str) -> Result:
        return _session(binary, seed, side, course, keep)

    wanted = [(seed, side) for seed in seeds for side in sides]
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        playing = [pool.submit(one, *words) for words in wanted]
        try:
            return [session.result() for session in playing]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # the others would take minutes
            raise


def _session(binary: Path, seed: int, side: str, course: Course, keep: Path | None) -> Result:
    without = NOT_HEADLESS if course.is_codex else ()
    story = tell(seed, course.windows, course.closed_by_hand, course.facts, without)
    with tempfile.TemporaryDirectory(
        prefix="holdfast-endurance-", ignore_cleanup_errors=True
    ) as folder:
        played = binary, Path(folder), story
        is_ours = side == WITH_HOLDFAST
        ran = (
            run_codex(*played, with_holdfast=is_ours)
            if course.is_codex
            else run_session(*played, with_holdfast=is_ours, incidents=course.incidents)
        )
    result = _scored(seed, side, story, ran)
    if keep is not None:
        _keep(keep / f"seed-{seed}-{side.replace(' ', '-')}", story, ran, result)
    return result


def _scored(seed: int, side: str, story: Story, ran: Ran) -> Result:
    score.check_planted(story, ran)
    return Result(
        *(seed, side),
        seen=tuple(score.kept(story, ran)),
        shown=tuple(score.shown_open(story, ran)),
        seconds=ran.seconds,
        faults=ran.faults,
        injected=tuple(score.injected_tokens(story, ran)),
        steps=sum(request.kind == "main" for request in ran.requests),
        agent_steps=sum(request.kind == "agent" for request in ran.requests),
        checkpoints=ran.checkpoints,
        lives=ran.lives,
        home=ran.home,
    )


def _keep(folder: Path, story: Story, ran: Ran, result: Result) -> None:
    """Every request without the tools' definitions, what was scored as text, and the verdicts."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, request in enumerate(ran.requests):
        body = {name: value for name, value in request.body.items() if name != "tools"}
        text = json.dumps(body, ensure_ascii=False, indent=1)
        (folder / f"{number:03d}-{request.kind}.json").write_text(text)
    for compaction in range(1, len(story.windows) + 1):
        last = score.scored_requests(story, ran, compaction)[-1]
        (folder / f"after-{compaction:02d}.txt").write_text("\n".join(score.given(last)))
    (folder / "verdicts.txt").write_text("\n".join(verdicts(result)) + "\n")


def verdicts(result: Result) -> Iterator[str]:
    """One line for each miss and each false open item."""
    for seen in result.seen:
        if not seen.kept:
            keys = ", ".join(seen.fact.keys)
            yield f"LOST after {seen.compaction}, age {seen.age}: {seen.fact.name}: {keys}"
    for shown in result.shown:
        if shown.line:
            yield f"FALSELY OPEN after {shown.compaction}: {shown.fact.name}: {shown.line}"
