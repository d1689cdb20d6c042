"""What can go wrong between Holdfast and Claude Code's files, each with the next thing to try."""

from holdfast.wire.errors import HoldfastError


class InstallError(HoldfastError):
    exit_code = 5


class SettingsBroken(InstallError):
    """The settings file is invalid: Claude Code could not read it either."""

    hint = "fix the file first; nothing was changed"


class SettingsIsALink(InstallError):
    """The settings file is a link, or has several names: replacing it would disconnect it from the
    tool that manages it."""


class SettingsReadOnly(InstallError):
    hint = "nothing was changed; make the file and its folder writable, then try again"


class CannotWrite(InstallError):
    hint = "what had been written was undone; check free disk space"
