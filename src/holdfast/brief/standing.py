"""Items from what is open, done and known: tasks, failures, fixes, subagents, references."""

from collections.abc import Iterator

from holdfast.brief.fence import clean, code, flat
from holdfast.brief.item import Item, times
from holdfast.checkpoint.extract.heat import FLOOR, heat_at
from holdfast.checkpoint.extract.outcomes import resolved
from holdfast.checkpoint.facts import Facts, Task
from holdfast.checkpoint.request import request

MOST_FAILING = 8
LONGEST_FAILING = 160
MOST_REFERENCES = 8
_DOING = "in_progress"


def tasks(facts: Facts) -> Iterator[Item]:
    """The task list where there is one, else the list the user or the plan gave."""
    listed = [one for one in facts.tasks.values() if one.source in ("task", "todo")]
    shown = listed or _planned(facts)
    still = [one for one in shown if one.is_open]
    for number, one in enumerate(sorted(still, key=lambda task: task.status != _DOING)):
        worth = 0.08 / (1 + number / 6) if listed else 0.02 / (1 + number / 4)
        reason = f"{one.source}, {one.status.replace('_', ' ')}"
        yield Item("tasks", _task(one), worth, reason, one.place, order=number)
    done = [one for one in listed if not one.is_open]
    if done and still:
        text = f"{len(done)} of {len(listed)} done, last: {flat(done[-1].text, 100)}"
        yield Item("tasks", text, 0.01, "done", done[-1].place, order=1e6)


def _planned(facts: Facts) -> list[Task]:
    """Steps nobody ticks off; those of a plan made for an earlier request say nothing now."""
    asked = request(facts)
    since = asked[0].place.op if asked else 0
    return [one for one in facts.tasks.values() if one.place.op >= since]


def _task(task: Task) -> str:
    marks = {"plan": "planned: ", "asked": "asked for: "}
    mark = "doing: " if task.status == _DOING else marks.get(task.source, "")
    return mark + flat(task.text, 200)


def failing(facts: Facts, most_lines: int) -> Iterator[Item]:
    """What failed last comes first, with most of what it said."""
    still = [one for one in facts.failures if one.fixed is None]
    for age, one in enumerate(reversed(still[-MOST_FAILING:])):
        fade = 2.0 ** (-(facts.op - one.place.op) / 60)
        worth = (0.1 / (1 + age)) * (0.2 + fade) / (1 + one.passes)
        command = facts.commands.get(one.command)
        line = command.line if command else one.command
        said = [flat(words, 160) for words in one.lines[: most_lines if age == 0 else 2]]
        text = "\n    ".join([code(line, LONGEST_FAILING), *said])
        key = one.command if len(line) <= LONGEST_FAILING else ""
        yield Item("failing", text, worth, "its last run failed", one.place, key=key, order=age)


def fixed(facts: Facts) -> Iterator[Item]:
    over = [one for one in resolved(facts) if one.lines and one.fix]
    for age, one in enumerate(reversed(over[-6:])):
        by = f", after edits in {', '.join(map(clean, one.fix[-3:]))}" if one.fix else ""
        text = f"{code(one.command, 80)} passes again{by}; it had said: {flat(one.lines[0], 140)}"
        yield Item(
            "fixed", text, 0.01 / (1 + age), "the same command passed later", one.place, order=age
        )


def agents(facts: Facts) -> Iterator[Item]:
    for age, one in enumerate(reversed(list(facts.agents.values())[-8:])):
        what = f"{one.kind or 'agent'}, {one.status}: {flat(one.asked, 120)}"
        text = f"{what} → {flat(one.answer, 240)}" if one.answer else what
        worth = (0.03 if one.status == "running" else 0.012) / (1 + age)
        yield Item("agents", text, worth, f"a subagent, {one.status}", one.place, order=age)


def references(facts: Facts) -> Iterator[Item]:
    if facts.branch and facts.branch not in ("HEAD",):
        yield Item("references", f"branch {clean(facts.branch)}", 0.003, "the branch now")
    now = facts.op
    rest = [(heat_at(one, now) + FLOOR * one.count, key) for key, one in facts.references.items()]
    for rank, (_, key) in enumerate(sorted(rest, reverse=True)[:MOST_REFERENCES]):
        one = facts.references[key]
        if key == facts.branch:
            continue
        note = f" ({flat(one.note, 80)})" if one.note else ""
        text = f"{one.kind} {clean(key)}{note}"
        reason = f"named {times(one.count)}, last at operation {one.op}"
        yield Item("references", text, 0.003 / (1 + rank / 4), reason, order=rank + 1)
