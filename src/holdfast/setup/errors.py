"""What can go wrong between Holdfast and Claude Code's files, each with the next thing to try."""

from __future__ import annotations

from holdfast.wire.errors import HoldfastError


class InstallError(HoldfastError):
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
    hint = "nothing was changed; make the file and its folder writable, then try again"


class ChangedMeanwhile(InstallError):
    """Someone else wrote the file between our reading and our writing."""

    hint = "nothing was changed; run the command again"


class CannotWrite(InstallError):
    hint = "what had been written was undone; check free disk space"


class CannotUndo(InstallError):
    """A step failed, and so did undoing an earlier one."""

    exit_code = 6
    hint = "compare these files with the backups in HOLDFAST_HOME/installs"


class AlreadyInstalledElsewhere(InstallError):
    """Holdfast is installed in another place: its hooks would run twice."""
