"""Plans that `holdfast run` plays with a stand-in for Claude Code, and what must be true of them.

The stand-in notes what it did, in a folder that no fault touches. After each run, however it ended,
that is compared with what the journal and the commands say.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from holdfast.run.claude_process import note_path, read_note
from holdfast.run.journal import Journal, SessionRecord, journal_folder, read_history
from holdfast.run.report import DONE
from torture import damage, promises, stand_in
from torture.board import must
from torture.commands import Command, cli
from torture.place import Place
from torture.processes import ALONE, CLOCK, INTERRUPTED, KILLED, Ended, Runner
from torture.script import WORDS

STAND_IN = Path(stand_in.__file__)
KIND = "holdfast run"
TASKS = (2, 4)  # of a plan
TOKENS = ("20k", "70k")  # of which two or one fit into a session
AGREES = 0.3  # how often the commands are asked after a run, too
INTERRUPTED_CODES = (130, 143)
RUN_SECONDS = 4.0  # in which kills come, at first
SEES_ENDS = (ALONE, KILLED, INTERRUPTED, CLOCK)  # the others may hit a supervisor, too


@dataclass(frozen=True, slots=True)
class Plan:
    """A file with a few tasks; the stand-in reads in their ids how each is done."""

    path: Path
    project: Path
    tasks: tuple[str, ...]
    text: str

    @property
    def folder(self) -> str:
        return journal_folder(self.path, self.project)


class Plans:
    """One plan after another, each run again and again until it is done."""

    def __init__(self, place: Place, runner: Runner, random: Random) -> None:
        self.place, self._runner, self._random = place, runner, random
        self._client = _write_client(place)
        self._numbers = iter(range(1 << 20))
        self.finished = self.tasks = 0
        self.plan = self._write_plan()
        runner.seconds |= dict.fromkeys((KIND, f"{KIND}, from its command line"), RUN_SECONDS)

    def _write_plan(self) -> Plan:
        """At most one of its tasks fails, once: a session that fails twice ends the run."""
        number, random = next(self._numbers), self._random
        ways = random.choices(stand_in.WAYS[:-1], k=random.randint(*TASKS))
        if random.random() < 0.3:
            ways[0] = stand_in.FAILS
        random.shuffle(ways)
        titles = [f"{random.choice(WORDS)} {number} {at} {way}" for at, way in enumerate(ways)]
        lines = [f"- [ ] {one}\n  - estimate: {random.choice(TOKENS)}\n" for one in titles]
        if random.random() < 0.5:
            lines[-1] += f"  - depends: {titles[0]}\n"
        path = self.place.work / f"plan-{number}.md"
        text = "# Harbour\n" + "".join(lines)
        path.write_text(text, encoding="utf-8")
        project = random.choice(self.place.projects)
        return Plan(path, project, tuple(one.replace(" ", "-") for one in titles), text)

    def play(self, fault: str, package: str = "", *, can_write: bool = True) -> Ended:
        """Run the plan, under a fault or not, and check. A plan that is done makes room for the
        next one. `can_write`: neither is the disk full nor a folder read-only meanwhile."""
        known, begun = self._known_done(), self._begun()
        ended = self._run(fault, package, "--max-parallel", self._random.choice(("1", "2")))
        if ended.was_killed and ended.killed_children:  # nobody is left who could end the others
            promises.end_clients(self.place)
        promises.no_client_left(self.place, at_once=ended.code in INTERRUPTED_CODES)
        if not package:  # without a package, Python itself may report what is missing
            promises.command(KIND, ended, [])
        must(fault != INTERRUPTED or not ended.was_killed, "a run did not end at a signal")
        self.check(known, begun, sees_ends=ended.fault in SEES_ENDS and not package)
        must(self.plan.path.read_text(encoding="utf-8") == self.plan.text, "a plan was changed")
        if ended.code == 0:
            self._next_plan(can_write=can_write)
        elif self._random.random() < AGREES:
            self._commands_agree()
        return ended

    def finish(self) -> None:
        """Without a fault, a run goes on to the end of the plan; the next one has nothing to do."""
        plan = self.plan
        ended = self.play(ALONE)
        must(
            ended.code == 0, f"a run that met no fault ended with {ended.code}: {ended.err[-900:]}"
        )
        must(self.plan is not plan, "a run that met no fault did not finish its plan")

    def damaged(self) -> int:
        """Damage the journal of a killed run: the next run finishes the plan or says why not."""
        self.play(self._random.choice((INTERRUPTED, ALONE)))
        path = Path(f"{self.plan.folder}/journal.jsonl")
        if not path.is_file() or not damage.is_changed(self._random, path):
            return 0
        for words in (("--status", "--json"), ("--dry-run", "--json"), ()):
            ended = self._run(ALONE, "", *words)
            promises.command(KIND, ended, [])
        promises.no_client_left(self.place)
        if ended.code == 0:
            lost = {*self.plan.tasks} - self.really_done()
            must(not lost, f"with a damaged journal these count as done, and are not: {lost}")
        else:
            must("Error" in ended.err or "holdfast:" in ended.err, f"no reason: {ended.err!r}")
        self.plan = self._write_plan()
        return 1

    def _run(self, fault: str, package: str, *options: str) -> Ended:
        plan = self.plan
        named = ["--client-binary", str(self._client), "--project", str(plan.project), *options]
        command = Command("cli", ("run", str(plan.path), *named), package=package)
        return self._runner.run(KIND, command, fault=fault, cwd=plan.project)

    def _next_plan(self, *, can_write: bool) -> None:
        plan, done = self.plan, self._journal_done()
        must(
            done == {*plan.tasks},
            f"a run ended with 0, and these are left: {set(plan.tasks) - done}",
        )
        self._commands_agree()
        self._run_again(can_write=can_write)
        self.finished += 1
        self.tasks += len(plan.tasks)
        self.plan = self._write_plan()

    def _run_again(self, *, can_write: bool) -> None:
        """A finished plan has nothing to do. A run that cannot even note that it runs says why."""
        begun, ended = self._begun(), self._run(ALONE, "")
        promises.command(KIND, ended, [])
        says_why = not can_write and "holdfast:" in ended.err
        must(
            ended.code == 0 or says_why, f"a finished plan cannot be run again: {ended.err[-900:]}"
        )
        must(self._begun() == begun, "a finished plan was begun again")

    def check(self, known: set[str], begun: list[tuple[str, str]], *, sees_ends: bool) -> None:
        """What was known as done was really done, and not begun again; no session is unknown."""
        self._check_lines()
        more = self._begun()[len(begun) :]
        again = known & {task for _, task in more}
        must(not again, f"done, known as done, and begun again: {again}")
        false = self._known_done() - self.really_done()
        must(not false, f"recorded as done, and not done: {false}")
        unknown = {session for session, _ in more} - {one.session_id for one in self._sessions()}
        must(not unknown, f"sessions that are not in the journal: {unknown}")
        ended = {session for step, session, _ in self._log() if step == stand_in.ENDED}
        lost = ended & {session for session, _ in more} - {*self._done_sessions()}
        must(
            not (sees_ends and lost), f"sessions that gave their result, and are not known: {lost}"
        )

    def _check_lines(self) -> None:
        """All lines of the journal can be read; the last one may be torn."""
        path = Path(f"{self.plan.folder}/journal.jsonl")
        data = path.read_bytes() if path.exists() else b""
        for line in data.split(b"\n")[:-1]:
            must(isinstance(json.loads(line), dict), f"a line of the journal: {line!r}")

    def _log(self) -> list[tuple[str, str, str]]:
        return stand_in.read_log(str(self.place.work))

    def _begun(self) -> list[tuple[str, str]]:
        """Session and task, of this plan, in order."""
        of_plan = {*self.plan.tasks}
        found = [one for one in self._log() if one[0] == stand_in.BEGUN]
        return [(session, task) for _, session, task in found if task in of_plan]

    def really_done(self) -> set[str]:
        return {task for step, _, task in self._log() if step == stand_in.DONE}

    def _sessions(self) -> list[SessionRecord]:
        return read_history(Journal(self.plan.folder, only_read=True)).sessions

    def _journal_done(self) -> set[str]:
        return {share.id for one in self._sessions() for share in one.done_shares}

    def _done_sessions(self) -> Iterator[str]:
        """Those that the journal, or the note of its supervisor, reports as done."""
        for one in self._sessions():
            if one.result == DONE or (not one.result and self._noted_done(one.session_id)):
                yield one.session_id

    def _noted_done(self, session: str) -> bool:
        return read_note(note_path(self.plan.folder, session)).is_success

    def _known_done(self) -> set[str]:
        done = {*self._done_sessions()}
        noted = [one for one in self._sessions() if one.session_id in done]
        return self._journal_done() | {share.id for one in noted for share in one.shares}

    def _commands_agree(self) -> None:
        """What the commands show as left is what the journal has left."""
        left = {*self.plan.tasks} - self._journal_done()
        shown = {"run --status": self._left_by_status(), "run --dry-run": self._left_by_dry_run()}
        for name, found in {**shown, "plan": self._left_by_plan()}.items():
            must(found == left, f"{name} shows as left {sorted(found)}, and it is {sorted(left)}")

    def _left_by_status(self) -> set[str]:
        found = json.loads(self._run(ALONE, "", "--status", "--json").out)
        return {task["id"] for task in found["tasks"] if task["state"] != "done"}

    def _left_by_dry_run(self) -> set[str]:
        found = json.loads(self._run(ALONE, "", "--dry-run", "--json").out)
        return {task for session in found for task in session["tasks"]}

    def _left_by_plan(self) -> set[str]:
        plan = self.plan
        command = cli("plan", str(plan.path), "--project", str(plan.project), "--json")
        found = json.loads(self._runner.run("plan", command, fault=ALONE, cwd=plan.project).out)
        batches = [node for node in found["nodes"].values() if "tasks" in node]
        return {task["id"] for batch in batches for task in batch["tasks"]}


def _write_client(place: Place) -> Path:
    """A program `claude`, as it is found by its name."""
    place.work.mkdir(exist_ok=True)
    words = [sys.executable, "-I", "-S", str(STAND_IN), str(place.work), str(place.transcripts)]
    client = place.work / "claude"
    client.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    client.chmod(0o700)
    return client
