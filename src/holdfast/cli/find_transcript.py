"""Which transcript a word on the command line means: a file, the start of a session's id, or, with
no word, the newest one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from holdfast.archive import transcripts as archive
from holdfast.archive.errors import NoArchivedTranscript
from holdfast.cli.choose_session import NoSuchTranscript
from holdfast.client.memory_folder import slug
from holdfast.client.settings_files import transcripts_folder
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

LOOKED_AT = 40  # files, the newest first
COMPACTED = b'"compact_boundary"', b'"isCompactSummary":true'


class NoTranscriptYet(HoldfastError):
    exit_code = 2
    hint = "name a transcript, a .jsonl file; or use Claude Code once, and come back"


class NoSuchName(NoSuchTranscript):
    hint = "name a .jsonl file under ~/.claude/projects; with no name, the newest session is taken"


class SeveralSessions(HoldfastError):
    exit_code = 2
    hint = "write more of the id, or name the file"


def find(word: str = "") -> Path:
    """The file; an error says what there is instead."""
    if not word:
        return newest()
    path = Path(word)
    if path.is_file():
        return path
    if "/" in word or path.suffix in (".jsonl", ".gz"):
        raise NoSuchTranscript(f"{path} is not a file")
    return _of_session(word)


def newest() -> Path:
    """Of this folder's project, else of all."""
    here = _by_time(transcripts_folder() / slug(str(Path.cwd().resolve())))
    everywhere = here or _by_time(transcripts_folder())
    if not everywhere:
        raise NoTranscriptYet(f"Claude Code has no transcript in {transcripts_folder()}")
    return everywhere[0]


def newest_compacted(but: Path) -> Path | None:
    """The newest with a compaction in it, among the last ones."""
    found = (one for one in _by_time(transcripts_folder())[:LOOKED_AT] if one != but)
    return next((one for one in found if _is_compacted(one)), None)


def _of_session(start: str) -> Path:
    found = [one for one in _transcripts(transcripts_folder()) if one.name.startswith(start)]
    if len({one.name for one in found}) > 1:
        raise SeveralSessions(f"{len(found)} sessions begin with {inert(start, 80)}")
    if found:
        return max(found, key=_written)
    try:
        return Path(archive.named(start).path)
    except NoArchivedTranscript:
        words = f"no file is called {inert(start, 80)}, and no session's id begins so"
        raise NoSuchName(words) from None


def _transcripts(folder: Path) -> Iterator[Path]:
    """Those of sessions: the files of subagents lie deeper."""
    yield from folder.glob("*.jsonl")
    yield from folder.glob("*/*.jsonl")


def _by_time(folder: Path) -> list[Path]:
    """The newest first. Old clients wrote subagents beside their sessions."""
    found = (one for one in _transcripts(folder) if not one.name.startswith("agent-"))
    return sorted(found, key=_written, reverse=True)


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # deleted meanwhile
        return 0.0


def _is_compacted(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return any(sign in line for line in file for sign in COMPACTED)
    except OSError:
        return False
