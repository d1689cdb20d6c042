"""The turns of a transcript as entries: what was asked, and what the model did and said.

The record reads the transcript (`record.stream`): whose words are whose, and which are secrets, is
decided there. The last turn of a file may go on: the next reading begins with it again.
"""

import json
import time
from collections.abc import Iterator

from holdfast.memory.item import LONGEST_TEXT, SAYING, TURN, Item, SourceRead, clean, id_of
from holdfast.record.model import TurnCall, TurnPart
from holdfast.record.stream import load_state, read_turns, save_state
from holdfast.record.turns import is_answer, question_at_end
from holdfast.text.fence import both_ends, quoted
from holdfast.text.sentences import clip
from holdfast.transcript import Unreadable

MOST_ITEMS = 2_000  # per reading, so that a transaction stays short
TITLE_CHARS, MORE_CHARS = 300, 12_000
REPLY_CHARS, REPLY_TO_CHARS = 80, 110  # in a title
CALL_CHARS, HEAD_CHARS, TAIL_CHARS = 200, 240, 120
_ASKING_US = "/holdfast:search "  # a search is no answer to the next search like it
# Our tools and commands that quote earlier text.
_BACK = ("recall", "expand", "resume", "search", "brief")


def read(
    path: str, state: str, *, is_agent: bool = False, give_up: float = float("inf"), key: str = ""
) -> SourceRead:
    """Read what a transcript has added since a state; a replaced file is read from the start.

    After `give_up`, it ends with the turn that it is in. Ids are made from `key`: for an archived
    copy, that is the client's own path.
    """
    known = load_state(path, json.loads(state)) if state else None
    items: list[Item] = []
    turn, start, done = list[TurnPart](), 0 if known is None else -1, True
    try:
        for part in read_turns(path, known, sidechain=is_agent):
            start = part.turn if start < 0 else start
            if turn and turn[0].turn != part.turn:
                items += _items(turn, path, key or path)
                turn = []
            turn.append(part)
            if items and (time.monotonic() > give_up or len(items) >= MOST_ITEMS):
                done = False
                break
    except Unreadable:
        return SourceRead([], "", 0)
    if not turn:
        return SourceRead([], "", 0)
    if done:
        items += _items(turn, path, key or path)
    after = json.dumps(save_state(path, turn[0].before))
    return SourceRead(items, after, start, done)


def _items(turn: list[TurnPart], path: str, key: str) -> Iterator[Item]:
    """Yield the entry of a turn, unless nothing was said or done in it."""
    first, last = turn[0], turn[-1]
    steps = [step.number for part in turn for step in part.steps]
    text = clean(f"\n\n{SAYING}".join(_bounded(list(_sayings(turn)))))
    more = clean("\n".join(_calls(turn)))[:MORE_CHARS]
    if text or more:
        yield Item(
            id=id_of(TURN, key, first.first_uuid, str(first.turn)),
            kind=TURN,
            text=text,
            position=first.turn,
            title=clean(_title(first)),
            more=more,
            session=first.session_id,
            agent=first.agent_id,
            file=path,
            first_turn=steps[0] if steps else 1,
            last_turn=steps[-1] if steps else 1,
            uuids=tuple(dict.fromkeys(filter(None, (first.first_uuid, last.last_uuid)))),
            at=first.at,
            offset=first.start,
        )


def _request(first: TurnPart) -> str:
    return "" if first.asked.startswith(_ASKING_US) else first.asked


def _question(first: TurnPart) -> str:
    """Return the question of the model that the user's words answer. Nothing else that was said
    before belongs to them: it would be found here instead of in its own turn."""
    return first.reply_to if _request(first) and is_answer(first.reply_to) else ""


def _title(first: TurnPart) -> str:
    """Return the user's words. "yes" needs the question that it answers."""
    to, words = both_ends(question_at_end(_question(first)), REPLY_TO_CHARS), _request(first)
    return _reply(both_ends(words, REPLY_CHARS) if to else clip(words, TITLE_CHARS), to)


def _reply(words: str, to: str) -> str:
    """Return words with what they answer, so that nobody takes that for the user's."""
    return f"{quoted(words)} (to {quoted(to)})" if to else words


def _sayings(turn: list[TurnPart]) -> Iterator[str]:
    """Yield what was said: by the user, in answers to questions too, by subagents, by the model."""
    first = turn[0]
    yield _reply(_request(first), _question(first)).strip()
    for part in turn:
        yield from part.queued
        reports = [*(call.report for call in part.calls if call.report), *part.reports]
        said = [(one.offset, one.text) for one in part.texts]
        said += [(report.offset, report.text) for report in reports]
        for call in part.calls:
            said += [(call.offset, f"{question}\n{answer}") for question, answer in call.questions]
            plan = call.input.get("plan") if call.tool == "ExitPlanMode" else None
            said += [(call.offset, plan)] if isinstance(plan, str) else []
        yield from (text for _, text in sorted(said))


def _bounded(sayings: list[str]) -> list[str]:
    """Return the sayings with text; of a very long turn its first one and the last ones."""
    first, *others = sayings
    room, kept = LONGEST_TEXT - len(first), list[str]()
    for text in reversed(others):
        room -= len(text)
        if room < 0:
            break
        kept.append(text)
    return [text.strip() for text in (first, *reversed(kept)) if text.strip()]


def _calls(turn: list[TurnPart]) -> Iterator[str]:
    for call in (call for part in turn for call in part.calls):
        if not looks_back(call):
            yield f"{call.tool} {call.what}"[:CALL_CHARS].strip()
            if not call.report and not call.questions:
                yield ends(call.output)


def looks_back(call: TurnCall) -> bool:
    """Return whether a call asks Holdfast for what is indexed already: nothing in it is new."""
    if call.tool.startswith("mcp__") and "holdfast" in call.tool:
        return call.tool.rpartition("__")[2] in _BACK
    return call.tool == "Bash" and asks_us(call.what)


def asks_us(command: str) -> bool:
    """Return whether a shell command asks Holdfast for what is indexed already."""
    program, _, rest = command.lstrip().partition(" ")
    return program.rpartition("/")[2] == "holdfast" and rest.lstrip().startswith(_BACK)


def ends(text: str) -> str:
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return f"{text[:HEAD_CHARS]} … {text[-TAIL_CHARS:]}"
