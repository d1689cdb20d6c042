"""The session as a list of turns: facts, and ordinary work between them, in the seed's order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.trial.script import ScriptedToolCall, bash

from benchmarks.endurance.facts import HERE, Fact, choose, of_window, pools
from benchmarks.endurance.failures import command_of, failing_output, passing_output

STEPS = (16, 26)  # answers of the model in one window
# The steps right after a compaction: the request after each of them is still scored.
AFTER = ("wc -l README.md", "uname -s")
NOISE = (
    "ls notes",
    "wc -l README.md",
    "head -3 notes/layout.md",
    "make lint",
    "cargo check -q",
    "go vet ./cmd",
    "pytest -q tests/test_smoke.py",
    "npx prettier --check notes",
)
FILES = tuple(f"lib/{name}.py" for name in ("loader", "parser", "helpers", "types", "paths"))


@dataclass(frozen=True)
class Step:
    """One answer of the model with its one tool call; `typed` arrives while it is awaited."""

    says: str
    call: ScriptedToolCall
    typed: str = ""


@dataclass(frozen=True)
class Turn:
    """What the user typed, what the model did, and its last words."""

    prompt: str
    steps: tuple[Step, ...]
    closes: str


@dataclass(frozen=True)
class Window:
    """The turns that begin in one window. In the last of them the window is full after `full_after`
    steps; what follows happens in the next window. A `next_prompt` is typed there first. A window
    that is closed by hand is not full: the user types `/compact` after its last turn."""

    turns: tuple[Turn, ...]
    full_after: int
    next_prompt: str
    is_closed_by_hand: bool = False


@dataclass
class Stage:
    """What the machine of the session must know beforehand, collected while the story is made."""

    files: tuple[str, ...] = ()
    outputs: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    findings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Story:
    facts: tuple[Fact, ...]
    windows: tuple[Window, ...]
    stage: Stage


def tell(
    seed: int,
    windows: int,
    closed_by_hand: Collection[int] = (),
    folder: Path = HERE,
    without: Collection[str] = (),
) -> Story:
    """The whole session; the same seed tells the same story. Facts of the pools that it is
    `without` are not planted."""
    facts = choose(seed, windows, folder, without)
    writer = _Writer(Random(f"story {seed}"), facts, pools(folder)["filler"])
    told = tuple(
        writer.window(number, is_closed_by_hand=number in closed_by_hand)
        for number in range(1, windows + 1)
    )
    return Story(tuple(facts), told, writer.stage)


@dataclass
class _Draft:
    """A turn while it is being filled; a `reply` follows it as a turn of its own."""

    words: list[str]
    closes: str = ""
    reply: str = ""
    happenings: list[list[Step]] = field(default_factory=list)

    @property
    def answers(self) -> int:
        return 1 + bool(self.reply) + sum(map(len, self.happenings))


class _Writer:
    def __init__(
        self, random: Random, facts: Sequence[Fact], filler: Mapping[str, Sequence[str]]
    ) -> None:
        self._random, self._facts, self._filler = random, facts, filler
        flying = [
            fact.about["file"]
            for fact in facts
            if fact.pool == "in_flight" and "file" in fact.about
        ]
        self.stage = Stage(files=(*FILES, *flying))

    def window(self, number: int, *, is_closed_by_hand: bool = False) -> Window:
        """The user's words make the turns; what else happens is spread over them, then noise."""
        facts = of_window(self._facts, number)
        over = [fact for fact in self._facts if fact.ends == number and fact.pool != "in_flight"]
        drafts = [draft for fact in facts for draft in self._spoken(fact)]
        drafts += [_Draft([fact.about["done"]]) for fact in over if fact.pool == "asked_task"]
        self._random.shuffle(drafts)
        drafts += [_Draft([self._one("asks")]) for _ in range(2 - len(drafts))]
        [flying] = [fact for fact in facts if fact.pool == "in_flight"]
        drafts.append(_Draft([flying.about["says"]]))
        for happening in self._happenings(facts, over):
            self._random.choice(drafts).happenings.append(happening)
        self._pad(drafts)
        made = [turn for draft in drafts for turn in self._made(draft)]
        return self._filled(made, self._flight(flying), is_closed_by_hand)

    def _filled(self, turns: list[Turn], flight: list[Step], by_hand: bool) -> Window:
        """Half of the windows go on with two more calls, half with the end of the turn."""
        last = turns.pop()
        next_prompt = self._one("on") if self._random.random() < 0.5 or by_hand else ""
        after = [] if next_prompt else [Step("", bash(command)) for command in AFTER]
        turns.append(Turn(last.prompt, (*last.steps, *flight, *after), last.closes))
        return Window(tuple(turns), len(last.steps) + len(flight), next_prompt, by_hand)

    def _one(self, what: str) -> str:
        return str(self._random.choice(self._filler[what]))

    def _spoken(self, fact: Fact) -> Iterator[_Draft]:
        """The turn that a fact makes, if the user says it."""
        about = fact.about
        if fact.pool in ("rule", "pointed", "asked_task"):
            begins = [self._one("asks")] if self._random.random() < 0.7 else []
            yield _Draft([*begins, about["says"]])
        elif fact.pool == "correction":
            ends = [self._one("asks")] if self._random.random() < 0.4 else []
            yield _Draft([about["says"], *ends])
        elif fact.pool == "slash":
            yield _Draft([f"/{about['command']} {about['says']}"])
        elif fact.pool == "replied":
            yield _Draft([self._one("asks")], closes=about["asks"], reply=about["reply"])

    def _made(self, draft: _Draft) -> Iterator[Turn]:
        steps = tuple(step for happening in draft.happenings for step in happening)
        yield Turn(" ".join(draft.words), steps, draft.closes or self._one("closes"))
        if draft.reply:
            yield Turn(draft.reply, (), self._one("closes"))

    def _happenings(self, facts: Sequence[Fact], over: Sequence[Fact]) -> list[list[Step]]:
        made = [steps for fact in facts if (steps := self._happening(fact))]
        made += [steps for fact in over if (steps := self._ending(fact))]
        self._random.shuffle(made)
        return made

    def _happening(self, fact: Fact) -> list[Step]:
        about, pool, stage = fact.about, fact.pool, self.stage
        if pool == "failure":
            command = command_of(about)
            stage.outputs[command] = [(failing_output(about), 1), (passing_output(about), 0)]
            return [Step("Let me run it.", bash(command))]
        if pool == "task":
            call = {"subject": about["subject"], "description": "Asked for by the team."}
            return [Step("", ScriptedToolCall("TaskCreate", call))]
        if pool == "plan" and about["place"] == 0:
            return [self._run(_plan(about))]
        if pool == "chosen":
            stage.answers[about["question"]] = about["answer"]
            return [
                Step("I need to know one thing.", ScriptedToolCall("AskUserQuestion", _asks(about)))
            ]
        if pool == "queued":
            return [self._run(typed=about["says"])]
        if pool == "refused":
            stage.refusals[about["command"]] = about["says"]
            return [Step("", bash(about["command"]))]
        if pool == "decision" or (pool == "found" and "says" in about):
            return [self._run(about["says"])]
        if pool in ("ran", "found"):
            stage.outputs[about["command"]] = [(about["output"], 0)]
            return [Step("", bash(about["command"]))]
        if pool == "written":
            call = {"file_path": about["path"], "content": "begun\n"}
            return [Step("", ScriptedToolCall("Write", call))]
        if pool == "agent":
            stage.findings[about["task"]] = about["returns"]
            return [Step("", ScriptedToolCall("Agent", _agent(about)))]
        return []

    def _ending(self, fact: Fact) -> list[Step]:
        """The evidence: a passing run, a task update, a step that is reported with its run."""
        about = fact.about
        if fact.pool == "failure":
            rerun = Step("That should do.", bash(command_of(about)))
            return [*self._edit("I know what it is."), rerun]
        if fact.pool == "task":
            call = {"taskId": about["subject"], "status": "completed"}
            return [Step("", ScriptedToolCall("TaskUpdate", call))]
        if fact.pool == "plan":
            run = f"pytest -q tests/test_step_{fact.number}.py"
            self.stage.outputs[run] = [("6 passed in 0.20s", 0)]
            says = f"The first step is done: {about['step']}. Its tests pass."
            return [*self._edit("Now the first step."), Step("", bash(run)), self._run(says)]
        return []

    def _pad(self, drafts: Sequence[_Draft]) -> None:
        wanted = self._random.randint(*STEPS)
        while sum(draft.answers for draft in drafts) < wanted:
            happenings = self._random.choice(drafts).happenings
            happenings.insert(self._random.randint(0, len(happenings)), self._noise())

    def _noise(self) -> list[Step]:
        kind = self._random.choice(("read", "edit", "run", "run"))
        if kind == "run":
            return [self._run()]
        edit = self._edit("")
        return edit if kind == "edit" else edit[:1]

    def _run(self, says: str = "", typed: str = "") -> Step:
        return Step(says, bash(self._random.choice(NOISE)), typed)

    def _edit(self, says: str, path: str = "") -> list[Step]:
        """Read, then change one line; what stands there is known only when it is played."""
        where = {"file_path": path or self._random.choice(FILES)}
        return [
            Step(says, ScriptedToolCall("Read", where)),
            Step("", ScriptedToolCall("Edit", where)),
        ]

    def _flight(self, fact: Fact) -> list[Step]:
        if "command" in fact.about:
            self.stage.outputs[fact.about["command"]] = [("ok", 0)]
            return [Step("", bash(fact.about["command"]))]
        return self._edit("", fact.about["file"])


def _plan(about: Mapping[str, Any]) -> str:
    steps, opens = [step["says"] for step in about["steps"]], about["opens"]
    if about["style"] == "prose":
        return f"{opens} First {steps[0]}, then {steps[1]}, and finally {steps[2]}."
    marks = ("-", "-", "-") if about["style"] == "bullets" else ("1.", "2.", "3.")
    return "\n".join((opens, *(f"{mark} {step}" for mark, step in zip(marks, steps, strict=True))))


def _asks(about: Mapping[str, Any]) -> dict[str, object]:
    options = [{"label": one, "description": one} for one in about["options"]]
    one = {"question": about["question"], "header": "Choice", "options": options}
    return {"questions": [{**one, "multiSelect": False}]}


def _agent(about: Mapping[str, Any]) -> dict[str, object]:
    return {
        "description": about["task"],
        "prompt": f"{about['task']}.",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
