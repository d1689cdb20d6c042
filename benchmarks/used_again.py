"""What a run of lines had, and what the session used of it afterwards: the judge of a compression.

Files, commands, names, references and rules are found in what the model and the user wrote, never
in what tools printed. Nothing of the product is imported here, so that it is not judged by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WEIGHTS = {"file": 0.30, "command": 0.20, "name": 0.25, "reference": 0.10, "rule": 0.15}
LEAST_ITEMS = 3
_ENDINGS = (
    "go|py|pyi|ts|tsx|js|jsx|mjs|cjs|rs|c|h|cc|cpp|hpp|cu|cuh|java|kt|swift|rb|php|cs|sh|sql|proto|"
    "md|rst|txt|json|jsonl|yaml|yml|toml|ini|cfg|lock|xml|html|css|scss|vue|svelte|tf|gradle|cmake|"
    "mk|csv|ipynb|tex|bib|svg|mod|sum|log|diff|patch"
)
_PATH = re.compile(
    rf"(?<![\w@])(?:~/|\.{{1,2}}/|/)?(?:[\w.@+-]+/)*[\w.@+-]+\.(?:{_ENDINGS})\b(?!\()"
)
_NAME = re.compile(r"(?<![\w/.])[A-Za-z_]\w{5,59}(?![\w/])")
_SHAPED = re.compile(r"[a-z][A-Z]|[A-Za-z]_[A-Za-z]|[A-Z]{2}[a-z]")
_REFERENCE = re.compile(
    r"https?://[^\s\"'`<>)\]}\\]{6,150}|(?<![\w/])#\d{2,5}\b|\b[A-Z]{2,6}-\d{2,5}\b"
)
_SPLIT = re.compile(r"&&|\|\||[;|\n]")
_RULE = re.compile(r"(?i)\b(?:always|never|don't|do not|must not|make sure|instead of|prefer)\b")
_LOOKING_WORDS = (
    "ls cat head tail grep egrep rg find fd echo printf cd pwd wc sort uniq sed awk cut tr tee "
    "xargs mkdir rmdir rm cp mv ln chmod touch which type sleep true false test export source set "
    "for do done while if then else fi kill ps tree stat file date diff less more env wait exit jq"
)
_LOOKING = frozenset(_LOOKING_WORDS.split())
_GIT_WORDS = (
    "status diff log add commit show branch push pull stash fetch rev-parse checkout switch "
    "restore reset remote config ls-files blame rm mv tag merge rebase"
)
_GIT_LOOKING = frozenset(_GIT_WORDS.split())
_FILE_KEYS = ("file_path", "notebook_path", "path")


@dataclass
class Line:
    """One line of a transcript: where it begins, and what was written in it."""

    offset: int
    items: dict[str, set[str]] = field(default_factory=dict)


def lines(path: Path) -> list[Line]:
    found: list[Line] = []
    offset = 0
    roots: list[str] = []
    for data in path.read_bytes().splitlines(keepends=True):
        line = Line(offset)
        offset += len(data)
        try:
            value = json.loads(data)
        except ValueError:
            continue
        if isinstance(value, dict) and not value.get("isSidechain"):
            cwd = value.get("cwd")
            if isinstance(cwd, str) and cwd not in roots:
                roots.append(cwd)
            for kind, item in _items(value, roots):
                line.items.setdefault(kind, set()).add(item)
            found.append(line)
    return found


def recall(known: list[Line], start: int, end: int, text: str) -> dict[str, float]:
    """By class, of what the run from `start` to `end` had and was used after it, the share that
    `text` names; nothing where too little was used again to tell."""
    had = _together(line for line in known if start <= line.offset < end)
    later = _together(line for line in known if line.offset >= end)
    needs = {kind: had[kind] & later.get(kind, set()) for kind in had if kind != "rule"}
    needs["rule"] = had.get("rule", set())  # a rule holds on, whether or not it is said again
    needs = {kind: items for kind, items in needs.items() if items}
    if sum(map(len, needs.values())) < LEAST_ITEMS:
        return {}
    return {
        kind: sum(_named(kind, item, text) for item in items) / len(items)
        for kind, items in needs.items()
    }


def weighted(scores: dict[str, float]) -> float:
    total = sum(WEIGHTS[kind] for kind in scores)
    return sum(WEIGHTS[kind] * score for kind, score in scores.items()) / total


def _together(some: Iterator[Line]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in some:
        for kind, items in line.items.items():
            found.setdefault(kind, set()).update(items)
    return found


def _items(value: dict[str, Any], roots: list[str]) -> Iterator[tuple[str, str]]:
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if value.get("isCompactSummary") or value.get("isMeta"):
        return
    for block in blocks if isinstance(blocks, list) else []:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            yield from _written(block["text"])
            if value.get("type") == "user" and not block["text"].startswith(
                ("<", "Caveat", "[Req")
            ):
                yield from _rules(block["text"])
        elif block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
            yield from _call(str(block.get("name")), block["input"], roots)


def _call(tool: str, given: dict[str, Any], roots: list[str]) -> Iterator[tuple[str, str]]:
    for key in _FILE_KEYS:
        path = given.get(key)
        if isinstance(path, str) and _PATH.fullmatch(path.strip()):
            yield "file", _relative(path.strip(), roots)
    if tool == "Bash" and isinstance(given.get("command"), str):
        command = given["command"].partition("<<")[0]
        for path in _PATH.findall(command):
            if "://" not in path and not path.startswith(("/tmp", "/dev")):
                yield "file", _relative(path, roots)
        for one in _commands(command):
            yield "command", one
    if tool in ("Edit", "MultiEdit"):
        old = set(_NAME.findall(str(given.get("old_string") or "")))
        yield from (
            pair for pair in _written(str(given.get("new_string") or "")) if pair[1] not in old
        )
        return
    for key, text in given.items():
        if isinstance(text, str) and key not in ("file_path", "path", "description"):
            yield from _written(text[:4000])


def _written(text: str) -> Iterator[tuple[str, str]]:
    for word in _NAME.findall(text):
        if _SHAPED.search(word) and "REDACTED" not in word:
            yield "name", word
    for word in _REFERENCE.findall(text):
        yield "reference", word.rstrip(".,;:")


def _rules(text: str) -> Iterator[tuple[str, str]]:
    for sentence in re.split(r"(?<=[.!?])\s+|\n", text[:3000]):
        if 12 <= len(sentence) <= 200 and _RULE.search(sentence):
            yield "rule", sentence.strip()


def _commands(command: str) -> Iterator[str]:
    """Program and at most two arguments, flags dropped, of what does more than look."""
    for part in _SPLIT.split(command):
        words = part.split()
        while words and ("=" in words[0] or words[0] in ("sudo", "time", "env")):
            words = words[1:]
        if not words or words[0] in _LOOKING or not re.match(r"^[./\w-]+$", words[0]):
            continue
        args = [
            word
            for word in words[1:]
            if not word.startswith("-") and not re.match(r"\d?[<>&]", word)
        ]
        if words[0] == "git" and (not args or args[0] in _GIT_LOOKING):
            continue
        args = [word for word in args if len(word) <= 60 and "$" not in word][:2]
        yield " ".join([words[0].rpartition("/")[2] or words[0], *args])


def _relative(path: str, roots: list[str]) -> str:
    for root in roots:
        if path.startswith(root.rstrip("/") + "/"):
            return path[len(root.rstrip("/")) + 1 :]
    return path.removeprefix("./")


def _named(kind: str, item: str, text: str) -> bool:
    if kind == "rule":
        words = {word.lower() for word in re.findall(r"\w{4,}", item)}
        told = {word.lower() for word in re.findall(r"\w{4,}", text)}
        return not words or len(words & told) >= 0.6 * len(words)
    if kind == "command":
        return all(_stands(word.strip("'\""), text) for word in item.split())
    return _stands(item.rpartition("/")[2] if kind == "file" else item, text)


def _stands(word: str, text: str) -> bool:
    """On its own: `a.py` is not in `data.py`."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w])", text) is not None
