"""Transcripts where the client puts them, for tests of the archive."""

import gzip
import os
from pathlib import Path
from typing import Any

from holdfast.archive import transcripts
from holdfast.client.claude_folder import transcripts_folder
from holdfast.client.memory_folder import slug
from tests.builders import a_prompt, a_transcript, an_answer

PROJECT = "/p"
DAY = 86_400
TOKEN = "ghp_" + "Zx9Kq2Lm7Rt4Vb8Nc1Wd5Yf3Hg6Jp0Xs2Ae4"  # of no account
ROOM = 1 << 30


def session_path(session: str = "s1", project: str = PROJECT) -> Path:
    return transcripts_folder() / slug(project) / f"{session}.jsonl"


def agent_path(session: str = "s1", agent: str = "a1") -> Path:
    return session_path(session).with_suffix("") / "subagents" / f"agent-{agent}.jsonl"


def a_session(session: str = "s1", *lines: dict[str, Any], days_old: float = 0) -> Path:
    """A session the client has, last written to so many days before 2026."""
    told = lines or (a_prompt(f"paint the {session} fence"), an_answer(id=f"m-{session}"))
    path = a_transcript(session_path(session), *({**one, "sessionId": session} for one in told))
    return aged(path, days_old)


def aged(path: Path, days_old: float) -> Path:
    at = 1_767_225_600 - days_old * DAY
    os.utime(path, (at, at))
    return path


def archived_text(path: Path) -> str:
    return gzip.decompress(Path(transcripts.copy_of(str(path))).read_bytes()).decode()
