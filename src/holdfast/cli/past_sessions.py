"""The newest sessions of this machine that are not running, from Claude Code's own transcripts.
`status --all` lists them after the running ones, also those before an install.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from holdfast.cli.terminal import say
from holdfast.client.agents import session_of
from holdfast.client.limit_settings import project_of
from holdfast.client.transcript_files import by_time, modified_at
from holdfast.record.user_input import first_words
from holdfast.redact import redact
from holdfast.text import fence
from holdfast.text.fence import shown
from holdfast.text.numbers import short
from holdfast.transcript import Unreadable, lookup

PAST_SESSIONS = 10
COUNTED_BYTES = 100 << 20  # a gigabyte takes a second
MOST_ASKED = 1_000
FOLDER_CHARS = 24
NARROW = 80  # columns; below, half of that


class PastSession(NamedTuple):
    """A session that is not running, according to its transcript."""

    session_id: str
    written: float
    folder: str
    asked: str
    compactions: int | None  # None: the file is too large to count in a moment


def past_sessions(running: Collection[str], start: str = "") -> Iterator[PastSession]:
    """List the newest transcripts of Claude Code, without those that are shown as running."""
    named = ((session_of(path), path) for path in by_time())
    wanted = ((name, path) for name, path in named if name.startswith(start))
    for name, path in islice((one for one in wanted if one[0] not in running), PAST_SESSIONS):
        try:
            is_small = path.stat().st_size <= COUNTED_BYTES
            count = lookup.compactions(path).count if is_small else None
            first_prompt = _first_prompt(path)
        except (OSError, Unreadable):  # deleted meanwhile
            continue
        yield PastSession(name, modified_at(path), project_of(path), first_prompt, count)


def _first_prompt(path: Path) -> str:
    """Return the user's first words, redacted; empty if the first entries have none."""
    words = first_words(path)
    return redact(" ".join(words.split())[:MOST_ASKED])


def show(running: Collection[str], start: str = "") -> bool:
    """Print the sessions, one line each; return False if there are none."""
    found = list(past_sessions(running, start))
    if found:
        say("Not running, newest first; `holdfast replay ID` shows what happened in one:", err=True)
    width = shutil.get_terminal_size((120, 24)).columns
    folder_chars = FOLDER_CHARS if width >= NARROW else FOLDER_CHARS // 2
    if found:
        heads = f"{'session':<8} {'age':>8} compactions {'folder':<{folder_chars}} asked first"
        say(short(heads, width), err=True)
    for one in found:
        say(short(_line(one, folder_chars), width))
    return bool(found)


def _line(one: PastSession, folder_chars: int) -> str:
    folder = shown(one.folder or "unknown")
    if len(folder) > folder_chars:
        folder = f"…{folder[1 - folder_chars :]}"  # the folders of one machine begin alike
    count = "?" if one.compactions is None else f"{one.compactions}"
    head = f"{shown(one.session_id[:8]):<8} {_age(one.written):>8} {count:>11} "
    return f"{head}{folder:<{folder_chars}} {shown(fence.clean(one.asked))}"


def _age(written: float) -> str:
    minutes = max(0.0, time.time() - written) / 60
    if minutes < 90:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.0f} h" if minutes < 2880 else f"{minutes / 1440:.0f} days"
