"""Items from what was said: the request, the rules, the step in flight, decisions."""

from collections.abc import Iterator, Sequence

from holdfast.brief.fence import clean, code, flat
from holdfast.brief.item import Archived, Claim, Item
from holdfast.checkpoint.extract.prompts import LONGEST_PROMPT
from holdfast.checkpoint.facts import Call, Facts, Prompt, Rule
from holdfast.checkpoint.request import SUBSTANTIAL_CHARS, request

FIRM = frozenset({"rule", "correction"})
LONGEST_RULE, SHORTEST_RULE = 300, 80
_KINDS = {"rule": "rule", "correction": "corrected", "choice": "chose", "wish": "asked"}
FRESH_OPS = 3
ANSWERED_CHARS = FOLLOWING_CHARS = 160
MOST_SHELVED = 4
_REQUESTED = "the request being worked on"
PLANNING = "plan mode is on: read and plan only, change no file until the user approves the plan"
REPORTED = "the model has reported this done, and the user has not spoken since"


def task(facts: Facts, most: int) -> Iterator[Item]:
    """The request, at most so long, and what was said to it since."""
    for number, prompt in enumerate(request(facts)):
        text = _asked(prompt, min(most, FOLLOWING_CHARS) if number else most)
        yield Item("task", text, 1.0, _REQUESTED, prompt.place, pinned=True, order=number)
    if facts.planning:
        yield Item("task", PLANNING, 1.0, "the mode of the session", pinned=True, order=1e3)
    elif facts.reported_done:
        yield Item("task", REPORTED, 1.0, "the model's last words", pinned=True, order=1e3)


def is_request(item: Item) -> bool:
    return item.reason == _REQUESTED and not item.order


def _asked(prompt: Prompt, most: int) -> str:
    """The words, what they answer, and where the rest of them is."""
    words = flat(prompt.text, most)
    text = f"“{words}”"
    if prompt.to:
        text += f" (to “{flat(prompt.to, min(most, ANSWERED_CHARS))}”)"
    cut = words.endswith(" …") or prompt.chars > LONGEST_PROMPT
    if not cut or most < FOLLOWING_CHARS:
        return text
    where = f", whole in line {prompt.line} of the transcript" if prompt.line else ""
    return f"{text} ({prompt.chars:,} characters{where})"


def earlier(facts: Facts) -> Iterator[Item]:
    now = request(facts)
    old = [one for one in facts.prompts if one not in now and one.chars >= SUBSTANTIAL_CHARS]
    old = [one for one in old if not any(taken in one.text for taken in facts.revoked)]
    for age, prompt in enumerate(reversed(old)):
        first = prompt is old[0]
        worth = 0.008 if first else 0.03 / (1 + age)
        text = f"{'first: ' if first else ''}“{flat(prompt.text, 140)}”"
        reason = "how it began" if first else f"{age + 1} requests before"
        yield Item("earlier", text, worth, reason, prompt.place, order=age)


def longest_rule(room: float, rules: int, least: int = SHORTEST_RULE) -> int:
    """Where there are so many that they would leave no room, each is quoted shorter."""
    return max(least, min(LONGEST_RULE, int(room / max(rules, 1)) - 5))


def rules(facts: Facts, most: int, shown: str) -> Iterator[Item]:
    """Rules and corrections are pinned, newest first; wishes and choices compete. What stands in
    the request as it is shown need not be said again."""
    for age, rule in enumerate(reversed(facts.rules)):
        if flat(rule.text, LONGEST_RULE) in shown:
            continue
        pinned = rule.kind in FIRM
        worth = 0.03 / (1 + age / 4)
        yield Item(
            "rules",
            _rule(rule, most),
            worth,
            _KINDS[rule.kind],
            rule.place,
            pinned,
            order=-rule.place.op,
        )


def _rule(rule: Rule, most: int) -> str:
    text = f"“{flat(rule.text, most)}”"
    if rule.kind == "choice":
        return f"{text} (answered to “{flat(rule.about, 120)}”)" if rule.about else f"chose {text}"
    if rule.before:
        return f"{text} (instead of “{flat(rule.before, 120)}”)"
    return f"{text} (said to “{flat(rule.about, 120)}”)" if rule.about else text


def flight(facts: Facts, room: int) -> Iterator[Item]:
    """The very end: what the model said last, what it did last, what still runs."""
    place = facts.recent[-1].place if facts.recent else None
    if facts.last_texts:
        age = facts.op - facts.last_said_op
        when = "last said" if age <= FRESH_OPS else f"said {age} operations ago, nothing since"
        if facts.prompts and facts.last_said_op <= facts.prompts[-1].place.op:
            when = "said before the user's last words"
        text = f"{when}: “{flat(facts.last_texts[-1], max(140, int(room * 0.05)))}”"
        yield Item("flight", text, 0.05, "the model's last words", order=0, pinned=True)
    running = list(facts.calls.values())[-3:]
    for call in running:
        text = f"no result yet: {call.tool} {code(call.what, 160)}"
        yield Item("flight", text, 0.04, "a call without a result", call.place, True, order=3)
    done = [one for one in facts.recent if one not in running and one.what]
    if done and place is not None:
        steps = dict.fromkeys(_step(facts, one) for one in reversed(done))  # each at its last place
        text = "last calls: " + "; ".join(reversed(list(steps)[:3]))
        yield Item("flight", text, 0.02, "the last steps", place, order=1)
    if len(facts.last_texts) > 1:
        text = f"before that: “{flat(facts.last_texts[-2], 200)}”"
        yield Item("flight", text, 0.01, "the words before", order=2)


def _step(facts: Facts, call: Call) -> str:
    """What reads its program from its input is told with the head of that."""
    known = facts.commands.get(call.what) if call.what.endswith(" -") else None
    return f"{call.tool} {code(known.line if known else call.what, 80)}"


def claim(one: Claim) -> Item:
    text = f"the summary says “{flat(one.sentence, 120)}”, but {flat(one.evidence, 240)}"
    return Item("flight", text, 1.0, "the transcript says otherwise", one.place, True, order=-1)


def decisions(facts: Facts) -> Iterator[Item]:
    for age, one in enumerate(reversed([one for one in facts.decisions if not one.corrected])):
        text = flat(one.text, 240)
        yield Item("decisions", text, 0.025 / (1 + age / 2), "a decision", one.place, order=age)


def questions(facts: Facts) -> Iterator[Item]:
    for number, one in enumerate(facts.questions):
        yield Item("questions", f"“{flat(one, 200)}”", 0.01, "not answered yet", order=number)


def shelved(archived: Sequence[Archived]) -> Iterator[Item]:
    """Segments that can be recalled, in a line each, newest first."""
    for age, (name, topic, _) in enumerate(reversed(archived[-MOST_SHELVED:])):
        text = f"{flat(topic, 60)}: {clean(name)}"
        yield Item("archived", text, 0.004 / (1 + age), "compressed, on the shelf", order=age)
