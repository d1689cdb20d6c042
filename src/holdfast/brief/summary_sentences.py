"""What a summary says by itself: its sentences, without quotes, code and what is to come."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.text.fence import flat

MOST_LINES = 2_000
LONGEST = 300
# Under these a summary quotes the user, or lists what is to come.
_QUOTING = ("request", "user message", "messages of the user")
_TO_COME = ("pending", "next step", "to do", "todo", "remaining", "not done", "still open")


def sentences(summary: str) -> Iterator[str]:
    """Each on its own, as it was written; quotes of the user, code and lists of what is to come
    are left out."""
    quoting = numbered = in_code = to_come = False
    for line in summary.splitlines()[:MOST_LINES]:
        bare = line.strip().strip("*# ")
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif _is_heading(line, bare) or (numbered and line[:1].isdigit()):
            head = bare.lower()[:60]
            quoting = any(cue in head for cue in _QUOTING)
            to_come = any(cue in head for cue in _TO_COME) and bare.endswith(":")
            numbered = line[:1].isdigit()
        if quoting or in_code or to_come or bare[:1] in ('"', ">", "“", "|"):
            continue
        for part in re.split(r"(?<=[.!?]) | but ", re.sub(r"^(?:[-*•]|\d+[.)]) +", "", bare)):
            if len(part.strip()) > 8:
                yield flat(part, LONGEST)


def _is_heading(line: str, bare: str) -> bool:
    if line.startswith("#") or (bare.endswith(":") and len(bare) < 60):
        return True
    return line[:1].isdigit() and ":" in line[:60]  # `3. Files and Code Sections: …`
