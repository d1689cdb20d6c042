"""What one roll did, and the line that says so."""

from __future__ import annotations

import msgspec

from holdfast.segment.formats import Done


class Report(msgspec.Struct):
    """What one roll did."""

    session_id: str
    turn: int = 0
    looked: bool = False
    why_not: str = ""
    compressed: list[Done] = []
    still_pending: int = 0
    safe_tokens: int = 0  # of those still in the window, less what stands for them
    archived: int = 0
    pruned: int = 0
    slips: list[str] = []
    exit_code: int = 1  # of the worst of them, for a command

    @property
    def line(self) -> str:
        """For the user. Writing a file frees nothing: it makes it safe to drop."""
        gone = sum("/cold/" in one.storage_location for one in self.compressed)
        older = self.archived - gone
        if not self.compressed:
            return (
                f"Archived {_counted(older)}; `holdfast segments --cold` lists them"
                if older
                else ""
            )
        before = sum(one.original_tokens for one in self.compressed)
        after = sum(one.compressed_tokens for one in self.compressed)
        told = f"Compressed {_counted(len(self.compressed))} ({before:,} tokens → {after:,} tokens)"
        told += f", {_where(len(self.compressed) - gone, gone)}"
        told += f"; {older} older archived" if older else ""
        return f"{told}; safe to drop: ~{self.safe_tokens:,} tokens" if self.safe_tokens else told


def _where(warm: int, cold: int) -> str:
    """Where they lie now: some may have gone on to the archive in the same look."""
    if warm and cold:
        return f"{warm} saved as warm, {cold} archived"
    return "archived" if cold else "saved as warm"


def _counted(number: int) -> str:
    return f"{number} segment{'s' if number > 1 else ''}"
