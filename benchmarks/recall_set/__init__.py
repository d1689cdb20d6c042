"""The labelled set of recall: sessions and functions written for it, and noise around them.

Noise is made of the same words, by a seeded generator: a question has to find its answer among some
thousand turns that speak of builds, tables, users and files as well.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NOISE_THREADS, NOISE_TURNS, NOISE_FUNCTIONS = 40, 40, 160
Set = tuple[list[dict[str, Any]], list[dict[str, Any]]]

_ASK = (
    "can you look at the {thing} of the {part}",
    "why does the {part} {verb} the {thing}",
    "please {verb} the {thing} before the {event}",
    "the {thing} is {state} again",
    "what did the {person} say about the {thing}",
    "is the {part} ready for the {event}",
    "show me where the {part} gets its {thing} from",
)
_TELL = (
    "I looked at the {part}: the {thing} was {state} since the last {event}. I will {verb} it.",
    "The {person} wants to {verb} the {thing} first. The {part} can wait until the {event}.",
    "Done. {number} tests of the {part} pass, {few} are skipped because the {thing} is {state}.",
    "The {thing} is read in {part}/{file}.py, line {number}; it is {state} there.",
    "That is expected: the {part} does not {verb} the {thing} when it is {state}.",
    "I changed {file}.py so that the {part} will {verb} {number} of them at once.",
    "Nothing in the log of the {part} about a {thing}. The {person} may know more.",
)
_WORDS = {
    "thing": "index payment backup image message cache password invoice column query export token "
    "translation picture sensor battery price server certificate email date table report limit",
    "part": "checkout uploader warehouse cluster model parser game firmware newsletter dashboard "
    "search registration scheduler gateway importer player editor billing mobile website",
    "verb": "rename delete retry measure encrypt migrate review deploy compress validate merge "
    "split print restore download notify sort convert",
    "state": "slow missing broken duplicated empty stale wrong optional blocked expired corrupted",
    "event": "release review demo migration meeting deadline outage weekend audit update",
    "person": "designer customer tester lawyer manager operator reviewer partner colleague",
    "file": "models views tasks client utils server config loader writer checks",
    "number": "3 7 12 21 34 48 60 75 90 120 200 512",
    "few": "1 2 3 4 5",
}


def labelled() -> Set:
    """Items and questions: the same every time."""
    items, queries = [], []
    for part in (_sessions(), _functions()):
        items += part[0]
        queries += part[1]
    dice = random.Random(20)
    return [*items, *_noise(dice), *_noise_functions(dice)], queries


def _lines(name: str) -> list[str]:
    text = (HERE / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


def _sessions() -> Set:
    items: list[dict[str, Any]] = []
    queries: list[dict[str, Any]] = []
    thread, position = "", 0
    for line in _lines("sessions.txt"):
        mark, _, words = line.partition(" ")
        if mark == "=":
            thread, position = words, 0
        elif mark in ("<", ">"):
            items.append(
                {
                    "id": f"{thread}-{position}",
                    "text": words,
                    "thread": thread,
                    "position": position,
                }
            )
            position += 1
        elif mark in ("?", "?*"):
            answer = items[-1 - (mark == "?*")]["id"]
            queries.append({"text": words, "relevant": [answer]})
    return items, [*queries, *_remembered(items)]


def _remembered(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for line in filter(None, _lines("remembered.txt")):
        piece, _, words = line.partition(" | ")
        [answer] = [item["id"] for item in items if piece in item["text"]]
        yield {"text": words, "relevant": [answer]}


def _functions() -> Set:
    items: list[dict[str, Any]] = []
    queries: list[dict[str, Any]] = []
    for block in "\n".join(_lines("functions.txt")).split("\n\n"):
        lines = block.strip().splitlines()
        code = "\n".join(line for line in lines if not line.startswith("? "))
        if not code:
            continue
        items.append({"id": f"function-{len(items)}", "text": code})
        asked = [line[2:] for line in lines if line.startswith("? ")]
        queries += [{"text": words, "relevant": [items[-1]["id"]]} for words in asked]
    return items, queries


def _noise(dice: random.Random) -> Iterator[dict[str, Any]]:
    for number in range(NOISE_THREADS):
        for position in range(NOISE_TURNS):
            shape = dice.choice(_TELL if position % 2 else _ASK)
            yield {
                "id": f"noise-{number}-{position}",
                "text": _filled(dice, shape),
                "thread": f"noise-{number}",
                "position": position,
            }


def _noise_functions(dice: random.Random) -> Iterator[dict[str, Any]]:
    for number in range(NOISE_FUNCTIONS):
        shape = (
            "def {verb}_{thing}({file}, {event}):\n    for {thing} in {file}.{part}:\n"
            "        if {thing}.{state}:\n            {event}.{verb}({thing}, {number})\n"
            "    return {file}.{thing}s"
        )
        yield {"id": f"noise-function-{number}", "text": _filled(dice, shape)}


def _filled(dice: random.Random, shape: str) -> str:
    return shape.format(**{name: dice.choice(words.split()) for name, words in _WORDS.items()})
