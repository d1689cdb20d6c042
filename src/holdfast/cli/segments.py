"""`holdfast segments` lists, shows, rewrites and clears compressed topics; `holdfast compress`
looks for older topics and compresses them.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import click

from holdfast.cli import choose_session
from holdfast.cli.choose_session import Chosen, NoSession
from holdfast.cli.find_transcript import choose_to_read, choose_to_save
from holdfast.cli.options import (
    AS_JSON,
    EVERYWHERE,
    PROJECT,
    demo_session,
    list_group,
    must_be_folder,
    of_session,
)
from holdfast.cli.terminal import confirm, paint, say
from holdfast.record import storage
from holdfast.redact import redact
from holdfast.segment import disk, formats, library, tiers
from holdfast.segment.errors import NoSegment, NotASave, NoTranscript, NotRolled, SeveralSegments
from holdfast.segment.formats import Compressed
from holdfast.segment.tiers import RollReport
from holdfast.settings import load as settings_load
from holdfast.text import fence
from holdfast.text.fence import shown
from holdfast.text.numbers import counted
from holdfast.transcript import Unreadable
from holdfast.window import view

MOST_INPUT = 4 << 20
AGAIN = "holdfast compress --now"
NONE_READY = "no topic is old enough to be compressed"
TIERS = {"warm": "saved", "cold": "archived"}  # for people; in JSON the tiers keep their names


def _list(
    session: str,
    here: bool,
    project: Path | None,
    everywhere: bool,
    with_cold: bool,
    as_json: bool,
) -> None:
    if here and not session:
        session = choose_session.calling_session() or choose_to_save().state.session_id
    is_named = bool(session) and project is None  # then it may be of any project
    where = "" if everywhere or is_named else str((project or Path.cwd()).absolute())
    warm = _of_session(library.warm(where), session)
    archived = _of_session(library.cold(where), session)
    cold = archived if with_cold else []
    pending = library.list_pending(_session_id(session), where)
    if as_json:
        by_tier = {"pending": pending, "warm": warm, "cold": cold}
        click.echo(json.dumps({name: formats.plain(value) for name, value in by_tier.items()}))
        return
    for one in pending:
        say(f"{'pending':<8} {shown(one.segment_id)}  {_origin(one.written_by)}{_clean(one.topic)}")
    for tier, found in (("warm", warm), ("cold", cold)):
        for segment in found:
            say(f"{TIERS[tier]:<8} {line(segment)}")
    if archived and not with_cold:
        say(f"{counted(len(archived), 'archived topic')} not listed: --cold lists all", err=True)
    elif not (pending or warm or cold):
        must_be_folder(None if everywhere else project, "`holdfast segments --all` lists all")
        whose = "" if everywhere else " of this session" if session else " of this project"
        say(
            f"No older topic{whose} has been compressed yet. Hooks compress old topics "
            "when a window is 60% full; `holdfast compress --now` compresses them now.",
            err=True,
        )


segments = list_group(
    "segments",
    _list,
    click.option("--session", default="", help="Of this session: its id, or its first characters."),
    click.option(
        "--here", is_flag=True, help="Of the session that this runs in, else this folder's."
    ),
    PROJECT,
    EVERYWHERE,
    click.option("--cold", "with_cold", is_flag=True, help="Also list archived topics."),
    AS_JSON,
    words="List what was compressed; `show`, `save` and `clear` one.",
    list_words="List compressed topics, as `holdfast segments` alone does.",
)


@segments.command()
@click.argument("segment_id")
@click.option(
    "--load",
    "as_text",
    is_flag=True,
    help="Print only its text, marked as reference, for the model.",
)
@AS_JSON
def show(segment_id: str, as_text: bool, as_json: bool) -> None:
    """Print the short form of a topic, with its session and sizes. The first characters of its
    id are enough."""
    one = _named(segment_id)
    library.note_access(one.segment_id, int(time.time() * 1000))
    if as_json:
        click.echo(json.dumps(formats.plain(one)))
    elif as_text:
        click.echo(
            fence.opening(
                f"segment {one.segment_id}, steps {one.start_turn}-{one.end_turn}"
                + ("" if library.is_own(one) else f", {formats.FOREIGN}")
            )
        )
        click.echo(fence.line(redact(formats.render(one))))
        click.echo(fence.closing())
    else:
        for label, text in _rows(one):
            say(f"{label:<11} {_clean(text)}")
        for row in formats.render(one).splitlines():
            say(_clean(row))


@segments.command()
@click.argument("words", default="-")
@AS_JSON
def save(words: str, as_json: bool) -> None:
    """Replace the short form of topics with better words. WORDS, or stdin, is JSON: one object or
    a list. {"segment_id": …, "compressed_content": …, "key_decisions": […], "key_files": […]}"""
    given = _parse_input(sys.stdin.buffer.read(MOST_INPUT + 1) if words == "-" else words.encode())
    now_ms = int(time.time() * 1000)
    saved = [
        library.save(
            _text(one, "segment_id"),
            _text(one, "compressed_content"),
            _texts(one, "key_decisions"),
            _texts(one, "key_files"),
            now_ms,
        )
        for one in given
    ]
    if as_json:
        click.echo(json.dumps([formats.plain(one) for one in saved]))
        return
    for one in saved:
        size = " → ".join(counted(n, "token") for n in (one.original_tokens, one.compressed_tokens))
        say(f"saved {shown(one.segment_id)} ({size}); Holdfast's own words stay behind it")


@segments.command()
@click.argument("segment_ids", nargs=-1)
@click.option("--session", default="", help="Every topic of this session.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def clear(segment_ids: tuple[str, ...], session: str, yes: bool) -> None:
    """Remove compressed topics for good. The transcript is not touched."""
    found = [_named(name) for name in segment_ids]
    if session:
        found += _of_session([*library.ours(library.WARM), *library.ours(library.COLD)], session)
    if not found:
        raise NoSegment("there is nothing to clear: give the ids of topics, or --session ID")
    for one in found:
        say(line(one), err=True)
    if not yes and not confirm(f"Remove {len(found)} for good?"):
        say("Nothing was removed.", err=True)
        sys.exit(1)
    with disk.hold_segments():
        gone = [one for one in found if library.clear(one)]
    say(f"{len(gone)} removed; the transcript still has what they stood for")


def line(one: Compressed) -> str:
    size = f"{one.original_tokens:,} → {counted(one.compressed_tokens, 'token')}"
    when = f"steps {one.start_turn}-{one.end_turn}"
    numbers = f"({when}, {size}, relevance {one.relevance_score:.2f}, read {one.access_count}x)"
    topic = f"{_origin(one.metadata.written_by)}{_clean(one.topic)}"
    return f"{paint(shown(one.segment_id), 'bold')}  {topic} {paint(numbers, 'dim')}"


def _origin(written_by: str) -> str:
    return f"({written_by}) " if written_by == formats.FOREIGN else ""


def _clean(text: str) -> str:
    """Make text safe: anyone may have written it, and a model may read it, so no tag in it may
    work."""
    return shown(fence.clean(text))


def _rows(one: Compressed) -> list[tuple[str, str]]:
    meta = one.metadata
    return [
        ("segment", f"{one.segment_id}, {_tier(one)}"),
        ("topic", one.topic),
        ("session", f"{one.session_id}, steps {one.start_turn} to {one.end_turn}"),
        ("tokens", f"{one.original_tokens:,} → {one.compressed_tokens:,}"),
        ("written by", f"{meta.written_by}, {one.compressed_at}"),
        ("relevance", f"{one.relevance_score:.2f}, read {counted(one.access_count, 'time')}"),
        ("transcript", f"{meta.transcript}, bytes {meta.start_byte:,} to {meta.end_byte:,}"),
    ]


def _tier(one: Compressed) -> str:
    found = library.tier(one.segment_id)
    return TIERS.get(found, found) or "of another tool"


def _named(segment_id: str) -> Compressed:
    exact = library.find(segment_id)
    if exact is not None:
        return exact
    found = library.find_by_prefix(segment_id) if segment_id else []
    if len(found) > 1:
        raise SeveralSegments(
            f"{len(found)} compressed topics have an id that begins with {shown(segment_id)!r}"
        )
    if not found:
        raise NoSegment(f"no compressed topic has the id {shown(segment_id)!r}")
    return found[0]


def _of_session(found: list[Compressed], session: str) -> list[Compressed]:
    return [one for one in found if one.session_id.startswith(session)]


def _session_id(session: str) -> str:
    """Return the session whose queue is shown: the named one, else the one at work here."""
    try:
        chosen = choose_session.newest(session) if session else choose_session.of_this_folder()
    except NoSession:
        return session or "unknown"
    return chosen.state.session_id


def _parse_input(data: bytes) -> list[dict[str, Any]]:
    if len(data) > MOST_INPUT:
        raise NotASave(f"more than {MOST_INPUT:,} bytes")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NotASave(f"not JSON: {error}") from None
    found = value if isinstance(value, list) else [value]
    if not found or not all(isinstance(one, dict) for one in found):
        raise NotASave("neither an object nor a list of objects")
    return found


def _text(given: dict[str, Any], key: str) -> str:
    found = given.get(key)
    if not isinstance(found, str):
        raise NotASave(f"{key} must be a text")
    return found


def _texts(given: dict[str, Any], key: str) -> list[str]:
    found = given.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise NotASave(f"{key} must be a list of texts")
    return found


@click.command()
@click.option("--now", is_flag=True, help="Compress however full the window is.")
@of_session
@AS_JSON
def roll(now: bool, session: str, transcript: Path | None, as_json: bool) -> None:
    """Look for cold segments, compress them, archive what is old; as a hook does in passing."""
    chosen = (
        choose_session.by_transcript(transcript) if transcript else choose_to_read(None, session)
    )
    with choose_session.working_folder(chosen) as folder:
        report = _rolled(Chosen(chosen.state, folder), force=now)
    if as_json:
        click.echo(json.dumps({**formats.plain(report), "line": report.line}))
    else:
        for text in lines(report, f"{AGAIN}{_named_again(transcript, session)}"):
            say(text)
    if report.errors:
        raise NotRolled("; ".join(report.errors), report.exit_code)


def _named_again(transcript: Path | None, session: str) -> str:
    """The words that name the same session in a command that is advised."""
    if transcript == demo_session():
        return " --demo"
    return f" {shlex.quote(str(transcript or session))}" if transcript or session else ""


def _rolled(chosen: Chosen, *, force: bool) -> RollReport:
    state, now_ms = chosen.state, int(time.time() * 1000)
    settings = settings_load.load(state.project)
    try:
        seen = view.of_transcript(state, settings, now_ms, chosen.folder)
        return tiers.roll(
            state.transcript,
            session_id=state.session_id,
            record=storage.read_on(state, chosen.folder),
            project=state.project,
            used_ratio=seen.verdict.used_ratio,
            now_ms=now_ms,
            force=force,
        )
    except Unreadable as error:
        raise NoTranscript(f"{state.transcript} cannot be read: {error}") from None


def lines(report: RollReport, again: str) -> list[str]:
    """Return the lines for what was done, then for what was not and why. `again` is the command
    that compresses now; it is advised only where it would."""
    found = [report.line] if report.line else []
    if report.still_pending:
        found.append(f"{report.still_pending} still pending")
    if report.pruned:
        found.append(f"{report.pruned} pruned to their summary")
    if found:
        return found
    if not report.turn:  # the transcript was not read: another process has it
        return [report.why_not or NONE_READY]
    can = f"{counted(report.ready, 'topic')} can be compressed now: {again}"
    parts = (report.why_not, can if report.ready else NONE_READY)
    return [f"step {report.turn}: {'; '.join(filter(None, parts))}"]
