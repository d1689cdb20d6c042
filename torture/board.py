"""What agents send and claim while everything breaks, and what must be true of it afterwards.

An answered request happened, a refused one did not, and of one without an answer nobody knows.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import urlencode

import sqlalchemy as sa

from holdfast.hub import cleanup, ids, row_times
from holdfast.hub.board.messages import CLAIMED
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import claims, deliveries, messages
from holdfast.window import outbox
from holdfast.wire.places import window
from torture.place import Place
from torture.server import Answered, Server

TOPIC, NOWHERE = "task.completed", "00000000-0000-4000-8000-00000000dead"
AGENTS, WORKS = ("agent-a", "agent-b"), tuple(f"piece-{number}" for number in range(6))
DAY_SECONDS = 86_400
MADE, FREED, HELD, NOBODY_KNOWS = 201, 200, 409, (0, 503)
ABSENT = 404
SENT = messages.c.from_agent != "watcher"  # `serve` sends messages of its own


@dataclass(slots=True)
class Board:
    """The model: `posted` maps the word of a message to its id, once it was answered."""

    place: Place
    random: Random
    posted: dict[str, str] = field(default_factory=dict)
    receivers: dict[str, str] = field(default_factory=dict)  # word: the session it is for
    unsure: set[str] = field(default_factory=set)  # words whose post got no answer
    refused: set[str] = field(default_factory=set)
    holders: dict[str, set[str]] = field(default_factory=dict)  # work: who may have it
    refusals: int = 0
    is_known: bool = False  # whether the database knows the project: a claim was answered
    _count: int = 0

    @property
    def project_id(self) -> str:
        return ids.project_id(str(self.place.projects[0]))

    def word(self, session_id: str) -> str:
        """A new word that nobody else says; it is unsure until an answer has come."""
        self._count += 1
        word = f"parcel{self._count:05d}"
        self.receivers[word] = session_id
        self.unsure.add(word)
        return word

    def sent(self, word: str, message_id: str) -> None:
        self.posted[word] = message_id
        self.unsure.discard(word)

    def post(self, server: Server, session_id: str) -> None:
        word = self.word(session_id)
        body = {"from_agent": AGENTS[0], "to_agent": session_id, "topic": TOPIC, "content": word}
        answer = server.ask("POST", "/api/messages", {**body, "ttl_seconds": DAY_SECONDS})
        if answer.status == MADE:
            self.sent(word, answer.body["message"]["id"])
        else:
            must(answer.status in NOBODY_KNOWS, f"a good message was refused: {answer}")

    def refuse(self, server: Server) -> None:
        """Requests that must be refused, and must leave nothing behind."""
        self._count += 1
        word = f"refused{self._count:05d}"
        self.refused.add(word)
        good = {"from_agent": AGENTS[0], "topic": TOPIC, "content": word}
        part = {"description": "d", "status": "running"}
        asked: Sequence[tuple[int, str, dict[str, Any]]] = (
            (ABSENT, "/api/messages", {**good, "project_id": NOWHERE}),
            (400, "/api/messages", {**good, "topic": "nothing anybody registered"}),
            (400, "/api/messages", {**good, "from_agent": ""}),
            (ABSENT, "/api/subtasks", {"task_id": NOWHERE, **part}),
            (ABSENT, "/api/claims", {"project_id": NOWHERE, "work": "w", "agent_id": AGENTS[0]}),
        )
        for status, path, body in asked:
            answer = server.ask("POST", path, body)
            must(answer.status in (status, *NOBODY_KNOWS), f"{path} {body}: {answer}")
            self.refusals += answer.status == status

    def race(self, server: Server) -> None:
        """Two agents want one piece of work at once: one gets it, the other is told who has it."""
        work, answers = self.random.choice(WORKS), dict[str, Answered]()
        before = self.holders.get(work, set())

        def take(agent: str) -> None:
            body = {"project_id": self.project_id, "work": work, "agent_id": agent}
            answers[agent] = server.ask("POST", "/api/claims", {**body, "ttl_seconds": DAY_SECONDS})

        racers = [threading.Thread(target=take, args=(agent,)) for agent in AGENTS]
        for one in racers:
            one.start()
        for one in racers:
            one.join()
        self.judge_race(work, before, answers)

    def judge_race(self, work: str, before: set[str], answers: dict[str, Answered]) -> None:
        got = {agent for agent, answer in answers.items() if answer.status == MADE}
        silent = {agent for agent, one in answers.items() if one.status in NOBODY_KNOWS}
        must(len(got) <= 1, f"{work} was given to two: {answers}")
        must(not got or not before or bool(got & before), f"{work} of {before} was given to {got}")
        for answer in answers.values():
            expected = (MADE, HELD, *NOBODY_KNOWS, *(() if self.is_known else (ABSENT,)))
            must(answer.status in expected, f"claim of {work}: {answer}")
        self.is_known = self.is_known or bool(got)
        if got:
            self.holders[work] = got
        elif silent and not before:
            self.holders[work] = silent | {""}

    def release(self, server: Server) -> None:
        sure = [work for work, who in self.holders.items() if len(who) == 1 and "" not in who]
        if not sure:
            return
        work = self.random.choice(sorted(sure))
        [agent] = self.holders[work]
        query = urlencode({"project_id": self.project_id, "work": work, "agent_id": agent})
        answer = server.ask("DELETE", f"/api/claims?{query}")
        must(answer.status in (FREED, *NOBODY_KNOWS), f"{agent} lets go of {work}: {answer}")
        self.holders[work] = {agent, ""}
        if answer.status == FREED:
            del self.holders[work]

    def check(self, store: Store) -> None:
        """What was answered is there once; what was refused is not there at all."""
        query = sa.select(messages.c.id, messages.c.content).where(SENT)
        rows = store.read(lambda c: list(c.execute(query)))
        texts = [json.dumps(content) for _, content in rows]
        for word, message_id in self.posted.items():
            times = _times(word, texts)
            is_gone = times == 0 and _may_be_gone(message_id)
            must(times == 1 or is_gone, f"{word} is there {times} times")
        for word in self.unsure:
            must(_times(word, texts) <= 1, f"{word} is doubled")
        for word in self.refused:
            must(_times(word, texts) == 0, f"{word} was refused, and is there")
        must(len(rows) <= len(self.posted) + len(self.unsure), "messages nobody sent")
        self._check_claims(store)

    def _check_claims(self, store: Store) -> None:
        query = sa.select(claims.c.work, claims.c.agent_id)
        rows = {work: agent for work, agent, *_ in store.read(lambda c: list(c.execute(query)))}
        for work, who in self.holders.items():
            held = rows.get(work, "")
            must(held in who, f"{work} is held by {held or 'nobody'}, should be {who}")
            self.holders[work] = {held}
        self.holders = {work: who for work, who in self.holders.items() if who != {""}}
        unknown = set(rows) - set(self.holders)
        must(not unknown, f"claims nobody took: {unknown}")

    def tags(self, store: Store) -> dict[str, list[str]]:
        """By session, the tags of the messages for it that are on the board. One that was posted
        with a clock five hours behind is past its hour at once, and nobody is given it."""
        is_valid = messages.c.expires_ms.is_(None) | (messages.c.expires_ms > row_times.now_ms())
        query = sa.select(messages.c.id, messages.c.to_agent).where(SENT, is_valid)
        rows = store.read(lambda c: list(c.execute(query)))
        found: dict[str, list[str]] = {}
        for message_id, to_agent in rows:
            found.setdefault(to_agent, []).append(tag_of(message_id))
        return found

    def given_up(self, store: Store) -> set[str]:
        """The tags of messages that three hooks recorded as said, and none of them printed: the
        outbox says nothing a fourth time."""
        query = sa.select(deliveries.c.message_id, deliveries.c.agent_id)
        claimed = query.where(deliveries.c.state == CLAIMED)
        rows = store.read(lambda c: list(c.execute(claimed)))
        return {tag_of(one) for one, agent in rows if one not in outbox.known_ids(window(agent))}


def tag_of(message_id: str) -> str:
    return f"m-{message_id.replace('-', '')[-12:]}"


def _may_be_gone(message_id: str) -> bool:
    """Whether a message was posted with a clock days behind: it had expired at once, and what
    expired a day ago is deleted. Its id begins with the milliseconds of its clock."""
    posted_ms = uuid.UUID(message_id).int >> 80
    return posted_ms + DAY_SECONDS * 1000 + cleanup.EXPIRED_KEPT_MS < row_times.now_ms()


def _times(word: str, texts: Sequence[str]) -> int:
    return sum(word in text for text in texts)


class BrokenPromise(AssertionError):
    """Something that Holdfast promises was not so."""


def must(true: bool, words: str) -> None:
    if not true:
        raise BrokenPromise(words)
