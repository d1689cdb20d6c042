"""Items from the very end: the mode, the model's last words, its last calls; and decisions."""

from collections.abc import Iterator, Sequence

from holdfast.brief.fence import clean, code, flat
from holdfast.brief.item import Archived, Claim, Item
from holdfast.record.model import Call, Record

FRESH_OPS = 3
MOST_SHELVED = 4
PLANNING = "plan mode is on: read and plan only, change no file until the user approves the plan"


def flight(record: Record, room: int) -> Iterator[Item]:
    """What the model said last, what it did last, what still runs."""
    if record.planning:
        yield Item("flight", PLANNING, 1.0, "the mode of the session", pinned=True, order=-2)
    place = record.recent[-1].place if record.recent else None
    if record.last_texts:
        age = record.op - record.last_said_op
        when = "last said" if age <= FRESH_OPS else f"said {age} steps ago, nothing since"
        if record.turns and record.last_said_op <= record.turns[-1].place.op:
            when = "said before the user's last words"
        text = f"{when}: “{flat(record.last_texts[-1], max(140, int(room * 0.05)))}”"
        yield Item("flight", text, 0.05, "the model's last words", order=0, pinned=True)
    running = list(record.calls.values())[-3:]
    for call in running:
        text = f"no result yet: {call.tool} {code(call.what, 160)}"
        yield Item("flight", text, 0.04, "a call without a result", call.place, True, order=3)
    done = [one for one in record.recent if one not in running and one.what]
    if done and place is not None:
        steps = dict.fromkeys(
            _step(record, one) for one in reversed(done)
        )  # each at its last place
        text = "last calls: " + "; ".join(reversed(list(steps)[:3]))
        yield Item("flight", text, 0.02, "the last steps", place, order=1)
    if len(record.last_texts) > 1:
        text = f"before that: “{flat(record.last_texts[-2], 120)}”"
        yield Item("flight", text, 0.01, "the words before", order=2)


def _step(record: Record, call: Call) -> str:
    """What reads its program from its input is told with the head of that."""
    known = record.commands.get(call.what) if call.what.endswith(" -") else None
    return f"{call.tool} {code(known.line if known else call.what, 80)}"


def claim(one: Claim) -> Item:
    text = f"the summary says “{flat(one.sentence, 120)}”, but {flat(one.evidence, 240)}"
    return Item("flight", text, 1.0, "the transcript says otherwise", one.place, True, order=-1)


def decisions(record: Record) -> Iterator[Item]:
    for age, one in enumerate(reversed(record.decisions)):
        text = flat(one.text, 240)
        yield Item("decisions", text, 0.025 / (1 + age / 2), "a decision", one.place, order=age)


def shelved(archived: Sequence[Archived]) -> Iterator[Item]:
    """Segments that can be recalled, in a line each, newest first."""
    for age, (name, topic, _) in enumerate(reversed(archived[-MOST_SHELVED:])):
        text = f"{flat(topic, 60)}: {clean(name)}"
        yield Item("archived", text, 0.004 / (1 + age), "compressed, on the shelf", order=age)
