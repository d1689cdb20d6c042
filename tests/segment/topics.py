"""Sessions that turn from one topic to another, as the client would write them down."""

from pathlib import Path

from holdfast.segment.compress import Segment, segments
from tests.checkpoint.sessions import Session

TABLE = "Make the table reader skip a byte order mark, and cover it with a test."
MAIL = "Now write the weekly digest mail: subject, greeting and unsubscribe footer."
COLOUR = "Give the dashboard a dark palette with contrast that passes the checker."
ABOUT = {
    TABLE: (
        "src/table/reader.py",
        "the reader decodes every heading of the sheet past its mark",
        "read_heading",
    ),
    MAIL: (
        "mail/digest.html",
        "the digest greets subscribers, then lists articles above the footer",
        "render_digest",
    ),
    COLOUR: (
        "web/palette.css",
        "the palette darkens panels, borders and labels until contrast holds",
        "dark_panel",
    ),
}
ASKED = tuple(ABOUT)


def works_on(session: Session, asked: str, steps: int = 8, *, ends: bool = True) -> Session:
    """A request, some steps on its own files in its own words, and an end."""
    path, words, name = ABOUT[asked]
    session.user(asked)
    for number in range(steps):
        session.says(f"Next: {words} ({number}).")
        session.edits(path, "old", f"def {name}(): return {number}  # {words}")
    if ends:
        session.runs(f"pytest -q tests/test_{name}.py", "3 passed")
        session.says(f"Done: {words}. I decided to keep {name} because it is small.")
    return session


def a_session(*asked: str, steps: int = 8) -> Session:
    session = Session()
    for one in asked or ASKED:
        works_on(session, one, steps)
    return session


def cut(session: Session, folder: Path, session_id: str = "s-1") -> list[Segment]:
    """The segments that are over."""
    return segments(session.record(folder), session_id)
