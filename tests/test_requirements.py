"""Each promise has a test that names it, and no test names a promise that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

from tests.requirements import LATER, REQUIREMENTS

TESTS = Path(__file__).parent
CITED = re.compile(r"mark\.requirement\(([^)]*)\)")


def _cited() -> set[str]:
    found: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        for arguments in CITED.findall(path.read_text(encoding="utf-8")):
            found |= set(re.findall(r"[A-Z]\d+", arguments))
    return found


def test_every_promise_has_a_test() -> None:
    later = {one for ids in LATER.values() for one in ids}
    assert not set(REQUIREMENTS) - later - _cited()


def test_no_test_cites_a_promise_that_does_not_exist() -> None:
    assert not _cited() - set(REQUIREMENTS)


def test_what_comes_later_is_listed_once_and_exists() -> None:
    later = [one for ids in LATER.values() for one in ids]
    assert len(later) == len(set(later))
    assert set(later) <= set(REQUIREMENTS)
