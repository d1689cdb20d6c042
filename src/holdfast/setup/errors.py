"""What can go wrong between Holdfast and Claude Code's files, each with the next thing to try."""

from __future__ import annotations

# so that callers import every error from here
from holdfast.wire.errors import HoldfastError as HoldfastError


class InstallError(HoldfastError):
    """The base of these errors."""

    exit_code = 5


class SettingsBroken(InstallError):
    """The settings file is invalid: Claude Code could not read it either."""

    hint = "fix the file first; nothing was changed"


class LeftBehind(InstallError):
    """Our lines could not be removed from some files; everything else of ours is removed."""

    hint = "fix it, then uninstall again: it was not changed, and all else of Holdfast is removed"


class CheckpointsStay(InstallError):
    """Folders of checkpoints that should go hold something else, so they were not removed."""

    hint = "look at what is in them; remove by hand what you do not need, then run it again"


class SettingsIsALink(InstallError):
    """The settings file is a link, or has several names: replacing it would disconnect it from the
    tool that manages it."""


class SettingsReadOnly(InstallError):
    """The file or its folder is not writable."""

    hint = "nothing was changed; make the file and its folder writable, then try again"


class ChangedMeanwhile(InstallError):
    """Someone else wrote the file between our reading and our writing."""

    hint = "nothing was changed; run the command again"


class CannotWrite(InstallError):
    """The system refused to write."""

    hint = "what had been written was undone; check free disk space"


class CannotUndo(InstallError):
    """A step failed, and so did undoing an earlier one."""

    exit_code = 6
    hint = "compare these files with the backups in HOLDFAST_HOME/installs"


class AlreadyInstalledElsewhere(InstallError):
    """Holdfast is installed in another place: its hooks would run twice."""


class InstallRunning(InstallError):
    """Another install or uninstall holds the lock."""

    hint = "wait for it to end, then try again"


class HomeUnusable(InstallError):
    """The place for Holdfast's files, HOME or HOLDFAST_HOME, is not a folder we can write to."""

    hint = "nothing was changed; set HOLDFAST_HOME to a folder of yours, or HOME to yours"
