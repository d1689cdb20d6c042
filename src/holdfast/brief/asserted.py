"""What a summary says as a fact: sentences that call something done, neither wished nor planned."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.brief.fence import flat

MOST_LINES = 2_000
LONGEST = 300
# Under these a summary quotes the user.
_QUOTING = ("request", "user message", "messages of the user")
# Past failures, and "nothing is left": neither makes a sentence one about open work.
_PAST = re.compile(
    r"\b(?:failing|failed|broken) (?=tests?\b|\W?\w*test_)|\b(?:0|no) fail\w*"
    r"|\b(?:had |has )?(?:failed|(?:was|were) failing|broke) (?:earlier|before|previously|at first)"
    r"|\b(?:nothing|none|no \w+) (?:is |are |was )?(?:left|remain\w*|pending|open)(?: to do)?"
    r"|^pending tasks?: none|\bpreviously failing\b"
)
_OPEN = re.compile(
    r"\bfail|\b(?:will|would|should|could|must|needs?|want|wants|next|todo|pending|remain\w*|until|"
    r"once|if|when|whether|unless|ensure|verify|confirm|expect\w*|let|try|trying|going|not|"
    r"never|yet|cannot|almost|mostly|partly|except|in[ _-]progress|asked|requested|please|goal|"
    r"supposed|assum\w*|claim\w*|instead|make (?!\w+`)(?:sure|all|the|it|every\w*)"
    r")\b|n't\b|\?"
)
_DONE = re.compile(
    r"\b(?:is|are|was|were|been|now|got|all|both|fully|already|and|just|everything is) "
    r"(?:fixed|resolved|done|completed?|finished|implemented|verified|green|closed|passing)\b"
    r"|^(?:fixed|resolved|completed|finished|implemented|done|just completed)\b"
    r"|: (?:fixed|resolved|done|completed?|finished|implemented)\b"
    r"|\b(?:fixed|resolved|done|completed|finished)[\W_]*$|✅|\[x\]"
    r"|\b(?:pass|passes|passed|succeeds|succeeded|works)\b"
)


def sentences(summary: str) -> Iterator[str]:
    """Each on its own, as it was written; quotes of the user and code are left out."""
    quoting = numbered = in_code = False
    for line in summary.splitlines()[:MOST_LINES]:
        bare = line.strip().strip("*# ")
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif _is_heading(line, bare) or (numbered and line[:1].isdigit()):
            quoting = any(cue in bare.lower()[:60] for cue in _QUOTING)
            numbered = line[:1].isdigit()
        if quoting or in_code or bare[:1] in ('"', ">", "“", "|"):
            continue
        for part in re.split(r"(?<=[.!?]) | but ", re.sub(r"^(?:[-*•]|\d+[.)]) +", "", bare)):
            if len(part.strip()) > 8:
                yield flat(part, LONGEST)


def _is_heading(line: str, bare: str) -> bool:
    if line.startswith("#") or (bare.endswith(":") and len(bare) < 60):
        return True
    return line[:1].isdigit() and ":" in line[:60]  # `3. Files and Code Sections: …`


def plain(sentence: str) -> str:
    """As it is looked through: lower case, without failures of the past."""
    return _PAST.sub("", sentence.lower())


def calls_done(sentence: str) -> bool:
    low = plain(sentence)
    return bool(_DONE.search(low)) and not _OPEN.search(low)
