"""`holdfast budget`: what fills the brief, by compartment; evictions and shares. `holdfast pin`:
rules that stand in every brief, until they are taken back."""

import os
import shlex
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import click

from holdfast.budget import ledger
from holdfast.budget.compartments import NAMES, PREFERENCES
from holdfast.budget.ledger import InvalidShare
from holdfast.cli import sessions
from holdfast.cli.options import AS_JSON, USER, flag
from holdfast.cli.sessions import NoSession, choose
from holdfast.cli.terminal import draw_table, paint, print_json, say
from holdfast.hub import row_times
from holdfast.session import window_budget
from holdfast.session.window_budget import BudgetStatus
from holdfast.text.fence import shown
from holdfast.text.numbers import short
from holdfast.window.guard import estimate_mark
from holdfast.window.velocity import in_words

SHOWN_ITEMS, SHOWN_CHARS = 8, 90
PART = click.Choice(NAMES)


@click.group(invoke_without_command=True)
@flag("--all", "everything", help="Show every item.")
@click.option("--session", default="", metavar="ID", help="Another session: its id, or its file.")
@AS_JSON
@click.pass_context
def budget(context: click.Context, everything: bool, session: str, as_json: bool) -> None:
    """Show what fills the brief; leave items out, set shares.

    The brief has five compartments, each with a share of its tokens. `holdfast brief` shows its
    text, and `holdfast pin` adds a rule.
    """
    if context.invoked_subcommand is not None:
        return
    chosen = choose(session)
    with sessions.working_folder(chosen) as folder:
        status = window_budget.status(chosen.state, folder, row_times.now_ms())
    if as_json:
        return print_json(asdict(status) | {"pins": [row.plain() for row in status.pins]})
    _show(status, 10_000 if everything else SHOWN_ITEMS)


@budget.command()
@click.argument("item_id", metavar="ID")
@flag("--undo", help="Put it back.")
def evict(item_id: str, undo: bool) -> None:
    """Leave an item out of this session's briefs. An item that changes comes back."""
    chosen = choose()
    session_id = chosen.state.session_id
    _repair("session", "", session_id)
    if undo:
        ledger.readmit(item_id, session_id=session_id)
        return _say_changed(f"{item_id} may be in the brief again", f"budget evict {item_id}")
    entry = window_budget.evict(item_id, chosen.state, chosen.folder)
    words = f"left out {entry.id}: {short(shown(entry.text), SHOWN_CHARS)}"
    _say_changed(words, f"budget evict --undo {entry.id}")


@budget.command()
@click.argument("compartment", type=PART, metavar="COMPARTMENT")
@click.argument("share", metavar="SHARE")
@USER
def allot(compartment: str, share: str, is_user: bool) -> None:
    """Give a compartment a share of the brief. SHARE is 0.4, 40%, or `role` for the usual share;
    COMPARTMENT is active_task, project_background, operator_preferences, safety_constraints or
    ambient_knowledge."""
    scope, project = "user" if is_user else "project", _project_path()
    _repair(scope, project)
    before = ledger.load(ledger.path_of(scope, project)).shares.get(compartment)
    kept = ledger.allot(compartment, _share(share), scope=scope, project=project)
    shares = ", ".join(f"{name} {value:.0%}" for name, value in kept.items()) or "none"
    former = "role" if before is None else f"{before:g}"
    undo = f"budget allot {compartment} {former}{' --user' if is_user else ''}"
    _say_changed(f"shares set for the {scope}: {shares}", undo)


def _repair(scope: str, project: str, session_id: str = "") -> None:
    """Set a damaged file of pins and shares aside, and say so."""
    if aside := ledger.repair(ledger.path_of(scope, project, session_id)):
        say(f"the {scope}'s file was damaged; it is saved as {shown(aside)}", err=True)


def _say_changed(words: str, undo: str) -> None:
    say(f"{words}\n  undo: holdfast {undo}")


def _share(given: str) -> float | None:
    try:
        number = float(given.removesuffix("%")) if given != "role" else None
    except ValueError:
        raise InvalidShare(f"{shown(given)!r} is not a share") from None
    return number / 100 if number and given.endswith("%") else number


def _project_path() -> str:
    """Return the project of the session at work here, else this folder."""
    with suppress(NoSession):
        return sessions.at_work().state.project or str(Path.cwd())
    return str(Path.cwd())


IN_CLAUDE_CODE = "CLAUDECODE"  # set in its shells, where the model types as well as the user


@click.command()
@click.argument("rule", required=False)
@USER
@click.option("--session", default="", metavar="ID", help="For one session; `now` is this one.")
@click.option(
    "--compartment", type=PART, metavar="NAME", default=PREFERENCES, help="Its part of the brief."
)
@click.option("--remove", "pin_id", default="", metavar="ID", help="Remove a pin.")
@AS_JSON
def pin(
    rule: str | None, is_user: bool, session: str, compartment: str, pin_id: str, as_json: bool
) -> None:
    """Pin a rule, so that it is in every brief.

    Without RULE it lists what is pinned.

    \b
    Examples:
      holdfast pin 'Never touch data/raw.'       in every brief of this project
      holdfast pin 'Answer in German.' --user    in all your projects
    """
    named = "" if session == "now" else session
    session_id = choose(named).state.session_id if session else ""
    if pin_id:
        return _unpin(pin_id, session_id)
    if rule is not None:
        scope = "session" if session else "user" if is_user else "project"
        return _pin(rule, scope, session_id, compartment)
    known = ledger.read(_project_path(), session_id)
    pins = known.pins
    for path in known.unread:
        say(f"{path} cannot be read: `holdfast log` says why. Its pins are missing here.", err=True)
    if as_json:
        return print_json([row.plain() for row in pins])
    for row in pins:
        say(f"{row.id}  {shown(row.text)} ({row.scope}, {row.author})")
    if not pins and not known.unread:
        say("Nothing is pinned. Add a rule: holdfast pin 'Never touch data/raw.'", err=True)


def _pin(rule: str, scope: str, session_id: str, compartment: str) -> None:
    project = _project_path()
    _repair(scope, project, session_id)
    before = ledger.read(project, session_id).pins
    pinned = ledger.pin(
        rule,
        now_ms=row_times.now_ms(),
        compartment=compartment,
        scope=scope,
        project=project,
        session_id=session_id,
        by="" if IN_CLAUDE_CODE in os.environ else ledger.USER,
    )
    again = any(pinned.plain() == old.plain() | {"created_ms": pinned.created_ms} for old in before)
    words = f"{'already pinned' if again else 'pinned'} {pinned.id} ({scope}, {compartment})"
    undo = f"pin --remove {pinned.id}{_session(session_id)}"
    _say_changed(words, undo)


def _unpin(pin_id: str, session_id: str) -> None:
    gone = ledger.unpin(pin_id, project=_project_path(), session_id=session_id)
    where = {"user": " --user", "session": _session(session_id)}.get(gone.scope, "")
    undo = f"pin {shlex.quote(gone.text)} --compartment {gone.compartment}{where}"
    words = f"unpinned {gone.id} ({gone.scope}): {shown(gone.text)}"
    _say_changed(words, undo)


def _session(session_id: str) -> str:
    return f" --session {shlex.quote(session_id)}" if session_id else ""


def _show(status: BudgetStatus, most: int) -> None:
    spent = f"{status.spent_tokens:,} of {status.max_tokens:,} tokens"
    if status.model_tokens:
        spent += f" (the model counts about {status.model_tokens:,})"
    say(f"{paint('brief', 'bold')}   {spent}; role: {status.role}", hang=8)
    left = in_words(status.ops_left) or status.forecast_basis
    used = f"{estimate_mark(status.estimated)}{status.used_ratio:.1%} of the compaction limit used"
    say(f"{paint('window', 'bold')}  {used}; left: {shown(left)}", hang=8)
    rows = []
    for part in status.parts:
        tokens = (part.share_tokens, part.borrowed_tokens, part.spent_tokens)
        rows.append((part.name, f"{part.share:.0%}", *(f"{count:,}" for count in tokens)))
    rows.append(("headings", "", "", "", f"{status.frame_tokens:,}"))
    draw_table(("compartment", "share", "room", "borrowed", "used"), rows)
    for part in status.parts:
        by = "" if part.set_by == "role" else f" (share set by the {part.set_by})"
        if part.items:
            say(f"{paint(part.name, 'bold')}{by}")
        for entry in part.items[:most]:
            label = "pinned" if entry.is_pinned else entry.section
            say(f"  {entry.id} {label}: {short(shown(entry.text), SHOWN_CHARS)}", hang=9)
        if len(part.items) > most:
            say(f"  … {len(part.items) - most} more: --all")
    for row in status.pins:
        say(f"pin {row.id} ({row.scope}, {row.compartment}, {row.author}): {shown(row.text)}")
    if status.evicted:
        say(f"left out by you: {', '.join(status.evicted)}; undo: holdfast budget evict --undo ID")
