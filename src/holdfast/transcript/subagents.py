"""Where the transcripts of a session's subagents lie.

Beside `<session>.jsonl` there may be `<session>/subagents/agent-<id>.jsonl`. Both names come from
outside, so neither may contain anything but letters, digits, `_` and `-`: no dots, no slashes.
"""

import os
import re
from pathlib import Path

_A_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
_AN_AGENTS_FILE = re.compile(r"agent-([A-Za-z0-9_-]{1,128})\.jsonl")


def subagent_files(transcript: str | os.PathLike[str]) -> list[tuple[str, Path]]:
    """(agent id, path) for each subagent of the session, by id; links are not followed."""
    folder = _folder(Path(transcript))
    if folder is None:
        return []
    try:
        with os.scandir(folder) as found:
            files = [entry.name for entry in found if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []
    named = (_AN_AGENTS_FILE.fullmatch(name) for name in sorted(files))
    return [(match[1], folder / match[0]) for match in named if match]


def subagent_file(transcript: str | os.PathLike[str], agent_id: str) -> Path | None:
    """Where this agent's transcript is or would be; None when the id is not an id."""
    folder = _folder(Path(transcript))
    if folder is None or not _A_NAME.fullmatch(agent_id):
        return None
    return folder / f"agent-{agent_id}.jsonl"


def _folder(transcript: Path) -> Path | None:
    session = transcript.name.removesuffix(".gz").removesuffix(".jsonl")
    return transcript.parent / session / "subagents" if _A_NAME.fullmatch(session) else None
