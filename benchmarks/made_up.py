"""A made-up session, line by line as the client writes it: to measure on, and the same each time.

Answers of several lines with usage, thinking, words and calls; results stored twice (in the
message and as `toolUseResult`); prompts with rules; a task list; errors and their fixes; and a
boundary with its summary each time the window is full.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

ROOT = "/home/ada/tides"
BEGAN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
AROUND = {
    "parentUuid": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    "isSidechain": False,
    "userType": "external",
    "cwd": ROOT,
    "sessionId": "bench",
    "version": "2.1.325",
    "promptSource": "typed",
    "gitBranch": "gauges",
}
PROMPTS = (
    "Please teach the parser in src/tides/parse.py to read gauge files with two headings.",
    "Always run `make check` before you commit, and never touch data/raw.",
    "no, use `decimal` and not floats for the heights",
    "Good. Now the same for the northern stations, and keep the old names working.",
    "why does test_station_17 fail? please look at the log first",
    "yes, go on",
)
WORDS = (
    *("station", "gauge", "height", "tide", "window", "parser", "heading", "column", "reading"),
    *("merge", "offset", "harbour", "chart", "datum", "level", "series", "north", "coast"),
    *("table", "value", "missing", "filter", "round", "check", "compare", "return"),
)
FULL_TOKENS, PER_ROUND_TOKENS = 165_000, 900


def write(path: Path, size: int, *, first_round: int = 0, append: bool = False) -> int:
    """Rounds until the file grew by `size` bytes; the number of the round to go on with."""
    number, written = first_round, 0
    with path.open("ab" if append else "wb") as file:
        while written < size:
            for line in _round(number):
                written += file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            number += 1
    return number


def _round(number: int) -> Iterator[dict[str, Any]]:
    """Now and then a prompt, then an answer with one call, and its result."""
    random = Random(number)
    since = number % (FULL_TOKENS // PER_ROUND_TOKENS)
    used = 20_000 + since * PER_ROUND_TOKENS
    if number and since == 0:
        yield from _compaction(number, random)
    if number % 12 == 0:
        yield _line(number, 0, "user", {"role": "user", "content": PROMPTS[number // 12 % 6]})
    tool, given, result, record = _call(number, random)
    blocks: list[dict[str, Any]] = []
    if number % 2 == 0:
        blocks.append({"type": "thinking", "thinking": _prose(random, 60), "signature": "Eq" * 150})
    if number % 3 == 0:
        blocks.append({"type": "text", "text": f"I'll look at `{given_name(given)}` next."})
    blocks.append({"type": "tool_use", "id": f"toolu_{number:024}", "name": tool, "input": given})
    for at, block in enumerate(blocks):
        yield _line(number, at + 1, "assistant", _message(number, block, used))
    block = {"tool_use_id": f"toolu_{number:024}", "type": "tool_result", "content": result}
    if result.startswith("Exit code"):
        block["is_error"] = True
    told = {"role": "user", "content": [block]}
    copy = {"toolUseResult": record, "sourceToolAssistantUUID": AROUND["parentUuid"]}
    yield _line(number, 8, "user", told) | copy


def given_name(given: dict[str, Any]) -> str:
    return str(given.get("file_path") or given.get("command") or "the tasks")


def _call(number: int, random: Random) -> tuple[str, dict[str, Any], str, Any]:
    """(tool, what it was given, what the model saw, what the client stored beside it)."""
    path = f"{ROOT}/src/tides/{random.choice(WORDS)}_{int(random.paretovariate(0.7)) % 40}.py"
    kind = number % 10
    if kind < 4:
        code = _code(random, random.randint(20, 160))
        shown = "".join(f"{n:6}\t{line}\n" for n, line in enumerate(code.split("\n"), 1))
        file = {"filePath": path, "content": code, "numLines": code.count("\n"), "startLine": 1}
        return "Read", {"file_path": path}, shown, {"type": "text", "file": file}
    if kind < 6:
        old, new = _code(random, 4), _code(random, 7)
        given: dict[str, Any] = {"file_path": path, "old_string": old, "new_string": new}
        record: dict[str, Any] = {"filePath": path, "oldString": old, "newString": new}
        record |= {"structuredPatch": []}
        record |= {"originalFile": _code(random, 120), "userModified": False}
        return "Edit", given, f"The file {path} has been updated.\n{new}", record
    if kind == 9 and number % 3 == 0:
        todos = [
            {"content": f"Read the {word} files", "status": status, "activeForm": "Reading"}
            for word, status in zip(WORDS[:3], ("completed", "in_progress", "pending"), strict=True)
        ]
        return "TodoWrite", {"todos": todos}, "Todos have been modified.", {"newTodos": todos}
    return _shell(number, random, path)


def _shell(number: int, random: Random, path: str) -> tuple[str, dict[str, Any], str, Any]:
    command = (
        f"make check 2>&1 | tail -{20 + number % 5}",
        f"grep -rn 'def {random.choice(WORDS)}' src/tides | head -40",
        f".venv/bin/pytest -q tests/test_{random.choice(WORDS)}.py -k station",
        f"git add -A && git commit -m 'Read {random.choice(WORDS)} files with two headings'",
    )[number % 4]
    out = "".join(
        f"{path}:{random.randint(1, 400)}: {_prose(random, 9)}\n"
        for _ in range(random.randint(2, 50))
    )
    given = {"command": command, "description": "Look"}
    if number % 17 == 0:
        out = f"Exit code 1\n{out}\nE   ValueError: two headings in {path}\n1 failed, 16 passed"
        return "Bash", given, out, f"Error: {out}"
    return "Bash", given, out, {"stdout": out, "stderr": "", "interrupted": False, "isImage": False}


def _compaction(number: int, random: Random) -> Iterator[dict[str, Any]]:
    data = {"trigger": "auto", "preTokens": FULL_TOKENS + 2_000, "postTokens": 6_000}
    boundary = _line(number, 0, "system", {}) | {"subtype": "compact_boundary"}
    del boundary["message"]
    yield boundary | {"content": "Conversation compacted", "compactMetadata": data}
    words = "This session is being continued. " + _prose(random, 800)
    summary = _line(number, 0, "user", {"role": "user", "content": words})
    yield summary | {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}


def _message(number: int, block: dict[str, Any], used: int) -> dict[str, Any]:
    usage = {"input_tokens": 4, "cache_creation_input_tokens": 800, "output_tokens": 240}
    return {
        "id": f"msg_{number:022}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": [block],
        "stop_reason": "tool_use",
        "usage": usage | {"cache_read_input_tokens": used, "service_tier": "standard"},
    }


def _line(number: int, part: int, kind: str, message: dict[str, Any]) -> dict[str, Any]:
    at = BEGAN + timedelta(seconds=20 * number + part)
    own = {"type": kind, "message": message, "uuid": f"{number:08x}-0000-4000-8000-{part:012}"}
    return AROUND | own | {"timestamp": at.isoformat(timespec="milliseconds")[:-6] + "Z"}


def _prose(random: Random, count: int) -> str:
    return " ".join(random.choices(WORDS, k=count))


def _code(random: Random, count: int) -> str:
    return "\n".join(
        f"    {a}_{b} = {c}(self.{b}, key='{a}', index={random.randint(0, 99)})"
        for a, b, c in (random.choices(WORDS, k=3) for _ in range(count))
    )
