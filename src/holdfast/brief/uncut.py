"""What is never cut: the rules, and what is being worked on. Of the two the request is shortened
first, and lengthened again where the rest leaves room."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from holdfast.brief import told
from holdfast.brief.fence import flat
from holdfast.brief.item import Item
from holdfast.brief.size import units
from holdfast.brief.trim import Choice
from holdfast.budget.ledger import Pin
from holdfast.checkpoint.facts import Facts

LEAST_ASKED, ENOUGH_ASKED = 30, 400
ASKED_SHARE = 0.13
HEADINGS = 64  # those of the two sections
HEADING = 24  # of each further one
LEAST_RULE = 30
WHERE_CHARS = 70  # what says where the rest of a request is


def marked(texts: Iterable[str]) -> list[Item]:
    """Rules of instruction files that the client does not bring back."""
    return [
        Item("marked", text, 1.0, "a marked rule", pinned=True, order=number)
        for number, text in enumerate(texts)
    ]


def pins(given: Iterable[Pin]) -> list[Item]:
    """What was pinned by hand, each in the compartment it was put into."""
    return [
        Item("pinned", one.text, 1.0, f"pin {one.id}", pinned=True, compartment=one.compartment)
        for one in given
    ]


def pin_id(item: Item) -> str:
    """Of the pin it stands for; empty for what nobody pinned, also if it is never cut."""
    return item.reason.removeprefix("pin ") if item.section == "pinned" else ""


def items(facts: Facts, limit: int, room: int, more: Sequence[Item] = ()) -> list[Item]:
    """The request and the rules, as long as they may be; `more` must be told as well."""
    headings = HEADINGS + HEADING * len({one.section for one in more})
    most = max(int(limit * ASKED_SHARE), min(ENOUGH_ASKED, limit // 3))
    task = list(told.task(facts, most))
    firm = sum(rule.kind in told.FIRM for rule in facts.rules) + len(more)
    longest = told.longest_rule(0.45 * limit, firm)
    rules = [*_quoted(more, longest), *told.rules(facts, longest, _shown(task))]
    if _cost(task) + _cost(rules) + headings <= room:
        return [*task, *rules]
    least = max(LEAST_ASKED, room // 8)
    longest = told.longest_rule(room - least - headings, firm, LEAST_RULE)
    rules = [*_quoted(more, longest), *told.rules(facts, longest, "")]
    left = room - _cost(rules) - headings
    task = list(told.task(facts, max(least, min(most, left // min(2, len(task) or 1))) - 5))
    return [*task[:1], *rules, *task[1:]]


def lengthen(choice: Choice, facts: Facts, limit: int) -> None:
    """What is left of the room goes to the request, up to half of the brief."""
    now = next((one for one in choice.taken if told.is_request(one)), None)
    if now is None:
        return
    for most in (limit // 2, min(limit // 2, units(now.text) + choice.room - WHERE_CHARS)):
        item = next(told.task(facts, most))
        more = units(item.text) - units(now.text)
        if 0 < more <= choice.room:
            choice.taken[choice.taken.index(now)] = item
            choice.room -= more
            return


def _quoted(more: Sequence[Item], longest: int) -> list[Item]:
    return [replace(one, text=f"“{flat(one.text, longest)}”") for one in more]


def _shown(task: Iterable[Item]) -> str:
    return " ".join(one.text for one in task)


def _cost(told_items: Iterable[Item]) -> int:
    return sum(units(one.text) + 3 for one in told_items if one.pinned)
