"""The endurance session: its story is sound, and its scoring can fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.endurance.facts import Fact, pools
from benchmarks.endurance.failures import command_of, failing_output
from benchmarks.endurance.installation import files_of
from benchmarks.endurance.long_session import differences
from benchmarks.endurance.measure import Result
from benchmarks.endurance.score import knows, lines_of, open_line, plain
from benchmarks.endurance.story import tell

SEEDS = (1, 2, 3)
WINDOWS = 10
NAMES = ("go test ./berth", "TestBerthLockTimesOut")


def _a_fact(*keys: str) -> Fact:
    return Fact("rule", 0, 1, keys, {})


def _lines(text: str) -> list[tuple[str, str]]:
    return list(lines_of(text))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_seed_tells_the_same_story_and_another_seed_another(seed: int) -> None:
    assert tell(seed, WINDOWS) == tell(seed, WINDOWS)
    assert tell(seed, WINDOWS).windows != tell(seed + 1, WINDOWS).windows


@pytest.mark.parametrize("seed", SEEDS)
def test_a_window_has_some_ten_facts_and_some_two_dozen_answers(seed: int) -> None:
    story = tell(seed, WINDOWS)
    assert 95 <= len(story.facts) <= 110
    answers = [sum(1 + len(turn.steps) for turn in window.turns) for window in story.windows]
    assert min(answers) >= 15
    assert max(answers) <= 36


def test_a_story_of_twenty_windows_has_something_in_flight_in_each_of_them() -> None:
    story = tell(1, 20, closed_by_hand={3, 7})
    flying = [fact.name for fact in story.facts if fact.pool == "in_flight"]
    assert len({*flying}) == 20
    by_hand = [number for number, one in enumerate(story.windows, 1) if one.is_closed_by_hand]
    assert by_hand == [3, 7]
    assert all(story.windows[number - 1].next_prompt for number in by_hand)


def test_a_file_that_only_one_home_holds_or_holds_otherwise_is_a_difference() -> None:
    ours = Result(1, "Holdfast", home={"a": "1", "b": "2", "c": "3"})
    assert differences(ours, Result(1, "client alone", home={"a": "1", "b": "9"})) == ["b", "c"]


def test_ids_times_and_counts_of_the_client_are_no_difference_and_words_are(tmp_path: Path) -> None:
    def held(name: str, value: dict[str, object]) -> dict[str, str]:
        home = tmp_path / name
        home.mkdir()
        (home / ".claude.json").write_text(json.dumps({**value, "path": str(home)}))
        return files_of(home, home)

    one = held("one", {"startups": 3, "at": "2026-11-17T02:57:41.013Z", "hooks": "a"})
    assert one == held("two", {"startups": 9, "at": "2026-11-18T05:00:00.000Z", "hooks": "a"})
    assert one != held("three", {"startups": 3, "at": "2026-11-17T02:57:41.013Z", "hooks": "b"})


def test_no_two_failures_share_a_command() -> None:
    commands = [command_of(about) for about in pools()["failure"]]
    assert len(set(commands)) == len(commands)


def test_a_failing_command_prints_what_identifies_it() -> None:
    for about in pools()["failure"]:
        printed = plain(f"{command_of(about)}\n{failing_output(about)}")
        assert knows(printed, _a_fact(*about["keys"])), about


def test_a_fact_is_known_only_where_all_its_keys_stand() -> None:
    fact = _a_fact("ring buffer at 512", "re:L2.{0,10}gateway")
    assert knows(plain("The Ring\n  buffer at 512: L2 of the gateway"), fact)
    assert not knows(plain("The ring buffer at 512 entries"), fact)
    assert not knows(plain("The ring buffer at 512: the L2 cache of that small gateway"), fact)


def test_an_item_listed_under_an_open_heading_is_shown_as_open() -> None:
    listed = "## Failed when last run\n- `go test ./berth`\n## Commands\n- `make lint` ok"
    assert open_line(_lines(listed), NAMES)
    assert not open_line(_lines(listed), ["make lint"])


def test_a_fixed_item_that_is_said_to_be_fixed_is_not_shown_as_open() -> None:
    fixed = "## Fixed\n- `go test ./berth` passes again; it had said: gate still open"
    assert not open_line(_lines(fixed), NAMES)
    assert not open_line(_lines("## Said earlier\n- “look at TestBerthLockTimesOut”"), NAMES)
