"""What kind of work the words of a task tell: a commit, a test run, a search, a check for all later
work. Whether a task needs a person is left to the session that reads it.

Only the first words of a title count, after a number (`T7:`, `3.`, `Step 2 -`), courtesies and a
label (`Type hints: run mypy`). What they do not tell is left open.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

READ_CHARS = 20_000

_NUMBER = r"(?:(?:[a-z]{1,10}[ -]?)?#?\d[\d.]*[a-z]?\s*[:.)\]\u2013\u2014-]+\s+)?"
_COURTESY = (
    rf"\W*{_NUMBER}[*_`]{{0,3}}(?:(?:please|now|ok|okay|great|and|then|so|next|yes|also|can you"
    r"|could you|let'?s|go ahead and)[,.! ]+)*"
)
_LOOKS = (
    r"(?:investigate|analy[sz]e|explore|look (?:into|at)|find out|figure out|debug|diagnose"
    r"|research|audit|understand)\b"
)
_COMMITS = (
    r"(?:(?:git |(?:squash|tag|rebase)(?:,| and) )?(?:commit|push)"
    r"|(?:open|create|submit) (?:a |the )?(?:draft )?(?:pr|pull request))\b"
)
_RUNS_TESTS = (
    r"(?:lint\b|format and lint\b|(?:the )?(?:full|whole|entire|final) (?:test|suite)"
    r"|(?:re-?run|run|execute|(?:check|verify) with)\b.{0,40}\b(?:tests?|suite|lint|checks?"
    r"|pytest|tox|mypy|ruff|eslint|tsc)\b"
    r"|(?:make sure|ensure|check|verify)\b.{0,40}\b(?:tests?|suite|checks?|ci)\b.{0,20}"
    r"\b(?:pass\w*|green|clean)\b)"
)
COMMIT, TESTS, RENAME, INVESTIGATE, IMPLEMENT = range(1, 6)
# The name of each kind, how it begins, and the most characters: a long request that begins with
# `commit` does more than that.
KINDS: Final = {
    COMMIT: ("commit or push", _COMMITS, 120),
    TESTS: ("run tests", _RUNS_TESTS, 200),
    RENAME: ("rename", r"rename\b", READ_CHARS),
    INVESTIGATE: ("investigate", _LOOKS, READ_CHARS),
    IMPLEMENT: ("implement", r"(?:implement|build|create|write|develop|design)\b", READ_CHARS),
}
_KINDS = {kind: re.compile(_COURTESY + begins) for kind, (_, begins, _) in KINDS.items()}

# Looking for an answer without building anything, beyond the verbs of `_LOOKS`.
_ASKS_WHETHER = r"(?:check|see|test|try|verify|confirm|determine) (?:whether|if)\b"
_MEASURES = (
    r"(?:(?:reproduce|bisect|measure|profile|benchmark|time)\b"
    r"|(?:load|stress|soak)[ -]test\b"
    r"|(?:take|capture|record|get)\b.{0,40}\b(?:snapshot|profile|dump|trace|measurement)s?\b)"
)
_OBSERVES = rf"(?:{_MEASURES}|(?:compare|evaluate|assess|try)\b|{_ASKS_WHETHER})"
_READS = (
    r"(?:read|shortlist|hypothes[ie]s|map (?:the|all|out|which|where|who)"
    r"|search (?:for|through|the)|trace (?:where|why|how|what)"
    r"|(?:make|draw|sketch) (?:a |an |the )?(?:\w+ )?"
    r"(?:list|inventory|overview|survey|graph|map|diagram))\b"
)
_QUESTION = r"(?:why|which|what|where|who|when|how|is|are|does|do|did|can|could|should)\b[^?]*\?"
_RUNS = re.compile(
    _COURTESY
    + rf"(?:{_OBSERVES}|(?:check|verify) with\b|(?:re-?run|run|execute|answer|reply|ask|lint)\b"
    + r"|format and lint\b|(?:full |whole )?`?(?:pytest|mypy|ruff|tox|flake8|eslint|tsc)\b)"
)
_FINDS = re.compile(
    _COURTESY
    + rf"(?:{_LOOKS}|{_OBSERVES}|{_READS}|{_QUESTION}|(?:find|list|check|look|review|run|collect"
    + r"|gather|count|decide|inspect|identify|determine|survey|inventory|catalog(?:ue)?)\b)"
)
_AND_FIX = re.compile(r"(?:,|\band|\bthen) (?:fix|repair|correct|delete|remove|replace)\b")
_LOOKS_FOR = re.compile(
    _COURTESY + r"(?:rename|find|look for|search|remove|delete|drop|get rid of)\b"
)
_TITLE_LABEL = re.compile(r"[\w`'/.-]+(?: [\w`'/.-]+){0,6}(?::| [\u2013\u2014-]) (?=\S)")

_RESULT = r"[`\"']?(?:[\w.-]+/)*[\w.-]+\.[a-z]\w{0,4}[`\"']?\W*$"
_WRITES_TO = re.compile(
    rf"(?:\u2192|->)\s*{_RESULT}|"
    r"\b(?:(?:writ|document|record|describ|not|draft|summari[sz]|sav|keep|list|collect|put|report"
    r"|append)\w*|(?:and|then) add)\b.*"
    rf"(?:\b(?:in|into|to|as)\s+|\(){_RESULT}"
)

# A check that all work has to pass from then on: a coverage gate, a lint rule, a step of CI; or a
# place at which the plan may end.
_ENFORCES = re.compile(
    _COURTESY
    + r"(?:(?:gate|go/no-go|stop (?:here|if))\b"
    + r"|(?:add|enable|introduce|set|raise|turn on|switch on|require|enforce|forbid|ban|fail)\b.*"
    + r"(?:\b(?:coverage|quality|lint\w*|types?|ci|merge)[ -](?:gate|threshold)s?\b"
    + r"|\b(?:ruff|eslint|lint\w*|pre-commit) (?:rule|hook|check)s?\b"
    + r"|\bfail[_ -]under\b|\b(?:in|to) ci\b))"
)


def find_kind(words: str) -> int:
    """Which of KINDS a request or task is; 0 if its words do not tell."""
    said = words[:READ_CHARS].lower()
    return next(
        (
            kind
            for kind, (_, _, most) in KINDS.items()
            if len(said) <= most and _KINDS[kind].match(said)
        ),
        0,
    )


@lru_cache(maxsize=1 << 14)  # a plan of 10,000 tasks asks about each title six times
def is_a_search(title: str) -> bool:
    """Whether the result of a task is something found out, rather than something built."""
    said = title[:READ_CHARS].lower()
    is_built = find_kind(said) in (COMMIT, TESTS) or _AND_FIX.search(said) is not None
    asks = said.rstrip().endswith("?") or _begins(_FINDS, said)
    return asks and not is_built


def runs_something(title: str) -> bool:
    """Whether a task runs, measures or compares something. Its size is that of what comes out, and
    the files it names are run, not worked on."""
    return find_kind(title) == TESTS or _begins(_RUNS, title[:READ_CHARS].lower())


def _begins(pattern: re.Pattern[str], said: str) -> bool:
    """Whether a title begins so, or what follows its label does."""
    if pattern.match(said):
        return True
    label = _TITLE_LABEL.match(said)
    return label is not None and pattern.match(said, label.end()) is not None


def looks_for_its_files(title: str) -> bool:
    """Whether a task changes only the files that contain what it looks for: a rename, a removal or
    a search. A pattern is then a place to look into."""
    return _LOOKS_FOR.match(title[:READ_CHARS].lower()) is not None


def names_its_result(title: str) -> bool:
    """Whether a title ends with the file to write to: `write it down in docs/export.md`."""
    return _WRITES_TO.search(title[:READ_CHARS].lower()) is not None


def is_a_gate(title: str) -> bool:
    """Whether a task adds a check that fails as long as work listed before it is missing."""
    return _ENFORCES.match(title[:READ_CHARS].lower()) is not None
