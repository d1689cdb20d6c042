"""The prompt of a session that `holdfast run` started: which of its words are the user's.

`run.prompt` writes it around the tasks of a plan, `plan.estimates.past_runs` reads sizes from it.
The frame is ours, and nobody said it; titles, descriptions, files and steps are the plan's.
"""

import re
from collections.abc import Iterator

from holdfast.record.user_input import RUN_BEGINS

_HEAD = re.compile(rf"{RUN_BEGINS}\d+ of \d+ of (?:a plan|the plan \")")
_NAMED = re.compile(r'[^"\n]* of the plan "(.*)"\.$', re.MULTILINE)
# No bracket in an id: else a line of nothing but brackets would be gone through once for each.
TASK = re.compile(r"^## (\d+[.)]) (.+?)  \[[^][\n]+\]$", re.MULTILINE)
OWN_NUMBER = re.compile(r"^\d+[.)] ")
TERMS = '\n## What "done" means\n'
STEP_OF = "This is one step of a larger task,"
OTHER_STEPS = "Its other steps are tasks of their own."
PLAN_SAYS = "Of all of it the plan says:"
RULES = "The plan's own rules, which apply to every task:"
QUOTE = "> "
OTHER_FILES = " (the other files of this task are another session's)"
_STEP = re.compile(
    rf'^{re.escape(STEP_OF)} "(.*)"\. {re.escape(OTHER_STEPS)}$\n?(?:{re.escape(PLAN_SAYS)}\n\n)?',
    re.MULTILINE,
)


def is_of_a_run(prompt: str) -> bool:
    return bool(_HEAD.match(prompt)) and TERMS in prompt


def parted(prompt: str) -> tuple[str, list[tuple[str, str]]]:
    """What stands before the tasks, and each task's title with what is said of it."""
    head, *rest = TASK.split(prompt.partition(TERMS)[0])
    found = enumerate(zip(rest[::3], rest[1::3], rest[2::3], strict=True), start=1)
    return head, [(_titled(at, number, title), body) for at, (number, title, body) in found]


def numbered(at: int, title: str) -> str:
    """The title after its number. A title that has a number of its own gets no second one."""
    return title if OWN_NUMBER.match(title) else f"{at}. {title}"


def _titled(at: int, number: str, title: str) -> str:
    return title if number == f"{at}." else f"{number} {title}"


def asked(prompt: str) -> str:
    """What the plan asks for, its titles first; empty where this is no prompt of a run."""
    if not is_of_a_run(prompt):
        return ""
    head, tasks = parted(prompt)
    return "\n".join(_lines(head, tasks)).strip()


def _lines(head: str, tasks: list[tuple[str, str]]) -> Iterator[str]:
    if len(tasks) > 1:
        yield from (numbered(at, title) for at, (title, _) in enumerate(tasks, start=1))
    for title, body in tasks:
        said = _STEP.sub(r"Part of: \1\n", body).replace(OTHER_FILES, "").strip()
        if len(tasks) == 1:
            yield title
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
