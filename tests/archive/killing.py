"""Kill a saving of transcripts at every point where it touches the disk, and look at what is left.

Run as a program, because it forks: `python -m tests.archive.killing FOLDER`. Any broken promise is
an AssertionError and exit 1.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path

from holdfast.archive import transcripts
from holdfast.archive.save_transcripts import save_all
from tests.archive.sessions import ROOM, a_session, aged, agent_path, archived_text
from tests.builders import a_prompt, a_transcript
from tests.checkpoint.killing import FAR, killed_at


def look(home: Path, session: Path, agent: Path, before: str) -> None:
    """What is archived is whole, old or new; the next saving finishes, and leaves no draft."""
    assert archived_text(session) in (before, session.read_text(encoding="utf-8"))
    if transcripts.copy_of(str(agent)):
        assert archived_text(agent) == agent.read_text(encoding="utf-8")
    save_all(ROOM)
    for path in (session, agent):
        assert archived_text(path) == path.read_text(encoding="utf-8")
    left = [path.name for path in home.rglob("*") if "draft" in path.name]
    assert not left, left


def main(folder: Path) -> int:
    for at in range(1, FAR):
        home = folder / f"{at}"
        home.mkdir()
        os.environ |= {"HOME": str(home), "HOLDFAST_HOME": str(home / ".holdfast")}
        session = a_session("s1", a_prompt("first"))
        before = session.read_text(encoding="utf-8")
        save_all(ROOM)
        with session.open("a", encoding="utf-8") as file:
            file.write(json.dumps(a_prompt("second")) + "\n")
        aged(session, -1)
        agent = a_transcript(agent_path(), a_prompt("look at the gate"))
        died = killed_at(at, partial(save_all, ROOM))
        look(home, session, agent, before)
        if not died:
            return at - 1
    return FAR


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
