"""A rule ends when the user takes it back, in whatever words, and by no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.checkpoint.sections import sections_of
from tests.checkpoint.sessions import Session

pytestmark = pytest.mark.requirement("C2", "B4")
REQUEST = "Please rework the gauge module so that all the tests pass again."


def holds(rule: str, said: str, folder: Path) -> bool:
    session = Session().user(rule).says("Understood.").user(REQUEST).says("ok").user(said)
    return rule in [one.text for one in session.says("ok").facts(folder).rules]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            "Never push to main without my approval.",
            "Don't forget that we must never push to main.",
        ),
        ("Never push to main without my approval.", "Don't forget the changelog entry please."),
        ("Never push to main.", "You can now continue with that rework of the module."),
        ("Never push to main.", "You may push to the feature branch now."),
        ("Never push to main.", "You can push to main just this once."),
        ("Always run the linter before a commit.", "Never mind the warning."),
        ("Always run the linter before a commit.", "Nevermind."),
        ("Never run the integration tests.", "You can run the tests now."),
        ("Never edit the generated files in gen/.", "It's fine to see that error, carry on."),
        ("Never commit secrets.", "Please do not ignore that."),
        ("Never drop a table.", "Drop that column from the report."),
        ("Do not touch the old API.", "The API doesn't apply the discount, look into that bug."),
        ("Always answer in German.", "Lift the limit in config.yaml to 500 and rerun it."),
        ("Do not use mocks.", 'It printed "you can use mocks now", why is that so odd?'),
        (
            "Do not use mocks in the tests.",
            "Here is the log: user cancelled; the cache entry is no longer required so it went.",
        ),
        ("Never use floats for heights.", "Forget about the northern harbour, take the next."),
    ],
)
def test_it_holds_after_words_that_take_nothing_back(rule: str, said: str, tmp_path: Path) -> None:
    assert holds(rule, said, tmp_path)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Never push to main without my approval.", "You may push to main now."),
        ("Never push to main.", "OK, go ahead and push to main from now on."),
        ("Always run the linter before a commit.", "Stop running the linter before commits."),
        ("Always run the linter before a commit.", "You don't need to run the linter anymore."),
        ("Always use tabs for indentation.", "Use spaces instead of tabs from now on."),
        (
            "Use Postgres for the storage layer, not MySQL.",
            "Actually, use SQLite instead of Postgres.",
        ),
        ("Do not use external libraries.", "External libraries are ok now."),
        ("Always answer in German.", "Please answer in English again."),
        ("Always answer in German.", "Forget the rule about answering in German."),
        ("Never use mocks.", "I changed my mind: mocks are fine."),
        ("Never run the integration tests.", "Go ahead and run the integration tests from now on."),
        ("Never use the staging database.", "The staging database is allowed again."),
        ("Never use the staging database.", "Please drop the rule about the staging database."),
        ("Benutze nie die alte Datenbank.", "Du darfst die alte Datenbank wieder benutzen."),
    ],
)
def test_it_ends_when_it_is_taken_back(rule: str, said: str, tmp_path: Path) -> None:
    assert not holds(rule, said, tmp_path)


def test_forget_that_is_said_of_what_came_just_before(tmp_path: Path) -> None:
    session = Session().user("Always write docstrings.").works(1).user("Never use tabs.").works(1)
    facts = session.user("Forget that.").facts(tmp_path)
    assert [rule.text for rule in facts.rules] == ["Always write docstrings."]


def test_what_comes_with_a_revocation_is_a_rule(tmp_path: Path) -> None:
    session = Session().user("Never use the staging database.").works(1)
    session.user("Forget the rule about staging, always use the local database.")
    [rule] = session.facts(tmp_path).rules
    assert rule.text == "Forget the rule about staging, always use the local database."


def test_a_rule_taken_back_stands_nowhere_unmarked(tmp_path: Path) -> None:
    session = Session().user("Never push to main.").works(1).user("You may push to main now.")
    found = sections_of(session.works(1).facts(tmp_path))
    told = [item for items in found.values() for item in items if "Never push to main." in item]
    assert told
    assert all("Never push to main. (taken back since)" in item for item in told)


def test_said_again_it_holds_again(tmp_path: Path) -> None:
    session = Session().user("Never push to main.").works(1).user("You may push to main now.")
    facts = session.works(1).user("Never push to main.").facts(tmp_path)
    assert ([rule.text for rule in facts.rules], facts.revoked) == (["Never push to main."], [])
