"""Errors about checkpoints, each with the next thing to try."""

from __future__ import annotations

from holdfast.wire.errors import HoldfastError


class CheckpointNotSaved(HoldfastError):
    """Neither the project nor our own folder took the checkpoint."""

    exit_code = 4
    hint = "make the project or HOLDFAST_HOME writable and free some space; earlier ones are safe"


class NoCheckpoint(HoldfastError):
    """No checkpoint matches the request."""

    hint = "`holdfast resume` lists what there is; `holdfast rebuild` looks at the files again"


class FirstOfSession(NoCheckpoint):
    """There is no earlier checkpoint to compare with."""

    hint = "name two: holdfast diff OLDER NEWER; `holdfast resume` lists them"


class UnclearCheckpoint(HoldfastError):
    """More than one checkpoint matches."""

    exit_code = 2
    hint = "name the file instead"


class DamagedCheckpoint(HoldfastError):
    """The file is not a valid checkpoint; `part` says which part is wrong."""

    hint = "`holdfast verify` says what is wrong with it"

    def __init__(self, part: str, words: str) -> None:
        super().__init__(f"{part}: {words}")
        self.part, self.words = part, words


class Changed(HoldfastError):
    """The file is not what was saved: somebody edited it, or it was damaged."""

    hint = "`holdfast verify FILE` says what is wrong; --anyway loads it as it is"


class NewerCheckpointIndex(HoldfastError):
    """A newer Holdfast wrote the index, so it is not overwritten."""

    hint = "upgrade Holdfast; checkpoints themselves can still be named by file"
