"""What a summary says as a fact: clauses that call something done, neither wished nor planned."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.brief.fence import flat

MOST_LINES = 2_000
LONGEST = 300
# Under these a summary quotes the user, or says what is to come.
_ASIDE = ("request", "user message", "pending", "next", "todo", "to do", "remaining", "plan")
_FAILING_ONE = re.compile(
    r"\b(?:failing|failed|broken) (?=tests?\b|\W?\w*test_)|\b(?:0|no) fail\w*"
)
_OPEN = re.compile(
    r"\bfail|\b(?:will|would|should|could|must|needs?|want|wants|next|todo|pending|remain\w*|until|"
    r"once|if|when|whether|unless|before|ensure|verify|confirm|expect\w*|let|try|trying|going|not|"
    r"never|yet|cannot|almost|mostly|partly|except|in[ _-]progress|asked|requested|please|goal|"
    r"supposed|assum\w*|to|claim\w*|instead|without|step|make (?!\w+`)(?:sure|all|the|it|every\w*)"
    r")\b|n't\b|\?"
)
_DONE = re.compile(
    r"\b(?:is|are|was|were|been|now|got|all|both|fully|already|and|just) "
    r"(?:fixed|resolved|done|completed?|finished|implemented|green)\b"
    r"|^(?:fixed|resolved|completed|finished|implemented|just completed)\b"
    r"|\b(?:fixed|resolved|done|completed|finished)[\W_]*$|✅|\[x\]"
)
_PASSING = re.compile(r"\b(?:pass|passes|passed|passing|succeeds|succeeded|works|green)\b")


def clauses(summary: str) -> Iterator[str]:
    """Each on its own, as it was written; quotes, code, and what stands under a heading of things
    asked or to come are left out."""
    aside = numbered = in_code = False
    for line in summary.splitlines()[:MOST_LINES]:
        bare = line.strip().strip("*# ")
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif _is_heading(line, bare) or (numbered and line[:1].isdigit()):
            aside = any(cue in bare.lower()[:60] for cue in _ASIDE)
            numbered = line[:1].isdigit()
        if aside or in_code or bare[:1] in ('"', ">", "“", "|"):
            continue
        for part in re.split(r"(?<=[.!?]) |; | but ", re.sub(r"^(?:[-*•]|\d+[.)]) +", "", bare)):
            if len(part.strip()) > 8:
                yield flat(part, LONGEST)


def _is_heading(line: str, bare: str) -> bool:
    if line.startswith("#") or (bare.endswith(":") and len(bare) < 60):
        return True
    return line[:1].isdigit() and ":" in line[:60]  # `3. Files and Code Sections: …`


def plain(clause: str) -> str:
    """As it is looked through: lower case, and a failing test is only a test."""
    return _FAILING_ONE.sub("", clause.lower())


def calls_done(clause: str) -> bool:
    low = plain(clause)
    return bool(_DONE.search(low)) and not _OPEN.search(low)


def calls_passing(clause: str) -> bool:
    low = plain(clause)
    return bool(_PASSING.search(low)) and not _OPEN.search(low)
