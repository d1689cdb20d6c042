"""What can keep a run from going on, each with the next thing to try."""

from __future__ import annotations

from holdfast.wire.errors import HoldfastError


class BatchFailed(HoldfastError):
    """A batch failed twice; what was done before it stays done."""

    exit_code = 1
    hint = "mend what the error names, then say the same again: it goes on with this batch"


class TookTooLong(BatchFailed):
    hint = "give it longer: --timeout MINUTES; it goes on with this batch"


class Conducted(HoldfastError):
    """A Claude that Holdfast started may not start another."""

    exit_code = 3
    hint = "end this session, and say `holdfast run` outside of it"


class AnotherRuns(HoldfastError):
    exit_code = 3
    hint = "wait for it, or end it with Ctrl-C: what it has done stays done"


class NewerJournal(HoldfastError):
    exit_code = 3
    hint = "use the Holdfast that wrote it, or move the folder away to begin anew"


class NotNoted(HoldfastError):
    """Work that could not be noted is not begun: it would be done again the next time."""

    exit_code = 4
    hint = "make room on the disk, or clear what stands in its place; what is done stays done"


class NoClient(HoldfastError):
    exit_code = 5
    hint = "install Claude Code, or name the program: --client-binary FILE"


class NotOurs(HoldfastError):
    """Words for the client that contradict those a run needs."""

    exit_code = 2
    hint = "leave it out: every session is a fresh one, with a name of its own"


class NotStarted(HoldfastError):
    """The system would not start a session: its folder is gone, no room, no more processes."""

    exit_code = 5
    hint = "mend what is named, then say the same again: what is done stays done"


class Interrupted(HoldfastError):
    """Ctrl-C, or a signal to end; every Claude was ended first."""

    hint = "say the same again: it goes on where it was"

    def __init__(self, signal_number: int) -> None:
        super().__init__("interrupted: every Claude it started has ended, what is done is noted")
        self.exit_code = signal_number + 128  # as a shell says it
