"""After how many days the client deletes its transcripts: `cleanupPeriodDays`.

As client 2.1.325 has it: a whole number of at least 1, the strongest settings file wins, 30 where
none says so; while one says something else, it deletes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.client import limit_settings

NAME = "cleanupPeriodDays"
DEFAULT_DAYS = 30


class CleanupPeriod(NamedTuple):
    """`file`: the settings file that says so, empty for the default. `slip`: one that says what the
    client cannot use."""

    days: int = DEFAULT_DAYS
    file: str = ""
    slip: str = ""

    @property
    def words(self) -> str:
        if self.slip:
            return f"Claude Code deletes no transcript until this is mended: {self.slip}"
        origin = f"{NAME} in {self.file}" if self.file else f"{NAME} is not set"
        days = "day" if self.days == 1 else "days"
        return (
            f"Claude Code deletes a transcript {self.days:,} {days} after its last use ({origin})"
        )


def cleanup_period(project: str = "", environ: Mapping[str, str] | None = None) -> CleanupPeriod:
    """As it holds for sessions in this project."""
    found = CleanupPeriod()
    environ = os.environ if environ is None else environ
    for file, settings in limit_settings.settings_by_file(project, environ):
        if NAME not in settings:
            continue
        days = settings[NAME]
        if isinstance(days, int) and not isinstance(days, bool) and days > 0:
            found = found._replace(days=days, file=file)
        else:
            found = found._replace(slip=f"{NAME} = {days!r} in {file}")
    return found
