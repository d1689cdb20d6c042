"""What can go wrong with an archived output."""

from __future__ import annotations

from holdfast.wire.errors import HoldfastError


class NoOutput(HoldfastError):
    """No output has this id, or not any more."""

    hint = "outputs are kept for a while (settings archive_days, archive_megabytes); run it again"


class NotArchived(HoldfastError):
    """It could not be kept: the result goes to the model as it is."""

    exit_code = 4
    hint = "make HOLDFAST_HOME writable and free some space"


class NoArchivedTranscript(HoldfastError):
    """No archived transcript is meant."""

    hint = "`holdfast transcripts` lists them"


class DamagedTranscript(HoldfastError):
    """The archived copy cannot be read."""

    hint = "where Claude Code still has the session, `holdfast transcripts save` writes it again"


class SeveralTranscripts(HoldfastError):
    """More than one is meant."""

    exit_code = 2
    hint = "say more of the id; `holdfast transcripts` lists them"
