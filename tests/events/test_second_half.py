"""A long brief is printed by two hooks at the same time; the second one costs only itself."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.brief.compose import CONTINUES
from holdfast.brief.item import MOST_UNITS
from holdfast.budget.compartments import units
from holdfast.client import sample_payloads
from holdfast.text import fence
from tests.builders import a_boundary, a_prompt, a_summary
from tests.events.work import Work
from tests.hot.hooks import run, to_model, window

pytestmark = [pytest.mark.requirement("B2", "B6"), pytest.mark.slow]

RULES = [
    f"Harbour rule {n} says that pier {n} stays closed. {'Look at the gauge again. ' * 12}"
    for n in range(40)
]
SUMMARY = "The harbour was worked on."


@pytest.fixture
def work(tmp_path: Path) -> Work:
    """A session whose brief does not fit into one output."""
    made = Work(tmp_path)
    made.lines += [a_prompt(rule) for rule in RULES]
    made.round(60_000)
    return made


def payload(work: Work, source: str = "compact") -> bytes:
    sent = sample_payloads.make_payload(
        "SessionStart", session_id="s1", transcript=str(work.path), cwd=str(work.project)
    )
    return json.dumps({**sent, "source": source}).encode()


def second(work: Work, source: str = "compact", *, started: bool = False) -> str:
    found = run(payload(work, source), "second", environ=work.environ, started=started)
    assert (found.returncode, found.stderr) == (0, b"")
    return to_model(json.loads(found.stdout)) if found.stdout else ""


def compact(work: Work, *, with_second: bool = True) -> tuple[str, str, str]:
    """What both hooks of a compaction print, and what the next prompt tells."""
    work.hook("PreCompact", trigger="auto")
    first = to_model(work.hook("SessionStart", source="compact"))
    half = second(work) if with_second else ""
    work.hook("PostCompact", compact_summary=SUMMARY)
    work.lines += [a_boundary(pre=167_100), a_summary(SUMMARY)]
    work.round(20_000)
    return first, half, to_model(work.hook("UserPromptSubmit", prompt="go on"))


def piers(text: str) -> set[int]:
    return {n for n in range(len(RULES)) if f"pier {n} stays closed." in text}


def test_a_started_second_hook_prints_the_rest_of_a_long_brief(work: Work) -> None:
    work.hook("PreCompact", trigger="auto")
    half = second(work, started=True)
    assert half.startswith("<holdfast-brief ") and half.endswith(fence.closing())
    assert CONTINUES in half
    assert units(half) <= MOST_UNITS
    assert piers(half)


@pytest.mark.parametrize("source", ["startup", "resume", "clear"])
def test_it_is_silent_at_any_other_start(work: Work, source: str) -> None:
    assert second(work, source) == ""
    assert not (window() / "brief-2.txt").exists()


def test_both_hooks_at_the_same_time_give_the_whole_brief(work: Work) -> None:
    work.hook("PreCompact", trigger="auto")
    with ThreadPoolExecutor(2) as pool:
        both = [
            pool.submit(run, payload(work), *words, environ=work.environ)
            for words in ([], ["second"])
        ]
    printed = [one.result().stdout for one in both]
    first, half = (to_model(json.loads(text)) for text in printed)
    assert max(units(first), units(half)) <= MOST_UNITS
    assert piers(first) and piers(half)
    assert not piers(first) & piers(half)
    assert piers(first) | piers(half) == set(range(len(RULES)))


def test_what_either_half_holds_is_not_told_a_third_time(work: Work) -> None:
    first, half, later = compact(work)
    assert not piers(later) & (piers(first) | piers(half))


def test_without_the_second_hook_the_second_brief_tells_its_half(work: Work) -> None:
    """Also where the second hook of an earlier compaction left its half behind."""
    _, half, _ = compact(work)
    first, _, later = compact(work, with_second=False)
    assert (window() / "brief-2.txt").read_text().endswith(half)
    assert piers(half) - piers(first) <= piers(later)
