"""Ten compactions in one session, through the real hook processes: nobody has to step in."""

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from holdfast.checkpoint.verify import verify
from holdfast.window import audit
from holdfast.wire import log, spool
from tests.events.work import REQUEST, RULE, Work
from tests.hot.hooks import to_model, window

CYCLES = 10
USED = range(24_000, 166_001, 4_500)  # tokens, of a window whose edge is 167,000
ADVICE = re.compile(r"^Holdfast: context window .* to compaction[^.]*\. (.+)$", re.M)


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.requirement("B4", "C10", "W8", "X6")
def test_ten_compactions_need_no_intervention(tmp_path: Path) -> None:
    work, said, sizes = Work(tmp_path), Counter[tuple[int, str]](), []
    for cycle in range(CYCLES):
        for used in USED:
            work.round(used, f"make part-{cycle}-{used}")
            told = to_model(work.hook("PostToolUse", tool_use_id=f"t{work.count}"))
            said.update((cycle, advice) for advice in ADVICE.findall(told))
        work.hook("Stop")
        steered, given = work.compact(f"Part {cycle} was done.")
        assert RULE in steered and RULE in given and REQUEST in given and len(given) <= 10_000
        sizes.append(sum(path.stat().st_size for path in _ours()))
    work.hook("SessionEnd")
    logged = Path(log.path()).read_text()
    assert [line for line in logged.splitlines() if re.search(" ERROR | WARN ", line)] == []
    assert logged.count("compaction (auto)") == CYCLES
    assert {cycle for cycle, _ in said} == set(range(CYCLES)), "each window fills, and says so"
    assert max(said.values()) == 1, said.most_common(3)
    assert Counter(event["level"] for event in audit.events())["advisory"] == CYCLES
    _every_checkpoint_verifies(work.checkpoints)
    _files_stay_bounded(sizes, work)


def _every_checkpoint_verifies(found: list[Path]) -> None:
    """Three or four by the guard in each window; pruning keeps fifty."""
    assert 2 * CYCLES <= len(found) <= 50
    assert all(verify(str(path)).ok for path in found)
    texts = [path.read_text() for path in found]
    iterations = [int(text.partition("iteration: ")[2].split()[0]) for text in texts]
    assert sorted(iterations) == list(range(1, len(found) + 1)), "one lineage, without a gap"


def _files_stay_bounded(sizes: list[int], work: Work) -> None:
    """From the middle on, no window costs more than the last."""
    files = _ours()
    assert [path.name for path in files if "draft" in path.name] == []
    assert len(files) <= len(work.checkpoints) + 24
    middle = len(sizes) // 2
    assert sizes[-1] - sizes[-2] <= 1.5 * (sizes[middle] - sizes[middle - 1]), sizes
    lines = spool.lines(str(window()))
    assert (window() / "spool").stat().st_size < 100 * len(lines) + 1_000
    assert (window() / "record.json").stat().st_size < 500_000


def _ours() -> list[Path]:
    return [path for path in Path(os.environ["HOLDFAST_HOME"]).rglob("*") if path.is_file()]
