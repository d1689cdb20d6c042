"""The spool against a list of lines: appended by many, torn by kills and full disks, rotated."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from holdfast.wire import places, spool
from tests.state_machines import play

EVENTS = st.sampled_from(("PostToolUse", "Stop", "SessionStart"))


class SpoolMachine(RuleBasedStateMachine):
    """`older` and `newer` are what the two files must hold."""

    def __init__(self) -> None:
        super().__init__()
        self.home = tempfile.TemporaryDirectory()
        self.folder = Path(self.home.name)
        self.older: list[str] = []
        self.newer: list[str] = []
        self.ms = 0

    def teardown(self) -> None:
        self.home.cleanup()

    def _line(self, event: str, tool: str) -> spool.SpoolLine:
        self.ms += 1
        return spool.SpoolLine(self.ms, event, 20_000, "usage", f"t{self.ms}", tool)

    @rule(event=EVENTS, tool=st.text(max_size=8))
    def append(self, event: str, tool: str) -> None:
        line = self._line(event, tool)
        size = spool.append(str(self.folder), line)
        assert size == (self.folder / "spool").stat().st_size
        self.newer.append(line.render())

    @rule(event=EVENTS, cut=st.integers(1, 30))
    def tear(self, event: str, cut: int) -> None:
        """The writer died, or the disk was full, in the middle of a line."""
        data = self._line(event, "Bash").render().encode()[:-cut]
        with (self.folder / "spool").open("ab") as file:
            file.write(data)

    @rule()
    def rotate(self) -> None:
        """What `rotate` does to a spool that has grown too long."""
        path = self.folder / "spool"
        if path.exists():
            path.replace(self.folder / "spool.1")
            self.older, self.newer = self.newer, []

    @rule()
    def do_not_rotate_a_short_one(self) -> None:
        path = self.folder / "spool"
        size = path.stat().st_size if path.exists() else 0
        assert spool.rotate(str(self.folder)) == size

    @invariant()
    def every_whole_line_is_read_once_and_in_order(self) -> None:
        found = [line.render() for line in spool.lines(str(self.folder))]
        assert found == self.older + self.newer
        assert [line.render() for line in spool.recent(str(self.folder), 1 << 20)] == self.newer


@pytest.mark.slow
@pytest.mark.requirement("W8", "X6")
def test_torn_and_rotated_no_whole_line_is_lost_or_doubled() -> None:
    play(SpoolMachine, most_examples=60, steps=30)


@pytest.mark.requirement("X6")
def test_a_torn_line_that_looks_whole_is_marked_before_the_next(tmp_path: Path) -> None:
    """Cut in its last number, it would read as a shorter time."""
    line = spool.SpoolLine(1, "PostToolUse", 5, "usage", "t1", "Bash", 3, "m1", 1234)
    (tmp_path / "spool").write_bytes(line.render().encode()[:-3])
    places.append(str(tmp_path / "spool"), line.render().encode())
    assert [one.duration_ms for one in spool.lines(str(tmp_path))] == [1234]
