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
        if not self.compressed:
            return ""
        before = sum(one.original_tokens for one in self.compressed)
        after = sum(one.compressed_tokens for one in self.compressed)
        count = f"{len(self.compressed)} segment{'s' if len(self.compressed) > 1 else ''}"
        told = f"Compressed {count} ({before:,} tokens → {after:,} tokens), saved as warm"
        return f"{told}; safe to drop: ~{self.safe_tokens:,} tokens" if self.safe_tokens else told
