"""`holdfast memory`: what the client loads into every session, listed, written, taken back; and its
instruction files: which are loaded again after a compaction, and which a brief must repeat.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from holdfast.cli import sessions
from holdfast.cli.options import AS_JSON
from holdfast.cli.sessions import Chosen, NoSession
from holdfast.cli.terminal import say
from holdfast.client import instructions
from holdfast.client.instructions import InstructionFile, MarkedRule, find_forgotten, find_marked
from holdfast.client.memory_folder import find_memory_folder
from holdfast.events import window_brief
from holdfast.hub import row_times
from holdfast.memory import topic_store
from holdfast.memory.topic import TYPES, Ambiguous, MemoryTopic, NoSuchTopic, Unfit, parse
from holdfast.memory.topic_store import MOST_TOPIC_BYTES, TopicChange, find
from holdfast.record import storage
from holdfast.text.fence import shown
from holdfast.text.numbers import counted
from holdfast.wire import places

MOST_CHARS = 120
EXAMPLE = "holdfast memory add 'Prefer ruff' --body 'Lint with ruff, not flake8.'"


@click.group()
def memory() -> None:
    """Show and edit what Claude Code loads into every session.

    Topics are files in Claude Code's own memory folder. To keep a rule across compactions only, pin
    it: `holdfast pin`.

    \b
    Examples:
      holdfast memory list    every topic of this project
      holdfast memory rules   instruction files, and which rules are restored
    """


@memory.command("list")
@AS_JSON
def list_(as_json: bool) -> None:
    """List every topic of this project's memory."""
    topics = topic_store.topics(_project())
    folder = find_memory_folder(_project())
    if as_json:
        about = {"folder": folder.path, "is_read": folder.is_read, "why": folder.why}
        rows = [{k: v for k, v in asdict(topic).items() if k != "body"} for topic in topics]
        click.echo(json.dumps({**about, "topics": rows}, indent=2))
        return
    for topic in topics:
        say(_row(topic))
    read = "" if folder.is_read else f"; Claude Code does not read it: {folder.why}"
    say(f"{counted(len(topics), 'topic')} in {shown(folder.path)}{read}", err=True)
    if not topics:
        say(f"Add one: {EXAMPLE}", err=True)


@memory.command()
@click.argument("name")
@click.option("--description", default="", help="One line: when to read it.")
@click.option("--type", "kind", type=click.Choice(TYPES), help="What it is about.")
@click.option("--body", help="The text; `-` reads it from stdin.")
@click.option("--from", "source", type=click.Path(path_type=Path), help="Read it from a file.")
def add(
    name: str,
    description: str,
    kind: str | None,
    body: str | None,
    source: Path | None,
) -> None:
    """Add a topic and its line in MEMORY.md, or change one that Holdfast added. What you do not
    give of that stays as it is."""
    old = _find_ours(name)
    given = _read_topic(source) if source else old or MemoryTopic("", "", "", "", "")
    text = _body(body) if body is not None else given.body
    summary = description or given.description or (old.description if old else "")
    summary = summary or text.strip().partition("\n")[0][:300]
    if not summary:
        raise Unfit(f"a topic needs a text, for example: {EXAMPLE}")
    done = topic_store.change(
        _project(),
        old.name if old else name,
        summary,
        kind or given.type or (old.type if old else "") or "project",
        text,
        row_times.now_ms(),
    )
    file = shown(done.topic.file)
    undo = f"add {file} --from {done.before}" if old else f"retire {file}"
    _say(done, f"holdfast memory {undo}")


@memory.command()
@click.argument("name")
def retire(name: str) -> None:
    """Remove a topic that Holdfast added. A copy is saved."""
    done = topic_store.forget(_project(), name, row_times.now_ms())
    _say(done, f"holdfast memory add {shown(done.topic.name)!r} --from {done.before}")


def _find_ours(name: str) -> MemoryTopic | None:
    try:
        topic = find(topic_store.topics(_project()), name)
    except (NoSuchTopic, Ambiguous):
        return None
    return topic if topic.is_ours else None


def _read_topic(source: Path) -> MemoryTopic:
    data = places.read_small(str(source), MOST_TOPIC_BYTES)
    if not data:
        raise NoSuchTopic(f"{source} cannot be read, or is empty")
    return parse(data.decode("utf-8", "replace"), source.name)


def _body(given: str) -> str:
    text = sys.stdin.read() if given == "-" else given
    if not text.strip():
        raise Unfit("the text is empty")
    return text


def _say(done: TopicChange, undo: str) -> None:
    did = "it says that already, nothing was changed" if done.did == "nothing" else done.did
    say(f"{did}: {shown(done.path)}")
    if done.did != "nothing":
        say(f"  undo: {undo}")


def _row(topic: MemoryTopic) -> str:
    whose = "ours" if topic.is_ours else "yours"
    odd = f" ({topic.note})" if topic.note else ""
    listed = "" if topic.in_index else ", not in MEMORY.md"
    kind = f"[{topic.type or '?'}, {whose}{listed}]"
    return shown(f"{topic.file}  {kind}  {topic.name}: {topic.description}{odd}")


def _project() -> str:
    return str(Path.cwd())


@memory.command()
def rules() -> None:
    """List instruction files and the marked rules in them. It also shows which of the rules are
    restored after a compaction."""
    try:
        chosen: Chosen | None = sessions.at_work()
    except NoSession:
        chosen = None
    files = list_files(chosen)
    for file in files:
        _show(file)
    if not files:
        say("No instruction file applies here. Claude Code reads rules from CLAUDE.md.", err=True)
        return
    marked = sum(len(file.marked) for file in files)
    say(f"{counted(len(files), 'file')}, {counted(marked, 'marked rule')}", err=True)


def _show(file: LoadedFile) -> None:
    when = f", loaded by {file.when}" if file.when not in ("", "never") else ""
    when = ", Claude Code never loads it" if file.when == "never" else when
    by = f", imported by {file.imported_by}" if file.imported_by else ""
    # a file that is not loaded again matters only for its marked rules
    is_lost = file.after in (PINNED, LATER) and not file.marked
    after = "does not come back; nothing in it is marked" if is_lost else file.after
    say(shown(f"{file.path} [{file.kind}{by}{when}]: {after}"))
    for rule in file.marked:
        say(f"  {rule.line}: {shown(rule.text)[:MOST_CHARS]}")


BACK, PINNED, LATER, NEVER = "comes back", "pinned", "pinned once loaded", "excluded"


@dataclass(frozen=True, slots=True)
class LoadedFile:
    path: str
    kind: str
    after: str  # what happens to it after a compaction: one of the words above
    when: str  # what loads it, if it is not the start
    imported_by: str
    marked: tuple[MarkedRule, ...]


def list_files(chosen: Chosen | None) -> list[LoadedFile]:
    """List the files in the order in which Claude Code loads them. `chosen` is the session whose
    reads count."""
    project = chosen.state.project if chosen and chosen.state.project else _project()
    excludes = instructions.read_excludes(project, os.environ)
    files: dict[str, LoadedFile] = {}
    for source, after in _sources(project, chosen):
        if instructions.is_excluded(source.path, excludes):
            after = NEVER
        marked = tuple(find_marked(source))
        file = LoadedFile(source.path, source.kind, after, source.when, source.by, marked)
        files.setdefault(os.path.realpath(source.path), file)
    return list(files.values())


def _sources(project: str, chosen: Chosen | None) -> Iterator[tuple[InstructionFile, str]]:
    environ = os.environ
    read = window_brief.read_files(storage.read_on(*chosen)) if chosen else []
    for source in instructions.find_loaded_at_start(project, environ):
        yield source, BACK
    for source in find_forgotten(project, read, environ):
        yield source, PINNED
    for source in instructions.find_scoped_rules(project, environ):
        yield source, LATER
    for source in instructions.find_below(project, environ):
        yield source, LATER
