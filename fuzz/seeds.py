"""What each target starts from: small valid inputs, made with the product's own writers."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINES_EACH = 12


def transcript() -> list[bytes]:
    """Pieces of the recorded session."""
    lines = (ROOT / "demo" / "session.jsonl").read_bytes().splitlines(keepends=True)
    short = [line for line in lines if len(line) < 4_000]
    pieces = [short[at : at + LINES_EACH] for at in range(0, len(short), LINES_EACH)]
    return [b"".join(one) for one in pieces]


def payload() -> list[bytes]:
    from holdfast.client import sample_payloads

    sent = [
        sample_payloads.make_payload(event, session_id="s", transcript="/t.jsonl", cwd="/p")
        for event in sample_payloads.EVENTS
    ]
    return [json.dumps(one).encode() for one in sent]


def hook() -> list[bytes]:
    """Choices of each event, after transcripts of several lengths."""
    return [
        bytes((lines, *(2, 0, 0, 0) * lines, 0, event, 0, 0))
        for lines in (0, 3)
        for event in range(10)
    ]


def checkpoint() -> list[bytes]:
    from msgspec.structs import replace

    from holdfast.checkpoint.checkpoint_file import TRIGGERS, Document, normalize, render

    sections = {"Next Steps": ["chart the tide", "two\nlines"], "Key Decisions": ["metres & feet"]}
    began = datetime(2026, 1, 5, tzinfo=UTC)
    bare = [Document(began, trigger, "/p", "s1") for trigger in TRIGGERS]
    full = [replace(one, sections=sections, parent="a.md", iteration=3) for one in bare]
    return [render(normalize(one)) for one in (*bare, *full)]


def settings() -> list[bytes]:
    from holdfast.settings.table import TABLE

    lines = [f"{one.name} = {json.dumps(one.default)}" for one in TABLE]
    own = "\n".join(lines).encode()
    return [own, own + b"\n---\n" + own, *(line.encode() for line in lines)]


def client_settings() -> list[bytes]:
    hooks = {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}]}
    line = {"type": "command", "command": "~/line.sh", "padding": 2}
    whole = {"model": "opus", "hooks": hooks, "statusLine": line, "env": {"A": "1"}}
    layouts = [json.dumps(whole, indent=indent) for indent in (None, 2, "\t")]
    return [one.encode() for one in (*layouts, "{}", "", '{"hooks": {}}', '{"a": [1, 2.5e3]}')]


def plan() -> list[bytes]:
    tasks = [
        {"id": "a", "title": "Read the gauges", "files": ["src/a.py"], "subtasks": ["one", "two"]},
        {"id": "b", "title": "Chart them", "depends": ["a"], "tokens": 5000, "tool_calls": 4},
    ]
    markdown = (
        "# Tides\n\n- [ ] 1. Read the gauges\n  - files: src/a.py\n- [x] 2. Chart (after 1)\n"
    )
    yaml = "title: Tides\ntasks:\n- id: a\n  title: Read\n- id: b\n  title: Chart\n  depends: [a]\n"
    texts = [json.dumps({"title": "Tides", "tasks": tasks}), json.dumps(tasks), markdown, yaml]
    return [one.encode() for one in (*texts, "1. Read\n2. Chart (needs: 1)\n3. Print all above\n")]


SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "transcript": transcript,
    "payload": payload,
    "hook": hook,
    "checkpoint": checkpoint,
    "settings": settings,
    "client_settings": client_settings,
    "plan": plan,
}
