"""What can go wrong with a checkpoint, each with the next thing to try."""

from __future__ import annotations

from holdfast.wire.errors import HoldfastError


class CheckpointNotSaved(HoldfastError):
    """Neither the project nor our own folder took the checkpoint."""

    exit_code = 4
    hint = "make the project or HOLDFAST_HOME writable and free some space; earlier ones are safe"


class NoCheckpoint(HoldfastError):
    """Nothing fits what was asked for."""

    hint = "`holdfast resume` lists what there is; `holdfast rebuild` looks at the files again"


class FirstOfSession(NoCheckpoint):
    """It has no earlier one to be compared with."""

    hint = "name two: holdfast diff OLDER NEWER; `holdfast resume` lists them"


class UnclearCheckpoint(HoldfastError):
    """More than one fits."""

    exit_code = 2
    hint = "name the file instead"


class DamagedCheckpoint(HoldfastError):
    """A file that does not hold what a checkpoint holds; `part` says which part of it."""

    hint = "`holdfast verify` says what is wrong with it"

    def __init__(self, part: str, words: str) -> None:
        super().__init__(f"{part}: {words}")
        self.part, self.words = part, words


class Changed(HoldfastError):
    """Not what was kept: somebody wrote into it, or it was damaged."""

    hint = "`holdfast verify FILE` says what is wrong; --anyway loads it as it is"


class NewerCheckpointIndex(HoldfastError):
    """Written by a newer Holdfast: ours to read around, not to overwrite."""

    hint = "upgrade Holdfast; checkpoints themselves can still be named by file"
