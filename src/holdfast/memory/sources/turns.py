"""A transcript as items, turn by turn: what the user said and what it answered, what the model said
and did and in which turn, what was decided, what subagents reported.

The turns are those of the record: the same entries are fed to it. Answers without words are counted
to the words before them. The last unit of a file may not be whole yet: reading begins again with
it, at the same position.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

from holdfast.memory.item import DECISION, TURN, Item
from holdfast.memory.sources import calls
from holdfast.memory.sources.item_builder import (
    LONGEST_TEXT,
    MORE_CHARS,
    TITLE_CHARS,
    SpokenPart,
    Unit,
    UnitStart,
)
from holdfast.memory.sources.known_secrets import KnownSecrets, check_entries
from holdfast.memory.sources.source import HOW, SourceRead
from holdfast.record import agents, results
from holdfast.record.model import Place, Question, Record, Turn
from holdfast.record.reader import RecordReader
from holdfast.record.replies import is_answer
from holdfast.record.storage import sign
from holdfast.record.user_input import author_of, is_notification, own_words, texts_in
from holdfast.redact import redact
from holdfast.text.sentences import clip, clip_last
from holdfast.transcript.blocks import Text, ToolResult, ToolUse
from holdfast.transcript.entries import Answer, Attachment, Entry, Prompt, Result
from holdfast.transcript.reader import Reader, Unreadable
from holdfast.transcript.user_words import without_briefs

USER, MODEL, AGENT = "user", "model", "agent"
MOST_TOGETHER = 64
MOST_ITEMS = 5_000  # per reading, so that a transaction stays short
SAID_CHARS = 1_600  # of the model's last words, which the user may answer next
_ASKING_US = "/holdfast:search "  # a search is no answer to the next search like it
_PLAN = "ExitPlanMode"
_ASKS = (results.ASKED, _PLAN)
_AGENTS = ("Task", "Agent", "TaskOutput", "AgentOutputTool")


class _Fold:
    def __init__(self, path: str, reached: UnitStart, is_agent: bool, key: str) -> None:
        self._path, self._is_agent, self._from = path, is_agent, reached.offset
        self._key = key
        self.secrets = KnownSecrets()
        self.items: list[Item] = []
        self.began = reached  # where the last unit began
        self._step, self._message = reached.turn, reached.message
        self._position = reached.position
        self._unit: Unit | None = None
        self._last: Unit | None = None  # the open unit, or the last one
        self._closed: list[Unit] = []
        self._looked_back: set[str] = set()  # calls of the open unit
        self._offered: dict[str, str] = {}  # the choices, by question
        self._asked, self._said = reached.asked, reached.said
        before = [Turn(reached.asked, Place(), said=reached.said)] if reached.offset else []
        # With `far`, only turns are recorded, and not which names are in use.
        self._record = RecordReader(Record(far=True, turns=before), sidechain=is_agent)

    @property
    def count(self) -> int:
        """How many items there will be at least."""
        return len(self.items) + len(self._closed)

    def feed(self, entry: Entry, is_clean: bool) -> None:
        """Read one entry. `is_clean` says that it is known to hold no secret."""
        if entry.is_sidechain and not self._is_agent:
            return
        if not is_clean:
            self.secrets.learn(entry)
        if isinstance(entry, Answer):
            self._answer(entry, is_clean)
        elif isinstance(entry, Prompt | Attachment):
            self._prompt(entry)
        elif isinstance(entry, Result):
            self._result(entry, is_clean)

    def _here(self, offset: int) -> UnitStart:
        return UnitStart(
            *(offset, self._step, self._position, self._message),
            asked=self._asked,
            said=self._said,
        )

    def _open(self, by: str, entry: Entry, title: str = "") -> Unit:
        self.close()
        self._looked_back.clear()
        self._offered.clear()
        self.began = self._here(entry.offset)
        self._unit = self._last = Unit(self.began, by, entry, title)
        return self._unit

    def close(self) -> None:
        unit, self._unit = self._unit, None
        if unit is not None and not unit.is_empty:
            self._closed.append(unit)
        if len(self._closed) == MOST_TOGETHER:
            self.settle()

    def settle(self) -> None:
        """Make items of the closed units: redact them together, then number them."""
        closed, self._closed = self._closed, []
        parts = [unit.parts for unit in closed]
        clean = iter(self.secrets.without([one.words for some in parts for one in some]))
        for unit, some in zip(closed, parts, strict=True):
            unit.put_at(self._position)
            made = unit.items(self._path, self._key, [_with(one, next(clean)) for one in some])
            self.items += made
            self._position = unit.began.position + len(made)
        if self._last is not None:
            self._last.put_at(self._position)
            self.began = self._last.began

    def came_on(self, entry: Entry) -> bool:
        """Return whether the next reading would begin later than this one did: at the open unit, or
        at this entry if none is open."""
        if self._unit is None:
            self.began = self._here(entry.offset)
        return self.began.offset > self._from

    def clean_items(self) -> list[Item]:
        """Return the items, redacted once more: a secret may be quoted before it is named."""
        self.settle()
        without = self.secrets.without_known
        return [
            one._replace(title=without(one.title), text=without(one.text), more=without(one.more))
            for one in self.items
        ]

    def _prompt(self, entry: Entry) -> None:
        texts = texts_in(entry)
        text = "\n".join(texts)
        if is_notification(text) and self._unit is not None:
            self._unit.hold(entry)
            self._report(agents.result(text), self._agent_asked(agents.id_in(text)))
        words = own_words([clip(one, LONGEST_TEXT) for one in texts], author_of(entry)).typed
        if not words:
            return
        if words.startswith(_ASKING_US):
            self._asked = ""
            return
        answers = self._turn_begun_by(entry)
        unit = self._open(MODEL if self._is_agent else USER, entry, answers)
        unit.kind = DECISION if answers and not self._is_agent else TURN
        unit.first_turn = unit.last_turn = self._step + 1  # the next answer belongs to it
        unit.begins_turn = True
        unit.texts.append(words)
        unit.hold(entry)
        self._asked = _title_of(words, answers)

    def _turn_begun_by(self, entry: Entry) -> str:
        """Return the question of the model that these words answer. Nothing else that was said
        before belongs to them: it would be found here instead of in its own turn."""
        turns = self._record.record.turns
        before = turns[-1:]
        self._record.take(entry)
        answers = turns[-1].reply_to if turns[-1:] != before else ""
        return answers if is_answer(answers) else ""

    def _answer(self, entry: Answer, is_clean: bool) -> None:
        self._record.take(entry)
        spoken = (without_briefs(one.text) for one in entry.blocks if isinstance(one, Text))
        texts = [text for text in spoken if text]
        if entry.message_id != self._message:
            self._step += 1
            self._message = entry.message_id[:200]
        unit = self._unit
        if unit is None or unit.by != MODEL or self._begins_unit(unit, texts):
            unit = self._open(MODEL, entry, self._asked)
        if texts:
            unit.message = self._message
            self._said = texts[-1]
        unit.last_turn = self._step
        unit.texts += texts
        unit.hold(entry)
        for block in entry.blocks:
            if isinstance(block, ToolUse):
                self._call(unit, block, is_clean)

    def _call(self, unit: Unit, block: ToolUse, is_clean: bool) -> None:
        if calls.looks_back(block):
            self._looked_back.add(block.id)
            return
        plan = block.input.get("plan") if block.name == _PLAN else None
        if isinstance(plan, str):
            unit.add_part(SpokenPart(MODEL, plan, self._asked))
        if block.name == results.ASKED:
            self._offered |= calls.choices_in(block)
        unit.add_more(calls.call(block, is_clean=is_clean))

    def _begins_unit(self, unit: Unit, texts: list[str]) -> bool:
        if texts:
            return bool(unit.texts) and unit.message != self._message
        return unit.more_chars >= MORE_CHARS

    def _result(self, entry: Result, is_clean: bool) -> None:
        if self._unit is None:
            return
        unit = self._unit
        unit.hold(entry)
        for block in entry.results:
            if isinstance(block, ToolResult):
                self._came_back(entry, block, is_clean)
        self._add_user_answers(entry)

    def _came_back(self, entry: Result, block: ToolResult, is_clean: bool) -> None:
        unit, call = self._unit, self._record.record.calls.get(agents.one_line(block.tool_use_id))
        if unit is None or block.tool_use_id in self._looked_back:
            return
        if call is not None and call.tool in _AGENTS and not block.is_error:
            self._report(agents.result(block.text), self._agent_asked(call.what) or call.what)
        elif unit.more_chars < MORE_CHARS and not (call and call.tool in _ASKS):
            unit.add_more(calls.ends(without_briefs(block.text), is_clean=is_clean))

    def _agent_asked(self, name: str) -> str:
        agent = self._record.record.agents.get(name)
        return agent.asked if agent else ""

    def _report(self, text: str, asked: str) -> None:
        """Add a subagent's complete answer, which is nowhere else in this transcript."""
        if self._unit is not None and text:
            self._unit.add_part(SpokenPart(AGENT, without_briefs(text), asked or self._asked))

    def _add_user_answers(self, entry: Result) -> None:
        """Add the user's answers to questions, and the words with which a call was refused."""
        turns = self._record.record.turns
        before, known = turns[-1:], list(_answered(turns))
        self._record.take(entry)
        unit = self._unit
        if unit is None:
            return
        for one in _answered(turns):
            if not any(one is other for other in known):
                offered = self._offered.get(one.text, "")
                unit.add_part(SpokenPart(USER, one.answer, one.text, offered, DECISION))
        if turns[-1:] != before and turns[-1].asked:
            unit.add_part(SpokenPart(USER, turns[-1].asked, turns[-1].reply_to, kind=DECISION))
            self._asked = _title_of(turns[-1].asked, turns[-1].reply_to)


def _answered(turns: list[Turn]) -> Iterator[Question]:
    return (one for turn in turns[-3:] for one in turn.questions if one.answer)


def _title_of(words: str, answers: str) -> str:
    """Return what a turn is about: "yes" needs the question that it answers."""
    if answers:
        return clip_last(f"{answers} → {words}", TITLE_CHARS)
    return clip(words, TITLE_CHARS)


def _with(part: SpokenPart, words: list[str]) -> SpokenPart:
    title, text, more = words
    return part._replace(title=title, text=text, more=more)


def read(
    path: str, state: str, *, is_agent: bool = False, give_up: float = float("inf"), key: str = ""
) -> SourceRead:
    """Read what a transcript has added since a state; a replaced file is read from the start.

    After `give_up`, it reads only as much as the next reading needs to begin further on. Ids are
    made from `key`: for an archived copy, that is the client's own path.
    """
    reached = _reached(path, state)
    fold = _Fold(path, reached, is_agent, key or path)
    done = True
    try:
        fold.secrets.learn_from_lines(path, reached.secret_lines)
        for entry, is_clean in check_entries(Reader(path, start=reached.offset)):
            fold.feed(entry, is_clean)
            is_late = time.monotonic() > give_up and fold.came_on(entry)
            if is_late or fold.count >= MOST_ITEMS:
                done = False
                break
    except Unreadable:
        return SourceRead([], "", 0)
    if done:
        fold.close()
    return SourceRead(fold.clean_items(), _state(path, fold), reached.position, done=done)


def _reached(path: str, state: str) -> UnitStart:
    try:
        found = UnitStart(*json.loads(state)) if state else UnitStart()
        lines = tuple(int(offset) for offset in found.secret_lines)
    except (ValueError, TypeError):
        return UnitStart()
    goes_on = found.how == HOW and found.sign == sign(path, found.offset) != ""
    return found._replace(secret_lines=lines) if goes_on else UnitStart()


def _state(path: str, fold: _Fold) -> str:
    """Return the state for storing, with its words redacted."""
    began, secrets = fold.began, fold.secrets
    asked, said = (secrets.without_known(redact(text)) for text in (began.asked, began.said))
    return json.dumps(
        began._replace(
            sign=sign(path, began.offset),
            secret_lines=tuple(secrets.lines),
            how=HOW,
            asked=asked[:TITLE_CHARS],
            said=said[-SAID_CHARS:],
        )
    )
