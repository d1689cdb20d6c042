"""Errors of archived outputs and archived transcripts."""

from __future__ import annotations

from holdfast.wire.errors import HoldfastError


class NoOutput(HoldfastError):
    """No output has this id, or the output has been removed."""

    hint = "outputs are saved for a limited time (archive_days, archive_megabytes); run it again"


class NoArchivedTranscript(HoldfastError):
    """No archived transcript has this id."""

    hint = "`holdfast transcripts` lists them"


class DamagedTranscript(HoldfastError):
    """The archived copy of a transcript cannot be read."""

    hint = "where Claude Code still has the session, the end of the next one writes it again"


class SeveralTranscripts(HoldfastError):
    """The start of an id fits more than one archived transcript."""

    exit_code = 2
    hint = "give more characters of the id; `holdfast transcripts` lists them"
