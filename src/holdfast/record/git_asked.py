"""What the user asked to be done with git and nobody has seen done: a commit, a push, a request.

These words are the same in most languages, and git says whether it was done. Any other request is
open or over by the model's words.
"""

import re
from collections.abc import Iterator

from holdfast.record.git_work import COMMIT, CREATE, PUSH
from holdfast.record.model import Record, Turn
from holdfast.text.sentences import Lazy, sentences, within

LONGEST_CHARS = 600  # more is a plan, or something pasted
_HINTS = ("commit", "comited", "push", "merged", "opened", " pr", "pull request")
NAMES = {COMMIT: "commit", PUSH: "push", CREATE: "pull request"}
# At the beginning of a sentence or a clause: a command, not "the commit" or "we push on Fridays".
_ASKED = Lazy(
    r"(?:^|[,;:&+(]\s*|\b(?:and|then|please|also|now|und|dann|bitte|y|et|puis|e|depois)\s+)"
    r"(?:(commit)\b(?! (?:message|hash|id|history|is|was|has|that|which|in)\b)"
    r"|(push)\b(?! (?:back|notif\w*|is|was|has)\b)"
    r"|(?:open|create|make|raise|submit|send)\s+(?:up\s+)?(?:(?:a|an|the|new|draft)\s+)*"
    r"(pr|pull request)\b)",
    re.IGNORECASE,
)
_DENIED = Lazy(
    r"\b(?:not|never|no|without|nicht|kein\w*|ohne|pas|sans|sin|sem|não|memory)\b|n't\b", re.I
)
_BY_USER = Lazy(r"\b(?:comm?itt?ed|pushed|merged|opened)\b", re.IGNORECASE)


def open_requests(record: Record) -> Iterator[tuple[Turn, str]]:
    """The turn that asked last for each of these, where none was seen since."""
    if record.git.is_partial:
        return
    work = record.git
    nothing_to_push = work.clean_op if work.pushed == work.commits or not work.commits else 0
    seen = {
        COMMIT: max(work.op, work.clean_op),
        PUSH: max(work.pushed_op, nothing_to_push),
        CREATE: work.request_op,
    }
    agents = [one.place.op for one in record.agents.values() if one.kind != "background command"]
    busy = max(agents, default=-1)  # what a subagent committed is not seen
    settled: set[str] = set()
    for turn in reversed(record.turns):
        low = turn.asked.lower()
        if turn.chars > LONGEST_CHARS or not within(_HINTS, low):
            continue
        if _BY_USER.pattern.search(turn.asked):
            return  # the user tells of it: from here on nothing is known
        for verb in _asked(turn.asked) - settled:
            settled.add(verb)
            if seen[verb] <= turn.place.op and busy <= turn.place.op:
                yield turn, NAMES[verb]


def _asked(words: str) -> set[str]:
    found: set[str] = set()
    for sentence in sentences(words):
        if not _DENIED.pattern.search(sentence):
            for match in _ASKED.pattern.finditer(sentence):
                found.add(COMMIT if match[1] else PUSH if match[2] else CREATE)
    return found
