"""`holdfast budget`: what fills the brief, by compartment; pins, evictions and shares."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from holdfast.brief.quotes import OUTCOME
from holdfast.budget import compartments, ledger, operations
from holdfast.budget.compartments import NAMES, PREFERENCES
from holdfast.budget.ledger import InvalidShare
from holdfast.cli import choose_session
from holdfast.cli.choose_session import Chosen, NoSession
from holdfast.cli.find_transcript import choose_to_read, say_where
from holdfast.cli.options import AS_JSON, DEMO_ALONE, PROJECT, demo_session, own_demo
from holdfast.cli.terminal import paint, say
from holdfast.events import window_budget
from holdfast.events.window_budget import BriefEntry, BudgetStatus, CompartmentUse
from holdfast.hub import row_times
from holdfast.text.fence import shown
from holdfast.text.numbers import counted, short
from holdfast.window.alert_texts import estimate_mark
from holdfast.window.velocity import in_words
from holdfast.wire import places
from holdfast.wire.mark import CHARS_PER_TOKEN

Command = Callable[..., Any]
MOST_FILE = 8 << 20
SHOWN_ITEMS = 8
SESSION = click.option("--session", default="", help="A session's id, or its first characters.")
_FILE_NAME = re.compile(r"\S*/\S*|\S+\.\w{1,8}")


def _scope(command: Command) -> Command:
    for option in (
        click.option("--user", "is_user", is_flag=True, help="For all your projects."),
        click.option(
            "--project",
            type=click.Path(path_type=Path),
            help="For this project (default: this folder).",
        ),
    ):
        command = option(command)
    return command


@click.group(invoke_without_command=True)
@click.option("--all", "everything", is_flag=True, help="Show every item.")
@click.option("--transcript", type=click.Path(path_type=Path), help="Read this transcript.")
@SESSION
@click.option("--demo", is_flag=True, help="Take the recorded session of Holdfast.")
@AS_JSON
@click.pass_context
def budget(
    ctx: click.Context,
    everything: bool,
    transcript: Path | None,
    session: str,
    demo: bool,
    as_json: bool,
) -> None:
    """What the brief would hold now, by compartment, and when the window runs out."""
    if ctx.invoked_subcommand is not None:
        return
    if demo and (transcript or session):
        raise click.UsageError(DEMO_ALONE)
    transcript = demo_session() if demo else transcript
    with own_demo():
        chosen = choose_to_read(transcript, session)
    if not (transcript or session or as_json):
        say_where(chosen.state.project or chosen.state.cwd)
    with choose_session.working_folder(chosen) as folder:
        found = window_budget.status(chosen.state, folder, row_times.now_ms())
    if as_json:
        plain = asdict(found) | {"pins": [one._asdict() for one in found.pins]}
        click.echo(json.dumps(plain, indent=2))
        return
    show(found, 10_000 if everything else SHOWN_ITEMS)


@budget.command()
@click.argument("text")
@click.option(
    "--compartment",
    type=click.Choice(NAMES),
    default=PREFERENCES,
    show_default=True,
    help="Which part of the brief it belongs to.",
)
@click.option("--session", default=None, help="For one session only: its id, or `now`.")
@_scope
@AS_JSON
def pin(
    text: str,
    compartment: str,
    session: str | None,
    is_user: bool,
    project: Path | None,
    as_json: bool,
) -> None:
    """Put TEXT into every brief, until you unpin it."""
    scope = "session" if session else "user" if is_user else "project"
    session_id = _of_session(session) if session else ""
    _say_if_mended(scope, project_path(project), session_id)
    before = ledger.read(project_path(project), session_id).pins
    one = operations.pin(
        text,
        now_ms=row_times.now_ms(),
        compartment=compartment,
        scope=scope,
        project=project_path(project),
        session_id=session_id,
        by="" if IN_CLAUDE_CODE in os.environ else ledger.USER,
    )
    again = any(one._replace(created_ms=old.created_ms) == old for old in before)
    words = f"{'already pinned' if again else 'pinned'} {one.id} ({scope}, {one.compartment})"
    _say(one._asdict(), as_json, words, f"unpin {one.id}{_where(scope, session_id, project)}")


@budget.command()
@click.argument("pin_id", metavar="ID")
@SESSION
@PROJECT
@AS_JSON
def unpin(pin_id: str, session: str, project: Path | None, as_json: bool) -> None:
    """Remove a pin."""
    session_id = _of_session(session)
    one = operations.unpin(pin_id, project=project_path(project), session_id=session_id)
    words = f"unpinned {one.id} ({one.scope}): {shown(one.text)}"
    undo = f"pin {shlex.quote(one.text)} --compartment {one.compartment}"
    user = " --user" if one.scope == "user" else ""
    where = user or _where(one.scope, session_id, project)
    _say(one._asdict(), as_json, words, undo + where)


@budget.command()
@click.argument("item_id", metavar="ID")
@click.option("--undo", is_flag=True, help="Take it into the brief again.")
@SESSION
@AS_JSON
def evict(item_id: str, undo: bool, session: str, as_json: bool) -> None:
    """Leave an item out of this session's briefs. An item that changes comes back."""
    chosen = choose_to_read(None, session)
    session_id = chosen.state.session_id
    where = _where("session", session_id, None) if session else ""
    _say_if_mended("session", "", session_id)
    if undo:
        operations.readmit(item_id, session_id=session_id)
        _say(
            {"id": item_id},
            as_json,
            f"{item_id} may be in the brief again",
            f"evict {item_id}{where}",
        )
        return
    one = window_budget.evict(item_id, chosen.state, chosen.folder)
    words = f"left out {one.id}: {short(shown(one.text), SHOWN_CHARS)}"
    _say(asdict(one), as_json, words, f"evict --undo {one.id}{where}")


@budget.command()
@click.argument("text_or_file", type=click.Path())
@SESSION
@AS_JSON
def estimate(text_or_file: str, session: str, as_json: bool) -> None:
    """Estimate how many tokens a text or a file has."""
    density = _density(session)
    found = compartments.estimate(_text(text_or_file), density)
    if as_json:
        values = {name: getattr(found, name) for name in found.__struct_fields__}
        click.echo(json.dumps(values))
        return
    say(f"{counted(found.tokens, 'token')} ({counted(found.chars, 'character')})")
    say(_units(found.model_tokens))


@budget.command()
@click.argument("compartment", type=click.Choice(NAMES), metavar="COMPARTMENT")
@click.argument("share", metavar="SHARE")
@_scope
@AS_JSON
def allot(compartment: str, share: str, is_user: bool, project: Path | None, as_json: bool) -> None:
    """Give a compartment a share of the brief. SHARE is 0.4, 40%, or `role` for the usual share;
    COMPARTMENT is active_task, project_background, operator_preferences, safety_constraints or
    ambient_knowledge."""
    scope = "user" if is_user else "project"
    _say_if_mended(scope, project_path(project))
    before = operations.share_set(compartment, scope=scope, project=project_path(project))
    kept = operations.allot(compartment, _share(share), scope=scope, project=project_path(project))
    shares = ", ".join(f"{name} {value:.0%}" for name, value in kept.items()) or "none"
    flag = " --user" if is_user else _where(scope, "", project)
    undo = "" if before == kept.get(compartment) else f"allot {compartment} {_spelled(before)}"
    _say(kept, as_json, f"shares set for the {scope}: {shares}", undo and undo + flag)


def _say_if_mended(scope: str, project: str, session_id: str = "") -> None:
    aside = operations.repair(scope, project, session_id)
    if aside:
        say(f"the {scope}'s file was damaged; it is saved as {shown(aside)}", err=True)


def _say(values: dict[str, Any], as_json: bool, words: str, undo: str) -> None:
    """Print what was changed, with the command that undoes it."""
    line = f"holdfast budget {undo}" if undo else ""
    if as_json:
        click.echo(json.dumps({**values, "undo": line}))
        return
    say(words)
    if line:
        say(f"  undo: {line}")


def _where(scope: str, session_id: str, project: Path | None) -> str:
    """Return the options that select the same ledger from this folder."""
    if scope == "session":
        return f" --session {shlex.quote(session_id)}"
    return (
        f" --project {shlex.quote(project_path(project))}" if project and scope == "project" else ""
    )


def _spelled(share: float | None) -> str:
    return "role" if share is None else f"{share:g}"


def _share(given: str) -> float | None:
    if given == "role":
        return None
    try:
        return float(given[:-1]) / 100 if given.endswith("%") else float(given)
    except ValueError:
        raise InvalidShare(f"{shown(given)!r} is not a share") from None


def _text(given: str) -> str:
    """Return the content of a file if the word names one, else the word."""
    if len(given) < 4096 and "\0" not in given and Path(given).is_file():
        return places.read_small(given, MOST_FILE).decode("utf-8", "replace")
    if _FILE_NAME.fullmatch(given):
        say(f"note: there is no file {shown(given)}: counted as a text", err=True)
    return given


def _density(session: str) -> float:
    found = _window(session)
    return found.state.density if found else 0.0


def _window(session: str) -> Chosen | None:
    if session:
        return choose_to_read(None, session)
    try:
        return choose_session.newest()
    except NoSession:
        return None


def _of_session(session: str) -> str:
    found = _window("" if session == "now" else session)
    return found.state.session_id if found else ""


def project_path(project: Path | None) -> str:
    """Return the named project, else that of the session at work here, else this folder."""
    if project is not None:
        return str(project.absolute())
    try:
        return choose_session.of_this_folder().state.project or str(Path.cwd())
    except NoSession:
        return str(Path.cwd())


SHOWN_CHARS = 90
IN_CLAUDE_CODE = "CLAUDECODE"  # set in its shells, where the model types as well as the user
ANSWER = "the model's answer"
SECTIONS = {  # what one item of a section is called
    "said": "your words",
    "pinned": "pinned text",
    "unsure": "text of unknown author",
    "marked": "marked rule",
    "flight": "where the work stood",
    "failing": "failing command",
    "tasks": "open task",
    "questions": "open question",
    "blocked": "blocked task",
    "waves": "wave of subagents",
    "task": "the task",
    "actions": "earlier request",
    "decisions": "note of the model",
    "agents": "subagent",
    "messages": "message",
    "commands": "command",
    "files": "file",
    "references": "reference",
    "fixed": "fixed",
    "archived": "compressed topic",
    "about": "the project",
}


def _units(model_tokens: int | None) -> str:
    """Say what is called a token. The model's own count differs, and is known by measurement."""
    words = f"tokens: {CHARS_PER_TOKEN:g} characters each, as the size of a brief is set"
    return f"{words}; as the model counts, about {model_tokens:,}" if model_tokens else words


def show(found: BudgetStatus, most: int) -> None:
    spent = f"{found.spent_tokens:,} of {found.max_tokens:,} tokens"
    say(f"{paint('brief', 'bold')}   {spent} (role: {found.role})", hang=8)
    say(f"        {_units(found.model_tokens)}", hang=8)
    left = in_words(found.ops_left_low, found.ops_left_high)
    share = f"{estimate_mark(found.estimated)}{found.used_ratio:.1%} of the compaction limit used"
    forecast = f"{left} left" if left else shown(f"steps left: {found.forecast_basis}")
    say(f"{paint('window', 'bold')}  {share}; {forecast}", hang=8)
    say(paint(_row("compartment", "share", "room", "used"), "dim"))
    for part in found.parts:
        say(
            _row(part.name, f"{part.share:.0%}", f"{part.share_tokens:,}", f"{part.spent_tokens:,}")
        )
    frame = f"{found.frame_tokens:,}"
    say(_row("headings", "", frame, frame))
    say(paint(_row("total", "", f"{found.max_tokens:,}", f"{found.spent_tokens:,}"), "bold"))
    for words in found.loans:
        say(f"  {words}")
    for part in found.parts:
        _show_items(part, most)
    for one in found.pins:
        say(f"pin {one.id} ({one.scope}, {one.compartment}, {one.author}): {shown(one.text)}")
    if found.evicted:
        say(f"left out by you: {', '.join(found.evicted)}; undo: holdfast budget evict --undo ID")


def _row(name: str, share: str, room: str, used: str) -> str:
    return f"  {name:<22}{share:>6}{room:>8}{used:>8}"


def _show_items(part: CompartmentUse, most: int) -> None:
    if part.items:
        by = "" if part.set_by == "role" else f" (share set by the {part.set_by})"
        say(f"{paint(part.name, 'bold')}{by}")
    for one in part.items[:most]:
        text = short(shown(one.text), SHOWN_CHARS)
        say(f"  {one.id} {_label(one)}: {text}", hang=9)
    if len(part.items) > most:
        say(f"  … {len(part.items) - most} more: --all")


def _label(one: BriefEntry) -> str:
    """Return what an item is called. Below the user's words stands what the model answered."""
    if one.is_pinned:
        return SECTIONS["pinned"]
    return ANSWER if one.reason == OUTCOME else SECTIONS.get(one.section, one.section)
