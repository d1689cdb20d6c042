"""`holdfast memory`: what the client loads into every session, listed, written, taken back; and its
instruction files: which are loaded again after a compaction, and which a brief must repeat.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from holdfast.cli import choose_session
from holdfast.cli.choose_session import NoSession
from holdfast.cli.find_transcript import choose_to_save
from holdfast.cli.options import AS_JSON, PROJECT
from holdfast.cli.terminal import say
from holdfast.client import instructions
from holdfast.client.instructions import InstructionFile, MarkedRule, find_forgotten, find_marked
from holdfast.client.memory_folder import find_memory_folder
from holdfast.events import window_brief
from holdfast.hub import row_times
from holdfast.memory import topic_store
from holdfast.memory.topic import TYPES, MemoryTopic, NoSuchTopic, Unfit, parse
from holdfast.memory.topic_folder import MOST_TOPIC_BYTES
from holdfast.memory.topic_store import TopicChange, find
from holdfast.record import storage
from holdfast.text.fence import shown
from holdfast.text.numbers import counted
from holdfast.window.state import State
from holdfast.wire import places

Command = Callable[..., Any]


def _text(command: Command) -> Command:
    for option in (
        click.option(
            "--from", "source", type=click.Path(path_type=Path), help="Read the topic from a file."
        ),
        click.option("--body", help="The text; `-` reads it from stdin."),
        click.option("--type", "kind", type=click.Choice(TYPES), help="What it is about."),
        click.option("--description", help="One line: when to read it."),
    ):
        command = option(command)
    return command


@click.group()
def memory() -> None:
    """What the client loads into every session: list, show, add, edit, retire, rules."""


@memory.command("list")
@PROJECT
@AS_JSON
def list_(project: Path | None, as_json: bool) -> None:
    """List every topic of this project's memory."""
    found = topic_store.topics(_path(project))
    folder = find_memory_folder(_path(project))
    if as_json:
        about = {"folder": folder.path, "is_read": folder.is_read, "why": folder.why}
        rows = [{k: v for k, v in asdict(one).items() if k != "body"} for one in found]
        click.echo(json.dumps({**about, "topics": rows}, indent=2))
        return
    for one in found:
        say(_row(one))
    read = "" if folder.is_read else f"; Claude Code does not read it: {folder.why}"
    count = counted(len(found), "topic")
    say(f"{count} in {shown(folder.path)}{read}", err=True)
    if not found:
        say("Add one: holdfast memory add NAME --help", err=True)


@memory.command()
@click.argument("name")
@PROJECT
@AS_JSON
def show(name: str, project: Path | None, as_json: bool) -> None:
    """Print one topic, by its name or its file."""
    one = find(topic_store.topics(_path(project)), name)
    if as_json:
        click.echo(json.dumps(asdict(one), indent=2))
        return
    say(_row(one))
    for line in one.body.split("\n"):
        say(shown(line) if line.strip() else "")


class TopicCommand(click.Command):
    """A command that takes its text as an option, and says so if it comes as a second word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if "unexpected extra argument" not in error.message:
                raise
            example = "holdfast memory add 'Prefer ruff' --body 'Lint with ruff, not flake8.'"
            words = f"{error.message}\nThe text is given with --body: {example}"
            raise click.UsageError(words, ctx) from None


@memory.command(cls=TopicCommand)
@click.argument("name")
@_text
@PROJECT
@AS_JSON
def add(
    name: str,
    description: str | None,
    kind: str | None,
    body: str | None,
    source: Path | None,
    project: Path | None,
    as_json: bool,
) -> None:
    """Add a topic, and its line in MEMORY.md."""
    given = _read_topic(source)
    text = _body(body) if body is not None else given.body
    summary = description or given.description or text.strip().partition("\n")[0][:300]
    if not summary:
        raise Unfit("a topic needs --description, one line, and its text: --body or --from")
    done = topic_store.change(
        _path(project), name, summary, kind or given.type or "project", text, row_times.now_ms()
    )
    _say(done, as_json, f"holdfast memory retire {shown(done.topic.file)}")


@memory.command()
@click.argument("name")
@_text
@PROJECT
@AS_JSON
def edit(
    name: str,
    description: str | None,
    kind: str | None,
    body: str | None,
    source: Path | None,
    project: Path | None,
    as_json: bool,
) -> None:
    """Change a topic that Holdfast added. What you do not give stays as it is."""
    old = find(topic_store.topics(_path(project)), name)
    given = _read_topic(source) if source else old
    done = topic_store.change(
        _path(project),
        old.name,
        description or given.description or old.description,
        kind or given.type or old.type or "project",
        _body(body) if body is not None else given.body,
        row_times.now_ms(),
    )
    _say(done, as_json, f"holdfast memory edit {shown(done.topic.file)} --from {done.before}")


@memory.command()
@click.argument("name")
@PROJECT
@AS_JSON
def retire(name: str, project: Path | None, as_json: bool) -> None:
    """Remove a topic that Holdfast added. A copy is saved."""
    done = topic_store.forget(_path(project), name, row_times.now_ms())
    _say(done, as_json, f"holdfast memory add {shown(done.topic.name)!r} --from {done.before}")


def _read_topic(source: Path | None) -> MemoryTopic:
    if source is None:
        return MemoryTopic("", "", "", "", "")
    data = places.read_small(str(source), MOST_TOPIC_BYTES)
    if not data:
        raise NoSuchTopic(f"{source} cannot be read, or is empty")
    return parse(data.decode("utf-8", "replace"), source.name)


def _body(given: str) -> str:
    text = sys.stdin.read() if given == "-" else given
    if not text.strip():
        raise Unfit("the text is empty")
    return text


def _say(done: TopicChange, as_json: bool, undo: str) -> None:
    if as_json:
        click.echo(json.dumps({**asdict(done), "undo": undo}, indent=2))
        return
    did = "it says that already, nothing was changed" if done.did == "nothing" else done.did
    say(f"{did}: {shown(done.path)}")
    if done.did != "nothing":
        say(f"  undo: {undo}")


def _row(one: MemoryTopic) -> str:
    whose = "ours" if one.is_ours else "yours"
    odd = f" ({one.note})" if one.note else ""
    listed = "" if one.in_index else ", not in MEMORY.md"
    line = f"{one.file}  [{one.type or '?'}, {whose}{listed}]  {one.name}: {one.description}{odd}"
    return shown(line)


def _path(project: Path | None) -> str:
    return str((project or Path.cwd()).absolute())


MOST_CHARS = 120


@memory.command()
@PROJECT
@click.option("--session", default="", help="Count what this session has read.")
@AS_JSON
def rules(project: Path | None, session: str, as_json: bool) -> None:
    """List instruction files and the marked rules in them. It also shows which of the rules are
    restored after a compaction."""
    found = _find_files(project, session)
    if as_json:
        rows = [asdict(one) | {"marked": [m._asdict() for m in one.marked]} for one in found]
        click.echo(json.dumps({"files": rows}, indent=2))
        return
    for one in found:
        _show(one)
    if not found:
        say("No instruction file applies here. Claude Code reads rules from CLAUDE.md.", err=True)
        return
    marked = sum(len(one.marked) for one in found)
    say(f"{counted(len(found), 'file')}, {counted(marked, 'marked rule')}", err=True)


def _find_files(project: Path | None, session: str) -> list[LoadedFile]:
    try:
        chosen = choose_to_save(session) if session else choose_session.of_this_folder()
    except NoSession:
        if session:
            raise
        return list_files(str((project or Path.cwd()).absolute()), None, "")
    if project is not None and str(project.absolute()) != chosen.state.project:
        return list_files(str(project.absolute()), None, "")
    where = chosen.state.project or str(Path.cwd())
    return list_files(where, chosen.state, chosen.folder)


def _show(one: LoadedFile) -> None:
    when = f", loaded by {one.when}" if one.when not in ("", "never") else ""
    when = ", Claude Code never loads it" if one.when == "never" else when
    by = f", imported by {one.imported_by}" if one.imported_by else ""
    say(shown(f"{one.path} [{one.kind}{by}{when}]: {_after(one)}"))
    for rule in one.marked:
        say(f"  {rule.line}: {shown(rule.text)[:MOST_CHARS]}")


def _after(one: LoadedFile) -> str:
    """Say what happens to a file after a compaction. A file that is not loaded again matters only
    for its marked rules."""
    if one.after in (PINNED, LATER) and not one.marked:
        return "does not come back; nothing in it is marked"
    return one.after


BACK, PINNED, LATER, NEVER = "comes back", "pinned", "pinned once loaded", "excluded"


@dataclass(frozen=True, slots=True)
class LoadedFile:
    path: str
    kind: str
    after: str  # what happens to it after a compaction: one of the words above
    when: str  # what loads it, if it is not the start
    imported_by: str
    marked: tuple[MarkedRule, ...]


def list_files(project: str, state: State | None, folder: str) -> list[LoadedFile]:
    """List the files in the order in which Claude Code loads them. `state` is the session whose
    reads count."""
    excludes = instructions.read_excludes(project, os.environ)
    found: dict[str, LoadedFile] = {}
    for source, after in _sources(project, state, folder):
        if instructions.is_excluded(source.path, excludes):
            after = NEVER
        marked = tuple(find_marked(source))
        one = LoadedFile(source.path, source.kind, after, source.when, source.by, marked)
        found.setdefault(os.path.realpath(source.path), one)
    return list(found.values())


def _sources(
    project: str, state: State | None, folder: str
) -> Iterator[tuple[InstructionFile, str]]:
    environ = os.environ
    read = window_brief.read_files(storage.read_on(state, folder)) if state else []
    for source in instructions.find_loaded_at_start(project, environ):
        yield source, BACK
    for source in find_forgotten(project, read, environ):
        yield source, PINNED
    for source in instructions.find_scoped_rules(project, environ):
        yield source, LATER
    for source in instructions.find_below(project, environ):
        yield source, LATER
