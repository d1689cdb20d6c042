"""`holdfast memory rules`: the instruction files, and what a compaction does to them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from holdfast.cli import choose_session
from holdfast.cli.choose_session import NoSession
from holdfast.cli.terminal import say
from holdfast.events import instruction_files
from holdfast.events.instruction_files import LoadedFile
from holdfast.text.escape import shown

MOST_CHARS = 120


@click.command()
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    help="The project's folder (default: this folder).",
)
@click.option("--session", default="", help="Count what this session has read.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def rules(project: Path | None, session: str, as_json: bool) -> None:
    """List instruction files, the marked rules in them, and what is restored after a
    compaction."""
    found = _found(project, session)
    if as_json:
        rows = [asdict(one) | {"marked": [m._asdict() for m in one.marked]} for one in found]
        click.echo(json.dumps({"files": rows}, indent=2))
        return
    for one in found:
        _show(one)
    marked = sum(len(one.marked) for one in found)
    say(f"{len(found)} files, {marked} marked rules", err=True)


def _found(project: Path | None, session: str) -> list[LoadedFile]:
    try:
        chosen = choose_session.newest(session) if session else choose_session.of_this_folder()
    except NoSession:
        if session:
            raise
        return instruction_files.list_files(str((project or Path.cwd()).absolute()), None, "")
    if project is not None and str(project.absolute()) != chosen.state.project:
        return instruction_files.list_files(str(project.absolute()), None, "")
    where = chosen.state.project or str(Path.cwd())
    return instruction_files.list_files(where, chosen.state, chosen.folder)


def _show(one: LoadedFile) -> None:
    when = f", loaded by {one.when}" if one.when not in ("", "never") else ""
    when = ", Claude Code never loads it" if one.when == "never" else when
    by = f", imported by {one.imported_by}" if one.imported_by else ""
    say(shown(f"{one.path} [{one.kind}{by}{when}]: {_after(one)}"))
    for rule in one.marked:
        say(f"  {rule.line}: {shown(rule.text)[:MOST_CHARS]}")


def _after(one: LoadedFile) -> str:
    """A file that is forgotten matters only for what is marked in it."""
    if one.after in (instruction_files.PINNED, instruction_files.LATER) and not one.marked:
        return "does not come back; nothing in it is marked"
    return one.after
