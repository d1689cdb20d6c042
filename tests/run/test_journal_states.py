"""The journal of a run against a list of records: killed, on a full disk, changed."""

import resource
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from holdfast.run.journal import Begun, Ended, Journal, JournalError, Line, Saved, Started
from holdfast.wire import places
from tests.checkpoint.killing import killed_at
from tests.state_machines import play

KINDS = st.sampled_from((Started, Ended, Saved))
WORDS = st.text(max_size=20)
Kind = type[Started] | type[Ended] | type[Saved]


class JournalMachine(RuleBasedStateMachine):
    """`lines` is what a runner that starts now must find."""

    def __init__(self) -> None:
        super().__init__()
        Path(places.home()).mkdir(exist_ok=True)
        self.place = tempfile.TemporaryDirectory(dir=places.home())
        self.path = Path(self.place.name, "journal.jsonl")
        self.lines: list[Line] = []
        self.journal = Journal(self.place.name)

    def teardown(self) -> None:
        self.place.cleanup()

    def _new(self, kind: Kind, words: str) -> list[Line]:
        return [*([] if self.lines else [Begun()]), kind(words)]

    @rule(kind=KINDS, words=WORDS)
    def add(self, kind: Kind, words: str) -> None:
        new = self._new(kind, words)
        self.journal.add(kind(words))
        self.lines += new

    @rule(kind=KINDS, words=WORDS, at=st.integers(1, 12))
    def add_and_die(self, kind: Kind, words: str, at: int) -> None:
        """The whole record or nothing."""
        new = self._new(kind, words)
        died = killed_at(at, partial(self.journal.add, kind(words)))
        self.open_again()
        written = self.journal.lines[len(self.lines) :]
        assert written in ([], new)
        assert died or written == new
        self.lines += written

    @rule(kind=KINDS, words=WORDS, room=st.integers(0, 60))
    def add_on_a_full_disk(self, kind: Kind, words: str, room: int) -> None:
        new, size = self._new(kind, words), self.path.stat().st_size if self.path.exists() else 0
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, hard))
        try:
            self.journal.add(kind(words))
            self.lines += new
        except JournalError:
            assert self.path.stat().st_size == size if self.path.exists() else size == 0
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    @rule()
    def remove_the_file(self) -> None:
        """The runner still knows everything, and writes it again with the next record."""
        if self.lines:
            self.path.unlink()
            self.add(Saved, "after")

    @rule(where=st.integers(0, 20), data=st.sampled_from((b"\0\0\0", b"not json", b"[]", b"{}")))
    def damage_a_line(self, where: int, data: bytes) -> None:
        """That line is lost, and said; the others are used."""
        if self.lines:
            lines = self.path.read_bytes().splitlines()
            lost = where % len(lines)
            lines[lost] = data
            self.path.write_bytes(b"".join(line + b"\n" for line in lines))
            del self.lines[lost]
            self.open_again()
            assert "damaged" in self.journal.notes[0]

    @rule()
    def open_again(self) -> None:
        self.journal = Journal(self.place.name)

    @invariant()
    def every_record_is_there_once_and_in_order(self) -> None:
        assert self.journal.lines == self.lines
        assert Journal(self.place.name, only_read=True).lines == self.lines


@pytest.mark.slow
@pytest.mark.requirement("P5", "X6")
def test_no_record_is_lost_or_doubled() -> None:
    play(JournalMachine, most_examples=40, steps=20)
