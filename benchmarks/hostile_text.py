"""Whether everything that reads text of others takes ten times as long for ten times the text.

    python -m benchmarks.hostile_text [--all]

Each reader of `READERS` gets each text of `PIECES` in 6 KB and in 60 KB. Each larger ratio of the
two times is printed, the largest last; with `--all`, the largest of each reader. `redact` has its
own laws, in tests/redact.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from time import process_time
from typing import Any, NamedTuple

from holdfast.brief import roles
from holdfast.brief.summary_coverage import measure
from holdfast.memory import item, results, topic_store, words
from holdfast.memory import turns as memory_turns
from holdfast.record import (
    agents,
    calls,
    commands,
    git,
    plans,
    reader,
    shell,
    turns,
    user_input,
)
from holdfast.record.model import Agent, Place, Record, Turn
from holdfast.segment import compress
from holdfast.text import fence, numbers, sentences
from holdfast.transcript import user_words

SMALL, FACTOR = 6_000, 10
MOST = 12.0  # linear is 10
LEAST_SECONDS = 0.0004  # of the small text: less is not measured well
RUNS = 5
HOPELESS_SECONDS = 1.0

Reader = Callable[[str], Any]

PIECES = {
    "one letter": "a",
    "one capital": "A",
    "letters and blanks": "a ",
    "humps": "aB",
    "double quotes": '"',
    "single quotes": "'",
    "typographic quotes": "“",
    "escaped quotes": '\\"',
    "backticks": "`",
    "backticks and letters": "` a",
    "dots": ".",
    "dots and letters": "a.",
    "ellipses": "... ",
    "question marks": "? ",
    "exclamation marks": "!",
    "slashes": "/",
    "paths": "a/",
    "backslashes": "\\",
    "opening brackets": "[",
    "closing brackets": "]",
    "round brackets": "(",
    "tags": "<",
    "wide tags": "\uff1c",
    "tags and blanks": "< ",
    "digits": "1",
    "numbers": "1 ",
    "numbers with dots": "1. ",
    "line ends": "\n",
    "blanks": " ",
    "tabs": "\t",
    "dashes": "-",
    "items": "- ",
    "lines of items": "- a\n",
    "headings": "## a\n",
    "stars": "*",
    "hashes": "#",
    "equals signs": "=",
    "underscores": "_",
    "colons": ": ",
    "semicolons": ";",
    "commas": "a,",
    "ampersands": "&&",
    "pipes": "|",
    "dollars": "$(",
    "redirections": "> ",
    "heredocs": "<<A\n",
    "code fences": "```\n",
    "long words": "a" * 300 + " ",
    "lines of long words": "a" * 3_000 + "\n",
    "escapes": "\x1b[",
    "umlauts": "ü",
    "ideographs": "漢",
    "full stops of ideographs": "。",
    "joiners": "\u200d",
    "flags of options": "-m ",
    "commands": "cd a && ",
    "git": "git -c a ",
    "sentences": "It fails. ",
    "open work": "remaining: first, ",
    "claims": "All tests pass. The user approved it. ",
    "commits": "0123abcd ",
    "addresses": "http://a/",
    "notifications": "<task-notification>\n<task-id>a",
    "reminders": "<system-reminder>\n",
    "selections": "<ide_selection>a\n",
    "closing tags": "</ide_selection>",
    "briefs": '<holdfast-brief from="a">\n',
    "notes of a summary": "<analysis>",
    "task headings": "## Task 1: a  [",
    "prompts of a shell": "a@a:",
    "errors": "a.py:1:1: error: ",
    "placeholders": "[redacted: ",
}


def text_of(piece: str, chars: int) -> str:
    return (piece * (chars // len(piece) + 1))[:chars]


def _record() -> Record:
    record = Record()
    record.turns.append(Turn("please repair the login page and never push to main", Place(op=1)))
    return record


def _with_record(read: Callable[[Record, str], Any]) -> Reader:
    return lambda text: read(_record(), text)


def _asked(text: str) -> Record:
    record = _record()
    record.turns.append(Turn(text, Place(op=2)))
    return record


def _command(record: Record, text: str) -> None:
    calls.take_call(record, "Bash", "toolu_1", {"command": text}, Place(op=1))


def _output(record: Record, text: str) -> None:
    calls.take_call(record, "Bash", "toolu_1", {"command": "pytest -q"}, Place(op=1))
    commands.end(record, "pytest -q", text, Place(op=1), failed=True)


def _later(record: Record, text: str) -> None:
    _output(record, "error: a")
    calls.take_call(record, "Bash", "toolu_2", {"command": text}, Place(op=2))
    commands.end(record, text, "", Place(op=2), failed=False)


def _coverage_of_words(text: str) -> object:
    return measure("a summary that holds none of it", _asked(text))


# By module. What takes a path, an id or a line that is cut short before is no reader of text.
READERS: dict[str, Reader] = {
    "brief.roles": roles.parse,
    "brief.summary_coverage": _with_record(lambda record, text: measure(text, record)),
    "brief.summary_coverage: the user's words": _coverage_of_words,
    "memory.results": lambda text: results.snippet(text, ("login", "a")),
    "memory.results: title": results.snippet_title,
    "memory.turns: ends": memory_turns.ends,
    "memory.turns: commands": memory_turns.asks_us,
    "memory.item": item.pieces,
    "memory.topic_store": lambda text: topic_store.parse(text, "a.md"),
    "memory.topic_store: index": lambda text: topic_store.TopicIndex(text.encode()).files,
    "memory.words: query": words.parse_query,
    "memory.words: plain": words.plain,
    "memory.words: parts": words.name_parts,
    "record.agents: result": agents.result,
    "record.agents: notification": _with_record(
        lambda record, text: agents.take_notification(record, text, Place(op=1))
    ),
    "record.agents: answer": _with_record(
        lambda record, text: agents.take_answer(record, Agent("a", "a", Place(op=1)), text)
    ),
    "record.calls": _with_record(_command),
    "record.commands: output": _with_record(_output),
    "record.commands: later": _with_record(_later),
    "record.git: command": _with_record(
        lambda record, text: git.note_answer(record, text, "a", Place(op=1), failed=False)
    ),
    "record.git: output": _with_record(
        lambda record, text: git.note_answer(record, "git status", text, Place(op=1), failed=True)
    ),
    "record.plans: plan": _with_record(
        lambda record, text: plans.set_plan(record, text, Place(op=1))
    ),
    "record.reader: remark": _with_record(
        lambda record, text: reader.hear(record, f"Decision: {text}", Place(op=1))
    ),
    "record.turns: reply": _with_record(turns.reply_to_words),
    "record.calls: refusal": calls.refusal_words,
    "record.user_input": user_input.split_tasks,
    "record.user_input: request": user_input.extract_request,
    "record.shell: parts": shell.parts,
    "record.shell: commands": shell.simple_commands,
    "record.shell: first": shell.first_line,
    "record.shell: removed": shell.find_removed,
    "record.shell: written": lambda text: shell.find_written(f"tee {text}"),
    "record.shell: script": lambda text: shell.find_written(f"python <<A\n.write_text({text}"),
    "record.shell: folder": lambda text: shell.folder_of(text, "/"),
    "record.plans: task": _with_record(
        lambda record, text: plans.add_task(record, text, text, Place(op=1))
    ),
    "record.turns": _with_record(lambda record, text: turns.prompt(record, [text], Place(op=2))),
    "segment.compress": compress.name_of,
    "text.fence: clean": fence.clean,
    "text.fence: escape": fence.escape,
    "text.fence: unescape": fence.unescape,
    "text.fence: flat": lambda text: fence.flat(text, 100_000),
    "text.fence: ends": lambda text: fence.both_ends(text, 200),
    "text.fence: code": lambda text: fence.code(text, 100_000),
    "text.fence: line": fence.line,
    "text.numbers": numbers.named,
    "text.sentences": sentences.sentences,
    "text.sentences: one line": sentences.split,
    "transcript.user_words": lambda text: user_words.find_words([text]),
    "transcript.user_words: briefs": user_words.without_briefs,
}


class Slowdown(NamedTuple):
    ratio: float
    seconds: float  # for the large text
    reader: str
    text: str


def slowdowns(readers: Iterable[str] = READERS) -> Iterator[Slowdown]:
    """Yield the slowest text of each reader."""
    for name in readers:
        yield max(measured(name, text) for text in PIECES)


def measured(reader: str, text: str) -> Slowdown:
    """Compare the two lengths. What is beyond `MOST` is measured again: other programs take time
    too."""
    found = _measured(reader, text)
    again = RUNS if found.ratio > MOST and found.seconds < HOPELESS_SECONDS else 0
    return min([found, *(_measured(reader, text) for _ in range(again))])


def _measured(reader: str, text: str) -> Slowdown:
    small, large = (text_of(PIECES[text], SMALL * factor) for factor in (1, FACTOR))
    short, long = _seconds(READERS[reader], small), _seconds(READERS[reader], large)
    return Slowdown(long / max(short, LEAST_SECONDS), long, reader, text)


def _seconds(read: Reader, text: str) -> float:
    began = process_time()
    with suppress(ValueError):
        read(text)
    return process_time() - began


def rows() -> Iterator[tuple[str, str, str]]:
    worst = max(slowdowns())
    yield (
        f"slowest of {len(READERS)} readers on {len(PIECES)} hostile texts, 60 KB against 6 KB",
        f"{worst.ratio:.1f}x ({worst.reader}, {worst.text})",
        f"≤ {MOST:.0f}x",
    )


if __name__ == "__main__":
    worst = 0.0
    for one in slowdowns():
        if "--all" in sys.argv or one.ratio > worst:
            print(f"{one.ratio:6.1f}x {one.seconds * 1000:9.1f} ms  {one.reader}: {one.text}")
        worst = max(worst, one.ratio)
