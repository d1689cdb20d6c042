"""What the user typed, however it came: as a prompt, or into the queue while the model worked.

The client writes a queued prompt when it is typed, and again (or not) when it is handed over: as a
note to the model, or as a prompt of its own, several in one. It is heard when it is typed.
"""

from typing import Any

from holdfast.checkpoint.extract import background, names, prompts, results, said
from holdfast.checkpoint.facts import Facts, Place

SUBSTANTIAL_CHARS = 40  # "yes, go on" takes no list back
MOST_QUEUED = 16
NOTIFICATION_CHARS = 20_000
_NOTIFICATION = ("<task-notification", "<agent-notification", '{"task_id"')


def prompt(facts: Facts, text: str, place: Place, line: int = 0) -> str:
    """The words that were heard; none when they were heard before, or are nobody's."""
    if text.startswith(_NOTIFICATION):
        background.heard(facts, text[:NOTIFICATION_CHARS])
    if _heard_before(facts, text.strip(), place, line):
        return ""
    said.settle(facts)
    before = len(facts.prompts)
    prompts.hear(facts, text, place, line)
    if len(facts.prompts) == before:
        return ""
    words = facts.prompts[-1].text
    names.hear(facts, words, 2.0, 1.5)
    results.mention(facts, words)
    if len(words) >= SUBSTANTIAL_CHARS:
        said.plan(facts, words, facts.prompts[-1].place, "asked")
    return words


def queued(facts: Facts, operation: str, text: str, place: Place) -> str:
    """Something happened to the queue."""
    if operation == "popAll":
        _withdraw(facts)
    command = text.startswith("/") and " " not in text
    if operation != "enqueue" or command or text.startswith(_NOTIFICATION[2]):
        return ""
    words = prompt(facts, text, place)
    if words:
        facts.queued = [*facts.queued, words.strip()][-MOST_QUEUED:]
    return words


def noted(note: Any) -> str:
    """What a note to the model says was queued."""
    if not isinstance(note, dict) or note.get("type") != "queued_command":
        return ""
    found = note.get("prompt")
    if isinstance(found, list):
        texts = [part.get("text") for part in found if isinstance(part, dict)]
        found = "\n".join(text for text in texts if isinstance(text, str))
    return found if isinstance(found, str) else ""


def _heard_before(facts: Facts, text: str, place: Place, line: int) -> bool:
    """One that was queued, or several, now handed over: it is as new as that."""
    for first in range(len(facts.queued)):
        some = _handed_over(facts.queued[first:], text)
        if some:
            del facts.queued[first : first + len(some)]
            for words in some:
                _renew(facts, words, place, line)
            return True
    return False


def _handed_over(waiting: list[str], text: str) -> list[str]:
    """The first of these, if it is the text, or as many as make it up line by line."""
    for count, words in enumerate(waiting, 1):
        if text[: prompts.LONGEST_PROMPT] == words:
            return waiting[:count]
        if not text.startswith(f"{words}\n"):
            break
        text = text[len(words) + 1 :]
    return []


def _renew(facts: Facts, words: str, place: Place, line: int) -> None:
    for one in facts.prompts[-MOST_QUEUED:]:
        if one.text.strip() == words:
            facts.prompts.remove(one)
            one.place, one.line = place, line
            facts.prompts.append(one)
            return


def _withdraw(facts: Facts) -> None:
    """Taken back into the box before anybody read it."""
    for words in facts.queued:
        for one in [one for one in facts.prompts[-MOST_QUEUED:] if one.text.strip() == words]:
            facts.prompts.remove(one)
            facts.rules = [rule for rule in facts.rules if rule.place != one.place]
    facts.queued.clear()
