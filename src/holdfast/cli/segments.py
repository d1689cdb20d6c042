"""`holdfast segments` lists, shows, rewrites and clears compressed topics; `holdfast compress`
looks for older topics and compresses them."""

import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import click

from holdfast.cli import sessions
from holdfast.cli.options import AS_JSON, EVERYWHERE, flag, of_session
from holdfast.cli.sessions import NoSession, choose
from holdfast.cli.terminal import clean, confirm, paint, print_json, say, working
from holdfast.record import storage
from holdfast.segment import formats, library, tiers
from holdfast.segment.formats import Compressed
from holdfast.segment.library import NoSegment
from holdfast.segment.tiers import RollReport
from holdfast.settings import load as settings_load
from holdfast.text.fence import shown
from holdfast.text.numbers import counted
from holdfast.window import measurement
from holdfast.wire.errors import HoldfastError

MOST_INPUT = 4 << 20
NONE_READY = "no topic is old enough to be compressed"
TIERS = {"warm": "saved", "cold": "archived"}  # for people; in JSON the tiers keep their names


@click.group(invoke_without_command=True)
@flag("--here", help="List those of this folder's session.")
@EVERYWHERE
@flag("--cold", "with_cold", help="Also list archived topics.")
@AS_JSON
@click.pass_context
def segments(
    context: click.Context, here: bool, everywhere: bool, with_cold: bool, as_json: bool
) -> None:
    """List older topics that were compressed; show, rewrite or remove them.

    `holdfast search --expand ID` prints the original turns of one. `holdfast compress` compresses
    more.

    \b
    Examples:
      holdfast segments           of this project
      holdfast segments show ID   one, in its short form
    """
    if context.invoked_subcommand is not None:
        return
    session = ""
    if here:
        session = sessions.calling_session() or choose(only_here=True).state.session_id
    project = "" if everywhere or here else str(Path.cwd())  # one session may be of any project
    warm, cold = (
        [segment for segment in listed if segment.session_id.startswith(session)]
        for listed in (library.warm(project), library.cold(project))
    )
    hidden, cold = ([], cold) if with_cold else (cold, [])
    with suppress(NoSession):  # the queue is that of the session at work here
        session = session or sessions.at_work().state.session_id
    pending = library.list_pending(session or "unknown", project)
    if as_json:
        by_tier = {"pending": pending, "warm": warm, "cold": cold}
        return print_json({name: formats.plain(value) for name, value in by_tier.items()})
    for topic in pending:
        origin = f"{_origin(topic.written_by)}{clean(topic.topic)}"
        say(f"{'pending':<8} {shown(topic.segment_id)}  {origin}")
    for tier, segments in (("warm", warm), ("cold", cold)):
        for segment in segments:
            say(f"{TIERS[tier]:<8} {_line(segment)}")
    if hidden:
        say(f"{counted(len(hidden), 'archived topic')} not listed: --cold lists all", err=True)
    elif not (pending or warm or cold):
        words = "No older topic has been compressed here yet. Hooks do it when a window is 60% full"
        say(f"{words}; `holdfast compress --now` does it now.", err=True)


@segments.command()
@click.argument("segment_id")
@AS_JSON
def show(segment_id: str, as_json: bool) -> None:
    """Print the short form of a topic, with its session and sizes. The first characters of its
    id are enough."""
    segment = _named(segment_id)
    library.note_access(segment.segment_id, int(time.time() * 1000))
    if as_json:
        return print_json(formats.plain(segment))
    tier = library.tier(segment.segment_id)
    say(f"{_line(segment)}, {TIERS.get(tier, tier) or 'of another tool'}")
    say(f"transcript  {clean(segment.metadata.transcript)}")
    for row in formats.render(segment).splitlines():
        say(clean(row))


@segments.command()
@click.argument("words", default="-")
def save(words: str) -> None:
    """Replace the short form of topics with better words. WORDS, or stdin, is JSON: one object or
    a list. {"segment_id": …, "compressed_content": …, "key_decisions": […], "key_files": […]}"""
    data = sys.stdin.buffer.read(MOST_INPUT) if words == "-" else words.encode()
    now_ms = int(time.time() * 1000)
    saved = [
        library.save(
            new.segment_id, new.compressed_content, new.key_decisions, new.key_files, now_ms
        )
        for new in library.parse_words(data)
    ]
    for segment in saved:
        before, after = segment.original_tokens, counted(segment.compressed_tokens, "token")
        size = f"{counted(before, 'token')} → {after}"
        say(f"saved {shown(segment.segment_id)} ({size}); Holdfast's own words stay behind it")


@segments.command()
@click.argument("segment_ids", nargs=-1)
@flag("--yes", help="Do not ask.")
def clear(segment_ids: tuple[str, ...], yes: bool) -> None:
    """Remove compressed topics for good. The transcript is not touched."""
    chosen = [_named(name) for name in segment_ids]
    if not chosen:
        raise NoSegment("there is nothing to clear: give the ids of topics")
    for segment in chosen:
        say(_line(segment), err=True)
    if not yes:
        confirm(f"Remove {len(chosen)} for good?")
    with library.hold_segments():
        gone = [segment for segment in chosen if library.clear(segment)]
    say(f"{len(gone)} removed; the transcript still has what they stood for")


def _line(segment: Compressed) -> str:
    size = f"{segment.original_tokens:,} → {counted(segment.compressed_tokens, 'token')}"
    when = f"session {segment.session_id[:8]}, steps {segment.start_turn}-{segment.end_turn}"
    use = f"relevance {segment.relevance_score:.2f}, read {segment.access_count}x"
    topic = f"{_origin(segment.metadata.written_by)}{clean(segment.topic)}"
    numbers = paint(shown(f"({when}, {size}, {use})"), "dim")
    return f"{paint(shown(segment.segment_id), 'bold')}  {topic} {numbers}"


def _origin(written_by: str) -> str:
    return f"({written_by}) " if written_by == formats.FOREIGN else ""


def _named(segment_id: str) -> Compressed:
    exact = library.find(segment_id)
    if exact is not None:
        return exact
    similar = library.find_by_prefix(segment_id) if segment_id else []
    if len(similar) > 1:
        raise NoSegment(
            f"{len(similar)} topics have an id that begins with {segment_id!r}",
            "give more characters of the id; `holdfast segments` lists them",
            2,
        )
    if not similar:
        raise NoSegment(f"no compressed topic has the id {segment_id!r}")
    return similar[0]


@click.command()
@partial(of_session, has_demo=False)
@flag("--now", help="Compress however full the window is.")
def compress(session: str, now: bool) -> None:
    """Compress the older topics of a session.

    A hook does this by itself when the window is more than 60% full. Below that, this command
    compresses nothing unless you add --now. The transcript is not changed.
    """
    chosen = choose(session)
    state, now_ms = chosen.state, int(time.time() * 1000)
    with working("compressing"), sessions.working_folder(chosen) as folder:
        seen = measurement.of_transcript(state, settings_load.load(state.project), now_ms, folder)
        report = tiers.roll(
            state.transcript,
            session_id=state.session_id,
            record=storage.read_on(state, folder),
            project=state.project,
            used_ratio=seen.verdict.used_ratio,
            now_ms=now_ms,
            force=now,
        )
    for text in _lines(report):
        say(text)
    if report.errors:
        raise HoldfastError("; ".join(report.errors), "what was not compressed stays pending")


def _lines(report: RollReport) -> list[str]:
    """Return the lines for what was done, else for what was not and why. --now is advised only
    where it would compress something."""
    done = [report.line] if report.line else []
    if report.still_pending:
        done.append(f"{report.still_pending} still pending")
    if report.pruned:
        done.append(f"{report.pruned} pruned to their summary")
    if done:
        return done
    if not report.turn:  # the transcript was not read: another process has it
        return [report.why_not or NONE_READY]
    can = f"{counted(report.ready, 'topic')} can be compressed with --now"
    parts = (report.why_not, can if report.ready else NONE_READY)
    return [f"step {report.turn}: {'; '.join(filter(None, parts))}"]
