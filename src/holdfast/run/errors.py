"""What can stop a run, each with the next thing to try."""

from __future__ import annotations

from holdfast.wire.errors import HoldfastError


class BatchFailed(HoldfastError):
    """A batch failed twice. Everything done before it stays done. `state` is the run's."""

    exit_code = 1
    state = "failed"
    hint = "fix what the error names, then run the same command: it goes on with this batch"


class BatchTimedOut(BatchFailed):
    hint = "give it longer: --timeout MINUTES; it goes on with this batch"


class PlanWaits(HoldfastError):
    """A task needs a person, or the plan says to stop. Nothing failed, so no other session is
    tried."""

    exit_code = 1
    state = "waiting"
    hint = (
        "when that is settled, write the answer below the task in the plan, and `[x]` before its "
        "words if nothing of it is left to do; then run the same command"
    )


class NestedRun(HoldfastError):
    """A Claude that Holdfast started may not start another."""

    exit_code = 3
    hint = "end this session, and run `holdfast run` outside of it"


class AlreadyRunning(HoldfastError):
    exit_code = 3
    hint = "wait for it, or end it with Ctrl-C: what it has done stays done"


class NewerJournal(HoldfastError):
    exit_code = 3
    hint = "use the Holdfast version that wrote it, or move the folder away to start again"


class JournalNotWritten(HoldfastError):
    """Work that cannot be recorded does not start: the next run would do it again."""

    exit_code = 4
    hint = "free disk space, or remove what blocks the file; what is done stays done"


class NoClient(HoldfastError):
    exit_code = 5
    hint = "install Claude Code, or name the program: --client-binary FILE"


class ReservedOption(HoldfastError):
    """Options for Claude Code that contradict those a run needs."""

    exit_code = 2
    hint = "leave it out: every session is a new one, with an id of its own"


class NotStarted(HoldfastError):
    """The system could not start a session: no folder, no memory, or too many processes."""

    exit_code = 5
    hint = "fix what is named, then run the same command: what is done stays done"


class Interrupted(HoldfastError):
    """Ctrl-C or another signal ended the run; every Claude was ended first."""

    state = "interrupted"
    hint = "run the same command again: it goes on where it was"

    def __init__(self, signal_number: int) -> None:
        super().__init__("interrupted: every Claude it started has ended, what is done is recorded")
        self.exit_code = signal_number + 128  # as shells do
