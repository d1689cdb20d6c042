"""Which tasks of a plan commit, or let a session believe that it should."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.plan.kinds import COMMIT, find_kind
from holdfast.plan.task import PlanTask
from holdfast.text.numbers import listed, named, short

MOST_NAMED = 3
MOST_TITLE_CHARS = 60
EVERY_COMMIT = (
    "a session commits only where its own task says so: for a commit after each task,"
    ' write "commit after each task" above the list'
)
_AND_COMMIT = re.compile(r"(?:,|\band\b|\bthen\b)\s+(?:commit|push)\b[^,.]{0,20}\W*$")
_SPEAKS_OF_COMMIT = re.compile(
    r"(?<!\bthe )(?<!\bfirst )(?<!\blast )(?<!\bof )(?<!\bprevious )"
    r"\b(?:commit(?:s|ted|ting)?|squash\w*|tag(?:ged)? v?\d|push(?:ed)?)\b(?![-/]| nothing)"
)
_DENIED = re.compile(r"(?:\b(?:not|never|no|nothing|without)|n['\u2019]t)\s+(?:\w+\s+){0,2}$")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n[ \t]*(?:[-*+>][ \t]+)*")
_CODE = re.compile(r"`[^`\n]*`|\b\w+(?:\.\w+)+\b")  # `stack.push` is no push
_COMMIT_EACH = re.compile(
    r"\bcommits? (?:per|for each|for every|after each|after every) \w+|\bsquash"
)


def asks_for_a_commit(words: str) -> bool:
    """Whether a task is a commit, or its title ends with one: `Update the page and commit`."""
    title = words.partition("\n")[0]
    return find_kind(words) == COMMIT or _AND_COMMIT.search(title.lower()) is not None


def mentions_a_commit(words: str) -> bool:
    """Whether a session may take these words as a wish for a commit, a tag or a push."""
    said = _CODE.sub(" ", words).lower()
    return any(
        not _DENIED.search(said, 0, found.start()) for found in _SPEAKS_OF_COMMIT.finditer(said)
    )


def wants_commits_of_others(words: str) -> bool:
    """Whether a task speaks of the commits of all: `one commit per step`."""
    return _COMMIT_EACH.search(words.lower()) is not None


def say_who_commits(tasks: Sequence[PlanTask], text: str) -> str:
    """Where the sessions of a run will commit. `text`: what the plan says besides its tasks."""
    sentences = [one for one in _SENTENCE_END.split(text) if mentions_a_commit(one)]
    titles = [task.title for task in tasks if mentions_a_commit(task.words)]
    said = listed([_quote(one) for one in sentences], MOST_NAMED)
    commits = listed([_quote(one) for one in titles], MOST_NAMED)
    if sentences:
        return f"as the plan says: {said}" + (f"; also in {commits}" if commits else "")
    if not commits:
        return "none, because neither the plan's text nor a task asks for one"
    found = f"only in the tasks that name one: {commits}"
    if len(tasks) > 1 and any(wants_commits_of_others(task.words) for task in tasks):
        return f"{found}\n        {EVERY_COMMIT}"
    return found


def _quote(words: str) -> str:
    return f'"{short(named(words), MOST_TITLE_CHARS)}"'
