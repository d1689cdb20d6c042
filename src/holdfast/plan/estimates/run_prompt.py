"""The prompt of a session that `holdfast run` started, read back: what each task was called by.

`run.prompt` writes it, and `record.run_prompt` knows its shape; here is only what
estimates need of it. Whoever types such a prompt himself is taken at his word: nothing but numbers
come of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.record.run_prompt import STEP_OF, is_of_a_run, parted

__all__ = ["Given", "is_of_a_run", "names_not_done", "tasks"]

# As `run.supervisor` has it, a file that imports nothing of ours: a test holds them equal.
_NOT_DONE = re.compile(r"NOT DONE\b|[Nn]ot [Dd]one(?=[*_`]*:)")
_NAME = re.compile(r"[\W_]{0,20}([^\n:]*)")
_BEFORE_IT = re.compile(r"[\W_]*(?:\w{1,3}[.)][\W_]*)?")
_MOST_BEFORE = 40
_NAMES_NOTHING = re.compile(
    r"(?:tasks?\W+)?(?:none|nothing|nil|n/a|no(?: \w+)? tasks?)(?: (?:left|remaining|open))?"
    r"(?:[\W_]*$|\s+[^\w\s]|[],;!)|]|\.\s)",
    re.IGNORECASE | re.MULTILINE,
)
_AGAIN = "A session before you began this same work"
_PART = re.compile(r" \(part \d+ of \d+\)$")
_FILES = re.compile(
    r"^Files: (.+?)(?: and ([\d,]+) more)?(?: \(([\d,]+) in all\))?(?: \(the other files of .*)?$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Given:
    """One task as a plan has it: its words, and how many files it lists; None: it lists none."""

    words: str
    files: int | None


def names_not_done(answer: str) -> bool:
    """Whether a session says that it left something undone."""
    end = 0
    for one in _NOT_DONE.finditer(answer):
        at = one.start()
        start = answer.rfind("\n", max(0, at - _MOST_BEFORE - 1), at) + 1
        sets_off = at - start <= _MOST_BEFORE and _BEFORE_IT.fullmatch(answer, start, at)
        name = _NAME.match(answer, one.end())
        if at < end or not sets_off or name is None:
            continue
        if not _NAMES_NOTHING.match(answer, name.start(1)):
            return True
        end = name.end()
    return False


def tasks(prompt: str) -> list[Given]:
    """Of a prompt that is of a run; none where another session had begun the same work, for what
    was left of it tells nothing of the whole."""
    head, told = parted(prompt)
    if _AGAIN in head:
        return []
    return [_given(title, body) for title, body in told]


def _given(title: str, body: str) -> Given:
    body = body.partition(f"\n{STEP_OF} ")[0]  # what holds for all steps is not this one's size
    listed = _FILES.search(body)
    words = _PART.sub("", title)
    described = _without_steps(body[: listed.start()] if listed else body)
    return Given(f"{words}\n{described}" if described else words, _count(listed))


def _without_steps(body: str) -> str:
    lines = body.strip("\n").split("\n")
    while lines and lines[-1].startswith("- "):
        lines.pop()
    return "\n".join(lines).strip("\n")


def _count(listed: re.Match[str] | None) -> int | None:
    if listed is None:
        return None
    if listed[3]:
        return _number(listed[3])
    return listed[1].count(", ") + 1 + _number(listed[2] or "0")


def _number(digits: str) -> int:
    return int(digits.replace(",", "") or "0")
