"""The prompt of a session that `holdfast run` started: which of its words are the user's.

`run.prompt` writes it around the tasks of a plan, and `plan.past` reads sizes from it. The frame is
ours, so nobody said it; titles, descriptions, files and steps come from the plan.
"""

import re
from collections.abc import Iterator

from holdfast.record.user_input import RUN_BEGINS

_HEAD = re.compile(rf"{RUN_BEGINS}\d+ of \d+ of (?:a plan|the plan \")")
_NAMED = re.compile(r'[^"\n]* of the plan "(.*)"\.$', re.MULTILINE)
# An id has no brackets: otherwise a line of brackets would be searched once for each of them.
TASK = re.compile(r"^## (\d+\. |Task \d+: |Task (?=\d+[.)] ))(.+?)  \[[^][\n]+\]$", re.MULTILINE)
OWN_NUMBER = re.compile(r"^\d+[.)] ")
TERMS = '\n## What "done" means\n'
STEP_OF = "This is one step of a larger task,"
OTHER_STEPS = "Its other steps are tasks of their own."
PLAN_SAYS = "Of all of it the plan says:"
STANDS_BELOW = "In the plan it stands below:"
RULES = "What the plan says besides its tasks (a rule in it applies to every task):"
OUTLINE = "All tasks of the plan, for orientation. Other sessions do the rest:"
SETTLED = "It is settled, and the plan says of"
QUOTE = "> "
OTHER_FILES = " (the other files of this task are another session's)"
_STEP = re.compile(
    rf'^{re.escape(STEP_OF)} "(.*)"\. {re.escape(OTHER_STEPS)}$\n?(?:{re.escape(PLAN_SAYS)}\n\n)?',
    re.MULTILINE,
)


def is_of_a_run(prompt: str) -> bool:
    return bool(_HEAD.match(prompt)) and TERMS in prompt


def split_tasks(prompt: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the text before the tasks, and each task's title with its description."""
    head, tasks = _split_numbered(prompt)
    return head, [(title, body) for _, title, body in tasks]


def _split_numbered(prompt: str) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the same with each task's number in the plan; it is empty if the title has one."""
    head, *rest = TASK.split(prompt.partition(TERMS)[0])
    numbers = ["".join(filter(str.isdigit, one)) for one in rest[::3]]
    return head, list(zip(numbers, rest[1::3], rest[2::3], strict=True))


def heading(number: int, title: str) -> str:
    """Return the heading of a task with its number in the plan, because rules and other tasks may
    refer to it by number. A title with its own number gets no second one."""
    return f"Task {title}" if OWN_NUMBER.match(title) else f"Task {number}: {title}"


def list_tasks(prompt: str) -> list[tuple[str, str]]:
    """Return each task's title after its number in the plan, with its description."""
    return [
        (f"{number}. {title}" if number else title, body)
        for number, title, body in _split_numbered(prompt)[1]
    ]


def extract_request(prompt: str) -> str:
    """Return what the plan asks for, titles first; empty if this is no prompt of a run."""
    if not is_of_a_run(prompt):
        return ""
    head, tasks = split_tasks(prompt)
    return "\n".join(_lines(head, tasks, [title for title, _ in list_tasks(prompt)])).strip()


def _lines(head: str, tasks: list[tuple[str, str]], numbered: list[str]) -> Iterator[str]:
    if len(tasks) > 1:
        yield from numbered
    for title, body in tasks:
        said = _STEP.sub(r"Part of: \1\n", body)
        said = said.replace(OTHER_FILES, "").strip()
        if len(tasks) == 1:
            yield numbered[0].removeprefix("1. ")
        elif said:
            yield f"\n{title}:"
        if said:
            yield said
    if named := _NAMED.match(head):
        yield f"\nPlan: {named[1]}"
    for line in head.partition(f"{RULES}\n")[2].splitlines():
        if not line.startswith(QUOTE.strip()):
            break
        yield line.removeprefix(QUOTE.strip()).removeprefix(" ")
