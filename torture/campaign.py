"""Rounds of work under faults, in one place after another, until the time is over.

A place lives for some rounds. In each round every session plays its next hook at the same time,
some of them under a fault of their own; agents talk to the server; and something may happen to all
of them at once. Then the promises are checked. Every choice comes from the seed of the place.
"""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from holdfast.hub.board import outboxes
from holdfast.hub.store.store import Store
from torture import damage, package, processes, promises
from torture.board import TOPIC, Board, BrokenPromise
from torture.commands import HOOK, MCP, Command, Forks, cli
from torture.databases import STOPS, PostgresServer
from torture.listener import EventListener
from torture.place import (
    Place,
    a_place,
    fingerprint,
    full_disk,
    may_mount,
    read_only,
)
from torture.plans import Plans
from torture.processes import (
    ALONE,
    CLOCK,
    FAILED_CALL,
    INTERRUPTED,
    KILLED,
    KILLED_AT_CALL,
    LIMITED,
    Runner,
)
from torture.script import Firing, ScriptedSession
from torture.server import Server

SESSIONS = 4
ROUNDS = 30  # of one place
STEPS = 6  # of each session in a round
TALKS_EVERY = 3  # steps
UPGRADED_EVERY = 3  # places: one of them begins with what release 0.1.0 left
ROWS_EVERY = 3  # rounds: a row that is lost stays lost
MOST_STEPS = 40  # without faults, at its end, until what waits was delivered
FULL, READ_ONLY, REPLACED, SERVER_KILLED, STOPPED, DAMAGED, REFUSED = (
    "disk full",
    "folder read-only",
    "package replaced or gone",
    "server killed",
    "PostgreSQL stopped",
    "file damaged",
    "request refused",
)
KINDS = (
    *(KILLED, INTERRUPTED, KILLED_AT_CALL, FAILED_CALL, LIMITED, CLOCK, FULL, READ_ONLY),
    REPLACED,
    *(SERVER_KILLED, STOPPED, DAMAGED, REFUSED),
)
AT_CALLS = (KILLED_AT_CALL, FAILED_CALL)
SUMMED = (
    *("rounds", "places", "checkpoints", "calls", "messages", "given_up", "claims"),
    *("command_lines", "events", "run_faults", "plans", "tasks"),
)
# So that random faults and those at single calls come about as 2 to 1.
OWN_FAULTS = {KILLED: 38, KILLED_AT_CALL: 33, FAILED_CALL: 22, LIMITED: 3, CLOCK: 1, ALONE: 3}
SHARED_FAULTS = {"": 30, FULL: 5, READ_ONLY: 5, REPLACED: 1, SERVER_KILLED: 1, STOPPED: 1}
MIXED, RANDOM, CALLS = "mixed", "random", "calls"
RUNS = 0.25  # how often a round runs a plan, too
RUN_BEGINS_SECONDS = 2.0  # so long at most a run has begun when the disk fills
COMMANDS = 0.12  # how often a session calls a command or a tool in place of its next hook


@dataclass(frozen=True, slots=True)
class Shares:
    """How often each fault is chosen in a place."""

    own: dict[str, int]
    shared: dict[str, int]

    @property
    def of_runs(self) -> dict[str, int]:
        own = {**self.own, INTERRUPTED: 12} if self.own[KILLED] else self.own
        return {**own, KILLED: min(own[KILLED], 30)}


SHARES = {
    MIXED: Shares(OWN_FAULTS, SHARED_FAULTS),
    RANDOM: Shares({**OWN_FAULTS, KILLED_AT_CALL: 0, FAILED_CALL: 0}, SHARED_FAULTS),
    CALLS: Shares({**OWN_FAULTS, KILLED: 0, LIMITED: 0, CLOCK: 0}, {"": 1}),
}


@dataclass(slots=True)
class Tally:
    """What was done to one engine, and what came of it."""

    faults: Counter[str] = field(default_factory=Counter)
    rounds: int = 0
    places: int = 0
    checkpoints: int = 0
    calls: int = 0
    messages: int = 0
    given_up: int = 0
    claims: int = 0
    command_lines: int = 0
    events: int = 0
    run_faults: int = 0
    plans: int = 0
    tasks: int = 0
    known_points: set[tuple[str, str]] = field(default_factory=set)
    hit_points: set[tuple[str, str]] = field(default_factory=set)

    @property
    def all_faults(self) -> int:
        return self.faults.total() - self.faults[REFUSED]

    @property
    def calls_hit(self) -> int:
        return sum(self.faults[kind] for kind in AT_CALLS)

    @property
    def random(self) -> int:
        return self.all_faults - self.calls_hit

    @property
    def points(self) -> str:
        return f"{len(self.hit_points):,} of {len(self.known_points):,}"

    def add(self, other: Tally) -> None:
        """What another process has counted."""
        self.faults += other.faults
        for name in SUMMED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.known_points |= other.known_points
        self.hit_points |= other.hit_points


@dataclass(slots=True)
class Campaign:
    """The faults of one place."""

    place: Place
    random: Random
    tally: Tally
    postgres: PostgresServer | None
    number: int = 0
    shares: Shares = SHARES[MIXED]
    server: Server = field(init=False)
    board: Board = field(init=False)
    runner: Runner = field(init=False)
    sessions: list[ScriptedSession] = field(init=False)
    reported: set[str] = field(default_factory=set)
    listener: EventListener = field(init=False)
    plans: Plans = field(init=False)
    _package: str = ""
    _plays: list[Iterator[Firing]] = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.server, self.board = Server(self.place), Board(self.place, self.random)
        self.listener = EventListener(self.server)
        self.runner = Runner(self.place, Random(self.random.random()), self.number)
        self.plans = Plans(self.place, self.runner, Random(self.random.random()))
        self.sessions = [self._session(number) for number in range(SESSIONS)]
        self._plays = [session.play() for session in self.sessions]

    def _session(self, number: int) -> ScriptedSession:
        own = f"{self.random.randrange(1 << 32):08x}-0000-4000-8000-{number:012d}"
        project = self.place.projects[number % len(self.place.projects)]
        path = self.place.transcripts / f"{own}.jsonl"
        return ScriptedSession(own, project, path, Random(self.random.random()))

    @property
    def secrets(self) -> list[str]:
        return [secret for session in self.sessions for secret in session.secrets]

    def run(self, over: Callable[[], bool], rounds: int) -> None:
        """All rounds of this place, and its end."""
        outside = fingerprint(self.place)
        with self._forking() as forks:
            self._play(over, rounds, forks)
            self._damage_files(over, max(1, rounds // 2))
        promises.no_process_left(self.place)
        promises.nothing_outside(self.place, outside)

    @contextmanager
    def _forking(self) -> Iterator[Forks]:
        forks = self.runner.forks = Forks(self.place.root, self.place.environ)
        try:
            yield forks
        finally:
            forks.end()

    def _play(self, over: Callable[[], bool], rounds: int, forks: Forks) -> None:
        try:
            self.server.start()
            self.listener.start()
            for number in range(rounds):
                if over():
                    break
                shared = self._round()
                self._check(rows=bool(shared) or number % ROWS_EVERY == 0)
            self._drain(forks)
        finally:
            self._sum_up()
            self.listener.end()
            self.server.end(signal.SIGKILL)

    def _round(self) -> str:
        """Some steps of every session; what happened to all of them."""
        self.tally.rounds += 1
        shared = self._choose(self.shares.shared)
        if shared in (FULL, READ_ONLY) and not may_mount():
            shared = ""
        if shared == STOPPED and self.postgres is None:
            shared = SERVER_KILLED
        with ThreadPoolExecutor(1) as beside, ExitStack() as stack:
            run = self._begin_run(beside, shared, stack)
            self._steps(shared)
            if run is not None:
                run.result()
        return shared

    def _steps(self, shared: str) -> None:
        met = shared in (FULL, READ_ONLY, REPLACED)
        for step in range(STEPS):
            faults = [ALONE if met else self._choose(self.shares.own) for _ in self.sessions]
            talks = shared not in (FULL, READ_ONLY) and step % TALKS_EVERY == 0
            self._all_at_once(faults, talks=talks)
        if met:
            self.tally.faults[shared] += STEPS * len(self.sessions)

    def _begin_run(
        self, beside: ThreadPoolExecutor, shared: str, stack: ExitStack
    ) -> Future[None] | None:
        """Let the shared fault begin, and a run of a plan before or after it; or no run."""
        plays, early = self.random.random() < RUNS, self.random.random() < 0.5
        delay = self.random.random() * RUN_BEGINS_SECONDS
        if not (plays and early and shared in (FULL, READ_ONLY)):
            stack.enter_context(self._shared_fault(shared))
            return beside.submit(self._run_plan, shared) if plays else None
        run = beside.submit(self._run_plan, shared)
        time.sleep(delay)
        stack.enter_context(self._shared_fault(shared))
        return run

    def _run_plan(self, shared: str) -> None:
        met = shared in (FULL, READ_ONLY, REPLACED)
        ended = self.plans.play(
            ALONE if met else self._choose(self.shares.of_runs),
            self._package,
            can_write=shared not in (FULL, READ_ONLY),
        )
        fault = shared if met else ended.fault
        self._count(fault)
        self.tally.run_faults += fault != ALONE

    def _choose(self, weights: dict[str, int]) -> str:
        return self.random.choices(list(weights), list(weights.values()))[0]

    @contextmanager
    def _shared_fault(self, shared: str) -> Iterator[None]:
        with ExitStack() as stack:
            if shared == FULL:
                stack.enter_context(full_disk(self.place, self.random.choice((0, 0, 4096, 40_960))))
            elif shared == READ_ONLY:
                places = [self.place.owned, self.place.holdfast, *self.place.projects]
                stack.enter_context(read_only(self.random.choice(places)))
            elif shared == REPLACED:
                folder = self.place.root.parent / "lib"
                again = Random(self.random.random())
                self._package = stack.enter_context(package.replaced(folder, again))
                stack.callback(self._use_own_package)
            elif shared:
                thread = threading.Thread(target=self._stop, args=(shared, self.random.random()))
                thread.start()
                stack.callback(self._start_again, thread, shared)
            yield

    def _use_own_package(self) -> None:
        self._package = ""

    def _stop(self, shared: str, after_seconds: float) -> None:
        time.sleep(after_seconds / 4)
        if shared == STOPPED and self.postgres is not None:
            self.postgres.stop(self.runner.random.choice(STOPS))
        else:
            self.server.end(signal.SIGKILL)

    def _start_again(self, thread: threading.Thread, shared: str) -> None:
        thread.join()
        if shared == STOPPED and self.postgres is not None:
            self.postgres.start()
        else:
            self.server.start()
        self.tally.faults[shared] += 1

    def _all_at_once(
        self, faults: Sequence[str], *, talks: bool = False, is_ending: bool = False
    ) -> None:
        next_step = self._next_hook if is_ending else self._step
        steps = [next_step(number) for number in range(len(self.sessions))]
        with ThreadPoolExecutor(len(self.sessions) + 1) as pool:
            going = [pool.submit(step, fault) for step, fault in zip(steps, faults, strict=True)]
            if talks:
                going.append(pool.submit(self._talk))
            for one in going:
                one.result()

    def _talk(self) -> None:
        for _ in range(self.random.randrange(3)):
            self.board.post(self.server, self.random.choice(self.sessions).id)
        self.board.race(self.server)
        if self.random.random() < 0.5:
            self.board.release(self.server)
        if self.random.random() < 0.5:
            before = self.board.refusals
            self.board.refuse(self.server)
            self.tally.faults[REFUSED] += self.board.refusals - before

    def _step(self, number: int) -> Callable[[str], None]:
        """What this session does next."""
        session = self.sessions[number]
        if session.calls and not self._package and self.random.random() < COMMANDS:
            choices = (self._save, self._send, self._call_tools, self._rebuild)
            chosen = self.random.choices(choices, (4, 3, 2, 1))[0]
            word = self.board.word(session.id) if chosen in (self._send, self._call_tools) else ""
            return lambda fault: chosen(session, fault, word)
        return self._next_hook(number)

    def _next_hook(self, number: int) -> Callable[[str], None]:
        session, firing = self.sessions[number], next(self._plays[number])
        return lambda fault: self._hook(session, firing, fault)

    def _hook(self, session: ScriptedSession, firing: Firing, fault: str) -> None:
        sent = json.dumps(firing.payload)
        command = Command(HOOK, package=self._package)
        ended = self.runner.run(firing.kind, command, sent, fault=fault, cwd=session.project)
        promises.hook(firing.event, ended, session.secrets)
        session.hear(firing.event, ended.out)
        self._count(ended.fault)

    def _count(self, fault: str) -> None:
        with self._lock:
            if fault != ALONE:
                self.tally.faults[fault] += 1

    def _save(self, session: ScriptedSession, fault: str, _: str) -> None:
        where = ["--transcript", str(session.transcript), "--project", str(session.project)]
        ended = self._command(session, fault, "checkpoint", *where, "--json")
        if not ended.was_killed and ended.code == 0:
            self.reported.add(json.loads(ended.out)["path"])

    def _send(self, session: ScriptedSession, fault: str, word: str) -> None:
        ended = self._command(
            session, fault, "board", "post", TOPIC, word, "--to", session.id, "--json"
        )
        if not ended.was_killed and ended.code == 0:
            self.board.sent(word, json.loads(ended.out)["id"])

    def _rebuild(self, session: ScriptedSession, fault: str, _: str) -> None:
        self._command(session, fault, "rebuild")

    def _command(self, session: ScriptedSession, fault: str, *words: str) -> processes.Ended:
        name = f"holdfast {words[0]}"
        ended = self.runner.run(name, cli(*words), fault=fault, cwd=session.project)
        promises.command(name, ended, session.secrets)
        self._count(ended.fault)
        return ended

    def _call_tools(self, session: ScriptedSession, fault: str, word: str) -> None:
        """A client that starts the MCP server, saves, sends, and leaves."""
        command = Command(MCP, environ={"CLAUDE_CODE_SESSION_ID": session.id})
        ended = self.runner.run(
            "MCP", command, _spoken(session.id, word), fault=fault, cwd=session.project
        )
        promises.command("MCP", ended, session.secrets)
        self._count(ended.fault)
        for line in ended.out.splitlines():
            if line.endswith("}"):
                self._answered(json.loads(line), word)

    def _answered(self, answer: dict[str, object], word: str) -> None:
        result = answer.get("result")
        found = result.get("structuredContent") if isinstance(result, dict) else None
        if not isinstance(found, dict):
            return
        if found.get("verified"):
            self.reported.add(str(found["path"]))
        if answer.get("id") == POST:
            self.board.sent(word, str(found["id"]))

    def _check(self, *, rows: bool = True) -> None:
        for session in self.sessions:
            self.reported |= promises.reported_by(session)
        self.tally.checkpoints = max(
            self.tally.checkpoints, promises.checkpoints(self.place, self.reported)
        )
        if not rows:
            return
        store = Store.open(self.place.database)
        try:
            promises.rows(store, [one for one in self.sessions if promises.is_known(one)])
            self.board.check(store)
            promises.messages_unheard(self.board.tags(store), self.sessions)
        finally:
            store.close()

    def _drain(self, forks: Forks) -> None:
        """The end of a place: nothing breaks any more, and everything must have arrived."""
        store = Store.open(self.place.database)
        try:
            self._deliver(store)
            self.listener.check(store)
            self.listener.end()
            self.plans.finish()
            for session in self.sessions:
                self._save(session, ALONE, "")
            if code := self.server.end():
                raise RuntimeError(f"serve ended with {code}: {self.server.log[-5:]}")
            promises.no_process_left(self.place, [forks.pid])
            self._check()
            promises.rows(store, self.sessions)
            promises.same_when_rebuilt(self.place, store)
            promises.nothing_stored(self.place, self.secrets, store)
        finally:
            store.close()
        promises.no_drafts(self.place)

    def _deliver(self, store: Store) -> None:
        """What waits on the board goes to its session, as the watcher sees to every 30 s; a session
        that has just ended gets it once it is resumed."""
        for _ in range(MOST_STEPS):
            outboxes.hand_out(store, int(time.time() * 1000))
            self._all_at_once([ALONE for _ in self.sessions], is_ending=True)
            unheard = promises.messages_unheard(self.board.tags(store), self.sessions)
            given_up = self.board.given_up(store) & {*unheard}
            if given_up == {*unheard}:
                self.tally.given_up += len(given_up)
                return
        raise BrokenPromise(f"messages were never given to the model: {unheard}")

    def _damage_files(self, over: Callable[[], bool], times: int) -> None:
        for _ in range(times):
            if over():
                return
            with damage.put_back(self.place):
                session = self.random.choice(self.sessions)
                changed = damage.one_round(self.runner, session, self.random)
                self.tally.faults[DAMAGED] += changed
                if self.random.random() < RUNS:
                    self.tally.faults[DAMAGED] += (of_run := self.plans.damaged())
                    self.tally.run_faults += of_run

    def _sum_up(self) -> None:
        tally = self.tally
        tally.places += 1
        for session in self.sessions:
            tally.calls += len(session.calls) + sum(map(len, session.agent_calls.values()))
        tally.command_lines += self.runner.command_lines
        tally.events += len(self.listener.seen)
        tally.messages += len(self.board.posted)
        tally.claims += len(self.board.holders)
        tally.plans += self.plans.finished
        tally.tasks += self.plans.tasks
        for kind, points in self.runner.known.items():
            tally.known_points |= {(kind, f"{one.call} {one.number}") for one in points}
        for kind, hit in self.runner.hit.items():
            tally.hit_points |= {(kind, f"{one.call} {one.number}") for one, _ in hit}


HELLO, SAVE, POST = 1, 2, 3


def _spoken(session_id: str, word: str) -> str:
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "torture", "version": "1"},
    }
    post = {"op": "post", "topic": TOPIC, "text": word, "to": session_id}
    lines = (
        {"id": HELLO, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": SAVE, "method": "tools/call", "params": {"name": "checkpoint", "arguments": {}}},
        {"id": POST, "method": "tools/call", "params": {"name": "board", "arguments": post}},
    )
    return "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)


def torture_place(
    seed: str,
    tally: Tally,
    over: Callable[[], bool],
    *,
    postgres: PostgresServer | None,
    number: int = 0,
    rounds: int = ROUNDS,
    shares: str = MIXED,
    keep: Path | None = None,
) -> None:
    """One place from its beginning to its end; `keep` gets a copy of one where a promise broke."""
    address = postgres.new_database() if postgres else ""
    with tempfile.TemporaryDirectory(prefix="holdfast-torture-") as folder:
        try:
            root, upgraded = Path(folder) / "place", number % UPGRADED_EVERY == 1
            with a_place(root, address, upgraded=upgraded) as place, _copied(place, keep):
                chosen = SHARES[shares]
                Campaign(place, Random(seed), tally, postgres, number, chosen).run(over, rounds)
        finally:
            if postgres:
                postgres.drop(address)


@contextmanager
def _copied(place: Place, keep: Path | None) -> Iterator[None]:
    try:
        yield
    except BaseException:
        if keep is not None:
            copy = keep / place.root.parent.name
            sockets = shutil.ignore_patterns("forks")
            shutil.copytree(place.root, copy, symlinks=True, ignore=sockets)
        raise
