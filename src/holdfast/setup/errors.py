"""What can go wrong between Holdfast and Claude Code's files, each with the next thing to try."""

from __future__ import annotations

from holdfast.wire.errors import HoldfastError as HoldfastError  # the whole tree, from one place


class InstallError(HoldfastError):
    """Any of them; a hint given with the message is closer to the case than the class's own."""

    exit_code = 5

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint or self.hint


class SettingsBroken(InstallError):
    """The settings file is not what Claude Code could read either."""

    hint = "mend the file first; nothing was changed"


class LeftBehind(InstallError):
    """Files we could not take our lines out of; all else of ours is out."""

    hint = "mend it, then uninstall again: it was not touched, and all else of ours is out"


class SettingsIsALink(InstallError):
    """Replacing a link by a file would cut it from whatever manages it."""


class SettingsReadOnly(InstallError):
    """The file or its folder may not be written."""

    hint = "nothing was changed; make the file and its folder writable, then try again"


class ChangedMeanwhile(InstallError):
    """Someone else wrote the file between our reading and our writing."""

    hint = "nothing was changed; run the command again"


class CannotWrite(InstallError):
    """The disk said no."""

    hint = "what had been written was undone; check free disk space"


class CannotUndo(InstallError):
    """A step failed, and so did taking back one before it."""

    exit_code = 6
    hint = "compare these files with the backups in HOLDFAST_HOME/installs"


class AlreadyInstalledElsewhere(InstallError):
    """Installed in two places, a hook can run twice."""


class InstallRunning(InstallError):
    """Another install or uninstall holds the lock."""

    hint = "wait for it to end, then try again"


class HomeUnusable(InstallError):
    """HOLDFAST_HOME is not a folder we can write to."""

    hint = "nothing was changed; point HOLDFAST_HOME at a folder of yours, or unset it"


class NotAPluginFolder(InstallError):
    """The folder for the plugin holds something else."""

    hint = "name a new or empty folder"
