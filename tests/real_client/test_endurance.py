"""A short endurance session in the real client: the harness works, and its scoring can fail."""

from pathlib import Path
from typing import NamedTuple

import pytest
from benchmarks.endurance.long_session import differences
from benchmarks.endurance.measure import CLIENT_ALONE, WITH_HOLDFAST, Course, Result, measure
from benchmarks.endurance.session import Incidents

# Two sessions of two windows, some 50 answers each. The first window is closed by `/compact`. In
# the second one Holdfast is upgraded, then the client is killed and resumed.
COURSE = Course(2, frozenset((1,)), Incidents(crash=2, upgrade=2))
MOST_INJECTED = 4_000  # tokens: a brief, and once what the summary lost
pytestmark = [pytest.mark.real_client, pytest.mark.nightly, pytest.mark.timeout(600)]


class Played(NamedTuple):
    ours: Result
    alone: Result


@pytest.fixture(scope="session")
def played(binary: Path) -> Played:
    """One seed; whatever was not said as written, or said too early, raises."""
    sides = [WITH_HOLDFAST, CLIENT_ALONE]
    return Played(*measure(binary, [1], windows=COURSE, sides=sides, jobs=2))


def _kept(result: Result) -> int:
    return sum(seen.kept for seen in result.seen)


@pytest.mark.requirement("X1")
def test_the_hooks_pass_without_a_fault(played: Played) -> None:
    assert played.ours.faults == ()


@pytest.mark.requirement("X1", "U1")
def test_rules_and_work_are_kept_across_a_crash_and_an_upgrade(played: Played) -> None:
    assert played.ours.lives == 2
    kinds = ("rules", "corrections", "step in flight", "tasks", "plan steps", "open errors")
    lost = [one.fact.name for one in played.ours.seen if one.fact.kind in kinds and not one.kept]
    assert lost == []


@pytest.mark.requirement("B2")
def test_what_hooks_add_after_a_compaction_is_bounded(played: Played) -> None:
    assert len(played.ours.injected) == COURSE.windows
    assert 0 < max(played.ours.injected) <= MOST_INJECTED


@pytest.mark.requirement("U1")
def test_after_uninstall_the_home_is_that_of_the_client_alone(played: Played) -> None:
    assert ".claude/settings.json" in played.ours.home
    assert differences(played.ours, played.alone) == []


def test_the_client_alone_loses_every_rule_and_every_request_in_flight(played: Played) -> None:
    kinds = ("rules", "corrections", "step in flight")
    said = [seen for seen in played.alone.seen if seen.fact.kind in kinds]
    assert {seen.fact.kind for seen in said} == set(kinds)
    assert not any(seen.kept for seen in said)
