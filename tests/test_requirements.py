"""Each promise has a test that names it, and no test names a promise that does not exist."""

from pathlib import Path

from tests.marks import marked_tests
from tests.requirements import LATER, REQUIREMENTS

TESTS = Path(__file__).parent
FOUND = [test for path in TESTS.rglob("test_*.py") for test in marked_tests(path)]


def test_every_promise_has_a_test_that_make_test_runs() -> None:
    later = {one for ids in LATER.values() for one in ids}
    proven = {promise for test in FOUND if not test.is_nightly for promise in test.promises}
    assert not set(REQUIREMENTS) - later - proven


def test_no_test_cites_a_promise_that_does_not_exist() -> None:
    assert not {promise for test in FOUND for promise in test.promises} - set(REQUIREMENTS)


def test_what_comes_later_is_listed_once_and_exists() -> None:
    later = [one for ids in LATER.values() for one in ids]
    assert len(later) == len(set(later))
    assert set(later) <= set(REQUIREMENTS)
