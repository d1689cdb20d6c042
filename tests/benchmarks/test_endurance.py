"""The endurance session: its story is sound, and its scoring can fail."""

import pytest
from benchmarks.endurance.facts import Fact
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


def test_a_fact_is_known_only_where_all_its_keys_stand() -> None:
    fact = _a_fact("ring buffer at 512", "re:L2.{0,10}gateway")
    assert knows(plain("The Ring\n  buffer at 512: L2 of the gateway"), fact)
    assert not knows(plain("The ring buffer at 512 entries"), fact)
    assert not knows(plain("The ring buffer at 512: the L2 cache of that small gateway"), fact)


def test_an_item_listed_under_an_open_heading_is_shown_as_open() -> None:
    listed = "## Failed when last run\n- `go test ./berth`\n## Commands\n- `make lint` ok"
    assert open_line(_lines(listed), NAMES)
    assert not open_line(_lines(listed), ["make lint"])
