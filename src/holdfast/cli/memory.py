"""`holdfast memory`: the topics and instruction files that the client loads into sessions."""

import os
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import click

from holdfast.cli.options import AS_JSON
from holdfast.cli.terminal import print_json, say
from holdfast.client import instructions
from holdfast.client.memory_folder import find_memory_folder
from holdfast.hub import row_times
from holdfast.memory import topic_store
from holdfast.memory.topic_store import MemoryTopic, NoSuchTopic, TopicChange
from holdfast.text.fence import shown
from holdfast.text.numbers import counted, short
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

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
      holdfast memory rules   instruction files, and which come back
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
        return print_json({**about, "topics": rows})
    for topic in topics:
        say(_row(topic))
    read = "" if folder.is_read else f"; Claude Code does not read it: {folder.why}"
    say(f"{counted(len(topics), 'topic')} in {shown(folder.path)}{read}", err=True)
    if not topics:
        say(f"Add one: {EXAMPLE}", err=True)


@memory.command()
@click.argument("name")
@click.option("--description", default="", help="One line: when to read it.")
@click.option("--type", "kind", type=click.Choice(topic_store.TYPES), help="What it is about.")
@click.option("--body", help="The text; `-` reads it from stdin.")
@click.option("--from", "source", type=click.Path(path_type=Path), help="Read it from a file.")
def add(
    name: str, description: str, kind: str | None, body: str | None, source: Path | None
) -> None:
    """Add a topic, or change one of Holdfast's. Its line in MEMORY.md is kept up to date. Options
    that you leave out change nothing."""
    old = _find_ours(name)
    given = _read_topic(source) if source else old or MemoryTopic("", "", "", "", "")
    text = sys.stdin.read() if body == "-" else given.body if body is None else body
    if body is not None and not text.strip():
        raise HoldfastError("the text is empty", exit_code=2)
    summary = description or given.description or (old.description if old else "")
    summary = summary or text.strip().partition("\n")[0][:300]
    if not summary:
        raise HoldfastError(f"a topic needs a text, for example: {EXAMPLE}", exit_code=2)
    kind = kind or given.type or (old.type if old else "") or "project"
    name = old.name if old else name
    done = topic_store.change(_project(), name, summary, kind, text, row_times.now_ms())
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
    with suppress(NoSuchTopic, topic_store.Ambiguous):
        topic = topic_store.find(topic_store.topics(_project()), name)
        return topic if topic.is_ours else None
    return None


def _read_topic(source: Path) -> MemoryTopic:
    data = places.read_small(str(source), topic_store.MOST_TOPIC_BYTES)
    if not data:
        raise NoSuchTopic(f"{source} cannot be read, or is empty")
    return topic_store.parse(data.decode("utf-8", "replace"), source.name)


def _say(done: TopicChange, undo: str) -> None:
    did = "unchanged: it says that already" if done.did == "nothing" else done.did
    say(f"{did}: {shown(done.path)}")
    if done.did != "nothing":
        say(f"  undo: {undo}")


def _row(topic: MemoryTopic) -> str:
    whose = "Holdfast's" if topic.is_ours else "yours"
    odd = f" ({topic.note})" if topic.note else ""
    listed = "" if topic.in_index else ", not in MEMORY.md"
    kind = f"[{topic.type or '?'}, {whose}{listed}]"
    return shown(f"{topic.file}  {kind}  {topic.name}: {topic.description}{odd}")


def _project() -> str:
    return str(Path.cwd())


@memory.command()
def rules() -> None:
    """List instruction files and the marked rules in them. It also shows which of them are loaded
    again after a compaction."""
    where = _project(), os.environ
    loaded_later = "its marked rules are pinned once it was loaded"
    outcomes = (
        (instructions.find_loaded_at_start, "comes back"),
        (instructions.find_scoped_rules, loaded_later),
        (instructions.find_below, loaded_later),
        (instructions.find_unloaded, "its marked rules are pinned"),
    )
    files = [(file, outcome) for find_files, outcome in outcomes for file in find_files(*where)]
    excludes = instructions.read_excludes(*where)
    for file, outcome in files:
        after = "excluded" if instructions.is_excluded(file.path, excludes) else outcome
        when = f", loaded by {file.when}" if file.when else ""
        by = f", imported by {file.by}" if file.by else ""
        say(shown(f"{file.path} [{file.kind}{by}{when}]: {after}"))
        for rule in instructions.find_marked(file):
            say(f"  {rule.line}: {short(shown(rule.text), MOST_CHARS)}")
    if not files:
        say("No instruction file applies here. Claude Code reads rules from CLAUDE.md.", err=True)
