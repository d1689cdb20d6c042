"""Secrets planted in everything a session takes in: none is stored, none comes out anywhere.

One session holds a secret of its own in each place where words come from. Its hooks are fired, its
commands, all tools and all reading routes are asked, each must answer, and what they say and every
file they leave is looked through. A run with a Claude of its own is in `tests/run`.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from holdfast.api.app import ROUTES, create
from holdfast.api.responses import Database
from holdfast.checkpoint import index
from holdfast.cli.main import NAMES, holdfast_command
from holdfast.client import sample_payloads
from holdfast.hub.store.store import Store
from holdfast.mcp import tool_table
from holdfast.memory.locations import client_folder
from holdfast.memory.recall import recall
from holdfast.wire import places
from tests.builders import a_boundary, a_prompt, a_result, a_summary, a_transcript, an_answer
from tests.hot.hooks import run
from tests.mcp.clients import DirectClient
from tests.redact.samples import drawn

pytestmark = [pytest.mark.requirement("X4"), pytest.mark.store, pytest.mark.slow]
PIECE_CHARS = 10
LONG_OUTPUT = 9_000


def _value(place: str) -> str:
    return drawn(Random(place), 24)


def _token(place: str) -> str:
    """One that says whose it is, for places where no name stands beside it."""
    return "gh" + "p_" + drawn(Random(place), 36)


PLANTED = {
    place: _token(place) if place in ("path", "branch", "agent", "folder") else _value(place)
    for place in (
        *("prompt", "queued", "tool input", "tool result", "failing command", "answer", "branch"),
        *("summary", "hook prompt", "hook input", "hook result", "hook summary", "long output"),
        *("path", "folder", "task", "todo", "board", "plan", "agent", "agent prompt", "memory"),
        *("pin", "last words", "metadata", "claim"),
    )
}


@dataclass
class Heard:
    """What came out, by where; a planted secret in it is a leak."""

    said: dict[str, str]

    def leaks(self) -> list[str]:
        return [
            f"{place} in {where}"
            for where, text in self.said.items()
            for place, secret in PLANTED.items()
            if any(piece in text.lower() for piece in _pieces(secret.lower()))
        ]


def _pieces(secret: str) -> Iterator[str]:
    """No part of it either: a secret that is cut in two is still half a secret."""
    for at in range(0, len(secret) - PIECE_CHARS + 1, 2):
        yield secret[at : at + PIECE_CHARS]


def _lines() -> list[dict[str, Any]]:
    told = PLANTED
    at = iter(range(1, 100))

    def call(tool: str, given: dict[str, Any], out: str, *, fails: bool = False) -> Any:
        number = next(at)
        answer = an_answer(20_000 + 900 * number, id=f"m{number}")
        answer["gitBranch"] = f"fix/{told['branch']}"
        answer["message"]["content"] = [
            {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given}
        ]
        back = a_result(f"t{number}", out)
        back["gitBranch"] = answer["gitBranch"]
        back["message"]["content"][0]["is_error"] = fails
        return [answer, back]

    said = an_answer(
        30_000, id="said", text=f"I decided to use `{told['prompt']}` because it is long."
    )
    named = an_answer(30_500, id="named", text=f"The client_secret is {told['answer']}, I keep it.")
    last = an_answer(60_000, id="last", text=f"Done. The password for it is {told['last words']}.")
    queued = {"type": "queue-operation", "operation": "enqueue", "sessionId": "s1"}
    todo = {"content": f"rotate API_KEY={told['todo']} today", "status": "in_progress"}
    return [
        a_prompt(f"Always deploy with DB_PASSWORD={told['prompt']} and never print it."),
        a_prompt(f"Please read gauges; the one that counts is {told['prompt']} again."),
        {**queued, "content": f"also set token: {told['queued']} in the file"},
        *call("Bash", {"command": f"mysql -u root -p{told['tool input']} app"}, "ok"),
        *call("Bash", {"command": "cat .env"}, f"API_TOKEN={told['tool result']}\nPORT=1"),
        *call(
            "Bash",
            {"command": f"curl -u bob:{told['failing command']} https://x.example"},
            f"Exit code 1\nerror: bob:{told['failing command']} is refused",
            fails=True,
        ),
        *call("Read", {"file_path": f"/p/{told['path']}/gauge.py"}, "1\tdef gauge(): ..."),
        *call(
            "Edit",
            {"file_path": f"/p/{told['path']}/gauge.py", "old_string": "a", "new_string": "b"},
            "ok",
        ),
        *call(
            "TaskCreate", {"subject": f"rotate the secret_key={told['task']}"}, "Task #1 created"
        ),
        *call("TodoWrite", {"todos": [todo]}, "ok"),
        *call(
            "Agent",
            {
                "description": f"look at {told['agent']}",
                "prompt": f"log in with password: {told['agent prompt']}",
                "subagent_type": "reviewer",
            },
            "looked",
        ),
        said,
        named,
        last,
    ]


class Machine:
    """A project, its session in the client's own folder, and whatever is said about it."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        self.path = Path(client_folder(str(self.project))) / "s1.jsonl"
        self.lines = _lines()
        self.heard = Heard({})
        a_transcript(self.path, *self.lines)

    def hook(self, event: str, *arguments: str, **own: Any) -> None:
        sent = sample_payloads.make_payload(
            event, session_id="s1", transcript=str(self.path), cwd=str(self.project)
        )
        data = json.dumps(sent | own).encode()
        found = run(data, *arguments, environ={"CLAUDE_PROJECT_DIR": str(self.project)})
        assert found.returncode == 0, found.stderr.decode()
        name = " ".join((event, *arguments))
        self.heard.said[f"hook {name} {len(self.heard.said)}"] = (
            found.stdout + found.stderr
        ).decode()

    def command(self, *words: str, given: str | None = None) -> str:
        """One that is refused would prove nothing."""
        found = CliRunner().invoke(holdfast_command, words, input=given)
        assert found.exit_code == 0, (words, found.output, found.exception)
        self.heard.said[f"holdfast {' '.join(words)}"] = found.output
        return found.stdout

    def files(self) -> None:
        """Every file of ours; what the user wrote into the project is the user's."""
        for root in (Path(os.environ["HOLDFAST_HOME"]), self.project / ".claude"):
            for path in sorted(root.rglob("*")):
                shown = str(path.relative_to(root.parent))
                data = path.read_bytes() if path.is_file() else b""
                self.heard.said[f"file {shown}"] = shown + _read(data)


def _read(data: bytes) -> str:
    import gzip
    import zlib

    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    elif data[:1] == b"\x78":
        data = zlib.decompress(data)
    return data.decode("utf-8", "replace")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    monkeypatch.chdir(made.project)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(made.project))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    _session(made)
    return made


def _session(made: Machine) -> None:
    """The hooks of a session, from its start over a compaction to its end."""
    told = PLANTED
    made.hook("SessionStart", source="startup", model="claude-sonnet-4-6")
    made.hook("UserPromptSubmit", prompt=f"my API_KEY={told['hook prompt']} is new")
    for number in range(3):
        made.hook(
            "PostToolUse",
            tool_name="Bash",
            tool_use_id=f"t{number}",
            tool_input={"command": f"PGPASSWORD={told['hook input']} psql"},
            tool_response={"stdout": f"token={told['hook result']}"},
        )
    long = f"password={told['long output']} " + "a line of the log\n" * (LONG_OUTPUT // 16)
    made.hook(
        "PostToolUse",
        *("archive", "8000"),
        tool_name="Bash",
        tool_use_id="t9",
        tool_input={"command": "make log"},
        tool_response={"stdout": long, "stderr": ""},
    )
    made.hook("PreCompact", trigger="auto")
    made.hook("SessionStart", source="compact", model="claude-sonnet-4-6")
    summary = f"The login password is {told['hook summary']}. Also {told['prompt']}; "
    summary += "`curl` passes now and the secret_key rotation is done."
    made.hook("PostCompact", compact_summary=summary)
    written = f"This session is being continued. password={told['summary']} {summary}"
    made.lines += [a_boundary(), a_summary(written), an_answer(15_000, id="after")]
    a_transcript(made.path, *made.lines)
    made.hook("PostToolUse", tool_name="Bash", tool_use_id="t10")
    made.hook("SubagentStop", agent_id="a1", agent_type="reviewer")
    made.hook("Stop")


def _commands(made: Machine) -> None:
    told = PLANTED
    plan = made.project / "plan.md"
    plan.write_text(
        f"# Work\n- [ ] Call it with --token {told['plan']}\n  - size: 30k\n"
        f"- [ ] Then rotate\n  - files: {told['folder']}/a.py\n",
        encoding="utf-8",
    )
    made.command("db", "migrate")
    made.command("checkpoint")
    made.command("rebuild")
    made.command("board", "post", "task.created", f"use password={told['board']} there")
    made.command("pin", f"the api_key is {told['pin']}")
    body = f"token: {told['memory']}\n"
    made.command("memory", "add", "gauges", "--description", "of gauges", "--body", body)
    made.command("compress", "--now", str(made.path))
    listed = made.command("resume", "--json")
    for more in ((), ("--json",)):
        for words in (
            ("board", "list"),
            ("board", "read", "s1", "--peek"),
            ("brief",),
            ("budget",),
            ("diff",),
            ("log",),
            ("lost",),
            ("memory", "list"),
            ("replay", str(made.path)),
            ("resume",),
            ("resume", "latest"),
            ("search", "password"),
            ("search", "rotate"),
            ("segments", "--cold"),
            ("transcripts",),
            ("settings",),
            ("status",),
            ("status", "--all"),
            ("verify",),
        ):
            made.command(*words, *more)
    more_words: tuple[tuple[str, ...], ...] = (
        ("brief", "--explain"),
        ("brief", "--transcript", str(made.path)),
        ("lost", "--transcript", str(made.path)),
        ("lost", "--transcript", str(made.path), "--json"),
        ("log", "--audit"),
        ("resume", "latest", "--load"),
        ("settings", "set", "archive_transcripts", "on"),
        ("status", "--transcript", str(made.path)),
        ("plan", str(plan)),
        ("plan", str(plan), "--json"),
        ("run", str(plan), "--dry-run"),
        ("run", str(plan), "--dry-run", "--json"),
        ("run", str(plan), "--status"),
        ("watch",),
        ("db", "check"),
        ("db", "backup", str(made.project / ".claude" / "backup.db")),
        ("install", "--dry-run"),
    )
    for each in more_words:
        made.command(*each)
    made.command("memory", "rules")
    for path in _archived():
        made.command("expand", path.stem)
    made.command("statusline", given=_status_payload(made))
    assert listed


def _status_payload(made: Machine) -> str:
    return json.dumps(
        {"session_id": "s1", "transcript_path": str(made.path), "cwd": str(made.project)}
    )


def _tools(made: Machine) -> None:
    """All tools; each call must be answered."""
    talk, told = DirectClient(), PLANTED
    asked: list[tuple[str, dict[str, Any]]] = [
        ("status", {}),
        ("checkpoint", {}),
        ("resume", {}),
        ("resume", {"which": "latest"}),
        ("resume", {"which": "now"}),
        ("plan", {"text": f"- [ ] use password={told['plan']}\n"}),
        ("board", {"op": "post", "topic": "task.created", "text": f"token={told['board']}"}),
        ("board", {"op": "claim", "work": "rotate the gauges"}),
        ("board", {"op": "claims"}),
        ("board", {"op": "read"}),
        ("recall", {"query": "password"}),
        ("recall", {"query": "gauge rotate", "cold": True}),
        ("remember", {"name": "tool-fact", "description": "gauges",
                      "text": f"token: {told['memory']}"}),
        ("context_budget", {"op": "status"}),
        ("context_budget", {"op": "pin", "text": f"the api_key is {told['pin']}"}),
        ("segments", {"op": "pending"}),
        ("segments", {"op": "compressed", "cold": True}),
        *(("expand", {"id": path.stem}) for path in _archived()),
        ("forget", {"name": "tool-fact"}),
    ]  # fmt: skip
    assert {tool for tool, _ in asked} == set(tool_table.TOOLS)
    for number, (tool, arguments) in enumerate(asked):
        answer = talk.call(tool, **arguments)
        assert not answer.get("isError"), (tool, arguments, answer)
        made.heard.said[f"tool {tool} {number}"] = json.dumps(answer, ensure_ascii=False)
    refused = talk.call("board", op="claim", work=f"rotate api_key={told['claim']}")
    made.heard.said["tool board, refused"] = json.dumps(refused, ensure_ascii=False)


def _archived() -> list[Path]:
    found = list(Path(places.home(), "outputs").glob("out-*.txt"))
    assert found, "the long output was not archived"
    return found


class Api:
    """The routes of the database the commands have filled."""

    def __init__(self, made: Machine, client: TestClient) -> None:
        self.made, self.client = made, client

    def post(self, noun: str, **body: Any) -> dict[str, Any]:
        answer = self.client.post(f"/api/{noun}", json=body)
        assert answer.is_success, (noun, answer.text)
        self.made.heard.said[f"POST {noun}"] = answer.text
        found: dict[str, Any] = answer.json() if answer.content else {}
        return found

    def get(self, route: str, **params: str) -> None:
        answer = self.client.get(route, params=params)
        assert answer.status_code in (200, 404), (route, answer.text)  # 404: no such wave, say
        self.made.heard.said[f"GET {route}"] = answer.text


def _routes(made: Machine) -> None:
    store = Store.open(f"sqlite:///{places.home()}/holdfast.db")
    app: FastAPI = create(store)
    app.state.database = Database(store)
    with TestClient(app, "http://127.0.0.1:3847") as client:
        api = Api(made, client)
        ids = _written(made, api)
        for route in ROUTES:
            if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
                path = route.path_format
                for name, value in ids.items():
                    path = path.replace(f"{{{name}}}", value)
                assert "{" not in path, f"nothing is known to ask {path} with"
                if not path.endswith("/events"):  # a stream has no end
                    api.get(path, **QUERY, path=str(made.project), newer=ids["checkpoint_id"])
    store.close()


QUERY = {"blocker": "a", "blocked": "b", "session_id": "s1", "q": "password", "keyword": "true"}


def _written(made: Machine, api: Api) -> dict[str, str]:
    """Each noun with a secret in its words; what they are called by."""
    words = f"use password={PLANTED['metadata']} there"
    project = api.post("projects", path=str(made.project), metadata={"note": words})["project"]
    request = api.post(
        "requests", project_id=project["id"], session_id="s1", prompt=words, prompt_type="feature"
    )["request"]
    task = api.post("tasks", request_id=request["id"], name=words)["task"]
    subtask = api.post("subtasks", task_id=task["id"], agent_type="reviewer", description=words)[
        "subtask"
    ]
    api.post(
        "messages", project_id=project["id"], from_agent_id="a", to_agent_id="b",
        topic="task.created", content={"text": words, "api_key": PLANTED["metadata"]},
    )  # fmt: skip
    api.post("actions", session_id="s1", tool_name="Bash", tool_type="builtin", input=words)
    api.post("claims", project_id=project["id"], agent_id="a", work=words)
    api.post("compact/save", session_id="s1", context_summary=words, key_decisions=[words])
    summary = f"the password is {PLANTED['hook summary']}"
    api.post("compact/restore", session_id="s1", agent_id="s1", compact_summary=summary)
    return {
        "project_id": project["id"],
        "request_id": request["id"],
        "task_id": task["id"],
        "subtask_id": subtask["id"],
        "session_id": "s1",
        "agent_id": "s1",
        "number": "1",
        "checkpoint_id": index.load_or_empty()[0].id,
        "item_id": recall("password", project=str(made.project), by_keyword=True).found[0].id,
    }


def test_no_planted_secret_is_stored_or_comes_out(machine: Machine) -> None:
    _commands(machine)
    _tools(machine)
    _routes(machine)
    machine.hook("SessionEnd", reason="exit")
    machine.files()
    for where in (
        "holdfast lost",
        "holdfast brief",
        "file .holdfast/holdfast.db",
        "GET /api/requests",
    ):
        assert "[redacted" in machine.heard.said[where], f"nothing was said in {where}"
    leaks = machine.heard.leaks()
    assert not leaks, "\n".join(leaks)


def test_the_test_sees_what_is_not_taken_out(machine: Machine) -> None:
    machine.heard.said["an error"] = f"it is {PLANTED['task'][3:15]}"
    assert machine.heard.leaks() == ["task in an error"]


ASKED_ELSEWHERE = {
    "doctor": "fires the hooks above",
    "help": "prints our own words",
    "mcp": "its tools are asked above",
    "roll": "the older name of compress",
    "serve": "its routes are asked above",
    "ui": "prints a link",
    "uninstall": "says which of our lines go",
}


def test_every_command_is_asked() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    missing = [name for name in NAMES if f'("{name}"' not in source]
    assert sorted(missing) == sorted(ASKED_ELSEWHERE)
