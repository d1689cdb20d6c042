"""What a prompt or a task's description tells before any work is done: a few numbers, and the
estimate that they alone allow.

These numbers are kept of past requests; the words themselves are not. The rule of thumb
(`WordFeatures.formula_tokens`) alone is off by a factor of 2.8 (median) on real sessions. Its
logarithm is one of a few terms of a line fitted to 2,084 requests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

READ_CHARS = 20_000
UNSTATED_FILES = 3  # assumed for a task that names no file
FILE_TOKENS = 2000
CHARS_PER_TOKEN = 4
MULTIPLIERS: Final = {"refactor": 2.0, "implement": 1.5, "fix": 1.0, "update": 0.8, "add": 1.2}

_PATH = re.compile(r"(?<![\w@])@?(?:[\w.~-]+/)*[\w.-]*\w\.[A-Za-z]\w{0,4}\b(?!/)|@[\w./-]+")
_PATH_OR_FOLDER = re.compile(
    rf"{_PATH.pattern}|(?<![\w./~*?\[\]-])[\w.~*?\[\]-]+(?:/[\w.*?\[\]-]+)+/?|(?<![\w./~-])[\w.~-]+/"
)
_BARE = re.compile(r"(?<![\w./~-])(?:(?:[\w.-]+/)+[\w-]+|[A-Za-z]\w+)(?![\w/]|\.\w)")
_URL = re.compile(r"\w+://\S+")
_ASKS = re.compile(r"\b(?:why|what|how|explain|where|which)\b")
_SAVES = re.compile(r"\b(?:commit|push)")
_BUILDS = re.compile(r"\b(?:implement|plan\b|refactor|creat|writ|build|design)")
_CHECKS = re.compile(r"\b(?:test|check|review|run|verify)")

# The first word of a request, after a number (`T7:`, `3.`, `Step 2 -`) and courtesies, tells some
# kinds of work apart. A long request that starts with `commit` does more than that.
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

# What a list of files would not make known: its size is that of what comes out.
_NO_FILES = re.compile(
    _COURTESY
    + rf"(?:{_OBSERVES}|(?:check|verify) with\b|(?:re-?run|run|execute|answer|reply|ask|lint)\b"
    + r"|format and lint\b"
    + r"|fix (?:the|its|their|all|any)\b.{0,30}\b(?:causes?|findings?|failures?)\b"
    + r"|fix (?:it|them|what|everything|anything|whatever|failures)\b)"
)
_RUNS = re.compile(_COURTESY + rf"(?:{_MEASURES}|(?:re-?run|run|execute)\b)")
_LOOKS_FOR = re.compile(
    _COURTESY + r"(?:rename|find|look for|search|remove|delete|drop|get rid of)\b"
)
# Finding the places, or what is slow or wrong, is the task itself. `every` alone does not say so:
# `every 5 seconds`, `with all middlewares on`.
_PLACES = (
    r"(?:files?|callers?|calls?|call sites?|us(?:es?|ages?)|places?|occurrences?|instances?"
    r"|imports?|references?|modules?|packages?|folders?|tests?|functions?|methods?|class(?:es)?"
    r"|names?|types?|pages?|docstrings?|comments?|todos?|prints?|warnings?|errors?|failures?|findings?|models?"
    r"|views?|routes?|endpoints?|handlers?|commands?|components?|tables?|queries|documents?|docs)"
)
_WHEREVER = re.compile(
    r"\b(?:everywhere|elsewhere|anywhere|wherever|whatever|whole|entire|remaining|left ?overs?"
    r"|the rest of|dead|unused|obsolete|duplicat\w+|flaky|slow\w*|faster|clean|green|passes"
    r"|speed up|get rid of|optimi[sz]e|reduce|harden|code ?base|throughout|across (?:the|all)"
    r"|(?:us(?:es|ages?)|callers|call sites|occurrences) of|references to"
    rf"|(?:every|each|all|any)(?: of)?(?: [\w`.'-]+){{0,3}}? {_PLACES}"
    r"|everything (?:below|under|in|inside|that|which|else|left|only))\b"
)
# A path behind a pattern (`examples/*/setup.py`) is not the one file of its last name.
_EVERYWHERE = re.compile(r"\b(?:everywhere|wherever|throughout|across (?:the|all))\b|[*?]/|/\*")
# It can be sized only when it is known what was found.
_UNPROVEN = re.compile(r"\b(?:the|this|that|our|its|a)\s(?:\w+\s)?(?:hypothes[ie]s|root cause)\b")
_FINDS = re.compile(
    _COURTESY
    + rf"(?:{_LOOKS}|{_OBSERVES}|{_READS}|{_QUESTION}|(?:find|list|check|look|review|run|collect"
    + r"|gather|count|decide|inspect|identify|determine|survey|inventory|catalog(?:ue)?)\b)"
)
# Run it and fix what is left; find dead code and delete it.
_AND_FIX = re.compile(r"(?:,|\band|\bthen) (?:fix|repair|correct|delete|remove|replace)\b")
_RESULT = r"[`\"']?(?:[\w.-]+/)*[\w.-]+\.[a-z]\w{0,4}[`\"']?\W*$"
_WRITES_TO = re.compile(
    rf"(?:\u2192|->)\s*{_RESULT}|"
    r"\b(?:(?:writ|document|record|describ|not|draft|summari[sz]|sav|keep|list|collect|put|report"
    r"|append)\w*|(?:and|then) add)\b.*"
    rf"(?:\b(?:in|into|to|as)\s+|\(){_RESULT}"
)
_EDITS = re.compile(
    _COURTESY
    + r"(?:update|edit|write|create|draft|extend|revise|rewrite|add|drop|remove|delete|document"
    + r"|describe|put|change|fix|improve|shorten|clean up|pin|bump|changelog|readme|docs?)\b"
)


# `Fix every warning in notes/todo.md`: the file says what to do, unless the task writes it.
_WORKS_THROUGH = re.compile(
    r"\b(?:every|each|all)\b.{0,100}?\b(?:in|from)\s+[`\"']?(?:[\w.-]+/)*[\w.-]*\w\.[a-z]\w{0,4}\b"
)
_WRITES = re.compile(
    _COURTESY
    + r"(?:write|document|describe|record|note|draft|summari[sz]e|save|keep|list|collect|put"
    + r"|report|append|add|mention|explain)\b"
)


# `Fix the types, write tests in tests/a.py`: a second verb.
_WORK = (
    r"(?:update|edit|write|create|draft|extend|rewrite|add|drop|remove|delete|document|describe|put"
    r"|change|fix|improve|move|port|make|run|test|check|implement|build|refactor|rename|replace|split"
    r"|extract|migrate|mypy|ruff|lint)\b"
)
_OTHER_WORK = re.compile(rf"(?:[.,;:]|\band|\bthen)\s(?:[^.,;]{{1,40}},\s)?(?:also\s)?{_WORK}")
_BEGINS_WITH_WORK = re.compile(_COURTESY + _WORK)


# `and move it to another line`
_ITSELF = re.compile(r"(?:[.,;:]|and|then)\s(?:also\s)?\w+\s(?:it|them|its|their)\b")


# `Type hints: run mypy` is about running something.
_TITLE_LABEL = re.compile(r"[\w`'/.-]+(?: [\w`'/.-]+){0,3}: (?=\S)")


_AND_COMMIT = re.compile(r"(?:,|\band\b|\bthen\b)\s+(?:commit|push)\b[^,.]{0,20}\W*$")

# Work that only people can do: a session of a run can ask nobody.
_PEOPLE = (
    r"(?:team|maintainers?|stakeholders?|customers?|clients|product owner|owners?|lead|manager|boss"
    r"|colleagues?|everyone|everybody|people|reviewers?|security|legal|management|@\w[\w-]*)"
)
_ASKS_PEOPLE = re.compile(
    rf"\b(?:ask|interview|survey|consult|convince|inform|show|tell)\s(?:the |our |all )?{_PEOPLE}\b"
    r"|\b(?:discuss|agree|align|clarify|decide|review|talk|check|go|present"
    r"|demo|demonstrate|hand over)\b[^.]{0,60}?"
    rf"\b(?:with|to|by)\s(?:the |our |all )?{_PEOPLE}\b"
    r"|\b(?:get|obtain|wait for|needs?|ask for)\b[^.]{0,30}?\b(?:sign[- ]?off|approval|consent)\b"
    r"|\b(?:sign[- ]?off|approval) (?:by|from|of)\b"
)
_ASKS_ME = re.compile(
    r"\b(?:ask|tell|show|call|ping|check with|wait for|come back to|report to|talk to) (?:me|us)\b"
    r"|\bstop\b[^.\n]{0,20}\band ask\b"
    r"|\b(?:ask for|request|get|wait for)\b[^.\n]{0,20}\b(?:reviews?|feedback|reviewed)\b"
    r"|\b(?:once|after|when|until|if)\b[^.\n]{0,40}"
    r"\b(?:is|are|has been|have been) (?:agreed|approved|reviewed|signed off|merged|released)\b"
)


# A check that all work has to pass from then on: a coverage gate, a lint rule, a step of CI.
_ENFORCES = re.compile(
    _COURTESY
    + r"(?:add|enable|introduce|set|raise|turn on|switch on|require|enforce|forbid|ban|fail)\b.*"
    + r"(?:\b(?:coverage|quality|lint\w*|types?|ci|merge)[ -](?:gate|threshold)s?\b"
    + r"|\b(?:ruff|eslint|lint\w*|pre-commit) (?:rule|hook|check)s?\b"
    + r"|\bfail[_ -]under\b|\b(?:in|to) ci\b)"
)


_SPEAKS_OF_COMMIT = re.compile(
    r"\b(?:commit(?:s|ted|ting)?|squash\w*|tag(?:ged)? v?\d|push(?:ed)?)\b(?!-)"
)
_COMMIT_EACH = re.compile(
    r"\bcommits? (?:per|for each|for every|after each|after every) \w+|\bsquash"
)


def asks_for_a_commit(words: str) -> bool:
    """Whether a task is a commit, or its title ends with one: `Update the page and commit`."""
    title = words.partition("\n")[0]
    return find_kind(words) == COMMIT or _AND_COMMIT.search(title.lower()) is not None


def mentions_a_commit(words: str) -> bool:
    """Whether a session may take these words as a wish for a commit, a tag or a push."""
    return _SPEAKS_OF_COMMIT.search(words.lower()) is not None


def wants_commits_of_others(words: str) -> bool:
    """Whether a task speaks of the commits of all: `one commit per step`."""
    return _COMMIT_EACH.search(words.lower()) is not None


def needs_a_person(title: str, below: str = "") -> bool:
    """Whether a task asks people: `Discuss it with the team`, `Get sign-off`; or, also in the text
    below its title, the author of the plan: `if not, stop and ask me`."""
    if _ASKS_PEOPLE.search(title[:READ_CHARS].lower()):
        return True
    return _ASKS_ME.search(f"{title}\n{below}"[:READ_CHARS].lower()) is not None


def is_a_gate(title: str) -> bool:
    """Whether a task adds a check that fails as long as work listed before it is missing."""
    return _ENFORCES.match(title[:READ_CHARS].lower()) is not None


def needs_no_files(title: str) -> bool:
    """Whether a list of files would not tell the size of a task: it runs, measures or compares."""
    return _begins(_NO_FILES, title.lower())


def _begins(pattern: re.Pattern[str], said: str) -> bool:
    """Whether a title begins so, or what follows its label does: `Type hints: run mypy`."""
    if pattern.match(said):
        return True
    label = _TITLE_LABEL.match(said)
    return label is not None and pattern.match(said, label.end()) is not None


def looks_for_its_files(title: str) -> bool:
    """Whether a task changes only the files that contain what it looks for: a rename, a removal or
    a search. A pattern is then a place to look into."""
    return _LOOKS_FOR.match(title[:READ_CHARS].lower()) is not None


def runs_something(title: str) -> bool:
    """Whether a task runs or measures something. The files it lists are run, not worked on."""
    return _begins(_RUNS, title.lower())


def is_open_ended(title: str) -> bool:
    """Whether the size of a task shows only in the work: it finds something out, runs or measures,
    works through a list, or is about all places that have to be found first."""
    said = title[:READ_CHARS].lower()
    if needs_no_files(title) or is_a_search(title) or works_through_a_file(title):
        return True
    if _begins(_FINDS, said) or looks_for_its_files(title):
        return True
    is_about_all = _WHEREVER.search(said) or _UNPROVEN.search(said)
    return _kind(said) in (TESTS, RENAME) or is_about_all is not None


@lru_cache(maxsize=1 << 14)  # a plan of 10,000 tasks asks about each title six times
def is_a_search(title: str) -> bool:
    """Whether the result of a task is something found out, rather than something built."""
    said = title.lower()
    is_built = _kind(said) in (COMMIT, TESTS) or _AND_FIX.search(said) is not None
    asks = said.rstrip().endswith("?") or _begins(_FINDS, said)
    return asks and not is_built


def works_through_a_file(title: str) -> bool:
    """Whether a title names a file as the source of its work: it does not tell the size."""
    said = title[:READ_CHARS].lower()
    return _WORKS_THROUGH.search(said) is not None and _WRITES.match(said) is None


def named_paths(text: str) -> list[str]:
    """What looks like a file, a folder or a pattern in a text, each once."""
    said = _URL.sub(" ", text[:READ_CHARS])
    found = (one[0] for one in _PATH_OR_FOLDER.finditer(said))
    return list(dict.fromkeys(name.rstrip(".") for name in found if "." in name or "/" in name))


def find_bare_names(text: str) -> list[str]:
    """Words that may be files without a suffix, each once: `Makefile`, `.ci/run`, `changelog`."""
    return list(dict.fromkeys(_BARE.findall(_URL.sub(" ", text[:READ_CHARS]))))


def named_files(text: str) -> list[str]:
    """What looks like a file in a text, each once."""
    return list(dict.fromkeys(_PATH.findall(text[:READ_CHARS])))


def names_its_result(title: str) -> bool:
    """Whether a title ends with the file to write to: `write it down in docs/export.md`."""
    return _WRITES_TO.search(title[:READ_CHARS].lower()) is not None


def edits_what_it_names(title: str) -> bool:
    """Whether all that a task touches are the files that its title names: it begins with a verb
    such as update or write, and has no other work before the first file. Of 12 short public
    requests that begin so, or end with the one file to write, 9 lay within the range of requests
    that touched one file; there are only 2 with more files. A task that finds something out reads
    others first: 116 requests that did and then changed one file took 11,000 tokens (median), and
    eight in ten of them lie a factor of 16 apart; other requests that touched one file took
    6,100."""
    said = title[:READ_CHARS].lower()
    if is_a_search(title) or works_through_a_file(title):
        return False
    if _UNPROVEN.search(said) or _EVERYWHERE.search(said):
        return False
    begins = _EDITS.match(said) or _WRITES.match(said)
    return begins is not None and not _has_other_work(said, begins.end())


def begins_with_work(title: str) -> bool:
    """Whether a title says what to do (`Add a class`) and is not only a name for it."""
    return _BEGINS_WITH_WORK.match(title[:READ_CHARS].lower()) is not None


def _has_other_work(said: str, start: int) -> bool:
    """Whether a second verb stands before the first file, or with no file of its own after it."""
    first = _PATH.search(said)
    before = first.start() if first else len(said)
    begins = [match.start() for match in _OTHER_WORK.finditer(said, start)]
    return any(
        at < before or not (_PATH.search(said, at, end) or _ITSELF.match(said, at))
        for at, end in pairwise([*begins, len(said)])
    )


@dataclass(frozen=True, slots=True)
class WordFeatures:
    """Features of a request's text. `multiplier` belongs to its strongest verb; `files` counts the
    files it names."""

    chars: int
    lines: int
    files: int
    multiplier: float
    question: bool
    asks: bool
    saves: bool
    builds: bool
    checks: bool
    kind: int = 0  # one of KINDS; 0: its words do not tell

    def formula_tokens(self, files: int | None = None) -> int:
        """A rule of thumb that `prior` corrects: (characters / 4 + files x 2,000) x multiplier."""
        count = self.files or UNSTATED_FILES if files is None else files
        return int((self.chars // CHARS_PER_TOKEN + count * FILE_TOKENS) * self.multiplier)


def extract_task_features(title: str, text: str) -> WordFeatures:
    """Features of a task of a plan. A question that is typed is often answered at once; as a task
    it is something to investigate."""
    found = extract_features(text)
    return found if found.kind or not is_a_search(title) else replace(found, kind=INVESTIGATE)


def extract_features(text: str) -> WordFeatures:
    said = text[:READ_CHARS].lower()
    found = [factor for word, factor in MULTIPLIERS.items() if word in said]
    return WordFeatures(
        chars=len(text),
        lines=text.count("\n") + 1,
        files=len(set(_PATH.findall(text[:READ_CHARS]))),
        multiplier=max([1.0, *found]),
        question="?" in said,
        asks=bool(_ASKS.search(said)),
        saves=bool(_SAVES.search(said)),
        builds=bool(_BUILDS.search(said)),
        checks=bool(_CHECKS.search(said)),
        kind=_kind(said),
    )


def find_kind(words: str) -> int:
    """Which of KINDS a task is, by its words; 0 if they do not tell."""
    return _kind(words[:READ_CHARS].lower())


def _kind(said: str) -> int:
    return next(
        (
            kind
            for kind, (_, _, most) in KINDS.items()
            if len(said) <= most and _KINDS[kind].match(said)
        ),
        0,
    )


@dataclass(frozen=True, slots=True)
class FittedLine:
    """A fitted line; a tenth of all requests lay below `low`, a tenth above `high` (logarithms)."""

    start: float
    terms: Mapping[str, float]
    low: float
    high: float

    def at(self, known: Mapping[str, float]) -> float:
        return self.start + sum(slope * known[name] for name, slope in self.terms.items())


NAMES: Final = ("chars", "formula", "question", "asks", "saves", "builds", "checks")

# Printed by `python -m benchmarks.estimates --corpus DIR --fit`.
WORDS: Final = FittedLine(
    start=5.072,
    terms={
        "chars": 0.172,
        "formula": 0.350,
        "question": -0.320,
        "asks": -0.364,
        "saves": -0.153,
        "builds": 0.441,
        "checks": 0.210,
    },
    low=-1.949,
    high=1.727,
)
FILES: Final = FittedLine(
    start=7.507,
    terms={
        "chars": 0.003,
        "formula": 0.107,
        "question": 0.005,
        "asks": -0.032,
        "saves": 0.142,
        "builds": 0.056,
        "checks": 0.120,
        "touched": 0.999,
    },
    low=-0.990,
    high=0.943,
)
FOLDERS: Final = FittedLine(start=8.702, terms={"named": 1.029}, low=-1.053, high=0.994)
LINES_BY_KIND: Final[Mapping[int, FittedLine]] = {  # of the others there were too few
    COMMIT: FittedLine(start=8.493, terms={}, low=-1.534, high=0.930),
    INVESTIGATE: FittedLine(start=9.816, terms={}, low=-2.470, high=1.637),
    IMPLEMENT: FittedLine(start=10.439, terms={}, low=-2.016, high=1.166),
}
