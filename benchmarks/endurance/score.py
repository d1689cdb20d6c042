"""What the model of an endurance session still knows after each compaction, by plain comparison.

A fact is known if all its keys stand in what the client sends: system prompt and messages, up to
the second time that a hook could speak since the compaction. No model judges anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.trial.cycle import texts
from tests.trial.script import ReceivedRequest

from benchmarks.endurance.facts import OR, Fact
from benchmarks.endurance.failures import command_of
from benchmarks.endurance.session import Ran, SessionFailed
from benchmarks.endurance.story import Story

_OURS = re.compile(r"<holdfast-brief.*?</holdfast-brief>", re.DOTALL)
CHARS_PER_TOKEN = 3.5  # as the brief counts them
_SUMMARY = "This session is being continued from a previous conversation"
_PATTERN = "re:"
_HEADING = re.compile(r"#+ ")
_OPEN = re.compile(
    r"not done|\bopen\b|\bfail(?:s|ed|ing|ures?)?\b|pending|unfinished|\bto ?do\b|in progress|\[ \]"
)
_OVER = re.compile(r"\bok\b|pass(?:es|ed)\b|fixed|resolved|\bdone\b|complet|finished|\[x\]|closed")


@dataclass(frozen=True)
class Seen:
    """One fact at one compaction; age 0 is the window that was just compacted.

    `request` is the first request since then that holds it, counted from 1; 0 if none does."""

    fact: Fact
    compaction: int
    request: int

    @property
    def kept(self) -> bool:
        return self.request > 0

    @property
    def age(self) -> int:
        return self.compaction - self.fact.window


@dataclass(frozen=True)
class Shown:
    """Something that is over, at one compaction; `line` shows it as open, empty if none does."""

    fact: Fact
    compaction: int
    line: str


def plain(text: str) -> str:
    """Case, blanks and the forms of quotation marks make no difference."""
    text = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    return " ".join(text.split())


_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


def knows(text: str, fact: Fact) -> bool:
    """`text` is plain already."""
    return all(_holds(text, key) for key in fact.keys)


def _holds(text: str, key: str) -> bool:
    if key.startswith(_PATTERN):
        return re.search(key[len(_PATTERN) :], text, re.IGNORECASE) is not None
    return any(plain(either) in text for either in key.split(OR))


def given(request: ReceivedRequest) -> list[str]:
    """All strings of system prompt and messages."""
    return [*texts(request.body.get("system", "")), *texts(request.body["messages"])]


def scored_requests(story: Story, ran: Ran, compaction: int) -> list[ReceivedRequest]:
    """The first request; and those up to the one that can hold what the next hook says.

    A prompt's hook speaks in the request of that prompt, the second. The hook behind a tool call is
    asynchronous: what it says about the first call comes with the request after the second call.
    """
    by_prompt = bool(story.windows[compaction - 1].next_prompt)
    return ran.after(compaction)[: 2 if by_prompt else 3]


def kept(story: Story, ran: Ran) -> list[Seen]:
    """Every fact that is true at a compaction, at every compaction."""
    found = []
    for compaction in range(1, len(story.windows) + 1):
        requests = scored_requests(story, ran, compaction)
        strings = [plain("\n".join(given(request))) for request in requests]
        for fact in story.facts:
            if fact.is_true_at(compaction):
                holding = (n for n, text in enumerate(strings, start=1) if knows(text, fact))
                found.append(Seen(fact, compaction, next(holding, 0)))
    return found


def injected_tokens(story: Story, ran: Ran) -> list[int]:
    """For each compaction, the tokens of all that our hooks said since, in the scored requests."""
    found = []
    for compaction in range(1, len(story.windows) + 1):
        last = scored_requests(story, ran, compaction)[-1]
        ours = (_OURS.findall(text) for text in texts(last.body["messages"]))
        found.append(round(sum(len(one) for parts in ours for one in parts) / CHARS_PER_TOKEN))
    return found


def check_planted(story: Story, ran: Ran) -> None:
    """Every fact must have reached the model once, in its window: else nothing can be concluded."""
    number = 1
    strings: dict[int, dict[str, None]] = {n: {} for n in range(1, len(story.windows) + 2)}
    for request in ran.requests:
        number += request.kind == "summary"
        if request.kind in ("main", "summary"):
            strings[number] |= dict.fromkeys(given(request))  # each request repeats the last one
    windows = {number: plain("\n".join(said)) for number, said in strings.items()}
    for fact in story.facts:
        seen = windows[fact.window]
        if fact.pool == "in_flight":  # its call is answered after the compaction
            seen += windows[fact.window + 1]
        if not knows(seen, fact):
            raise SessionFailed(f"{fact.name} was never said: {fact.keys}")
        early = [n for n in range(1, fact.window) if knows(windows[n], fact)]
        if early:
            raise SessionFailed(f"{fact.name} was known in window {early[0]}, before it was said")


def shown_open(story: Story, ran: Ran) -> list[Shown]:
    """Every error, task and plan step that is over, at every compaction from then on."""
    found = []
    for compaction in range(1, len(story.windows) + 1):
        over = [fact for fact in story.facts if fact.is_over_at(compaction)]
        lines = list(_all_lines(scored_requests(story, ran, compaction)))
        found += [Shown(fact, compaction, open_line(lines, names_of(fact))) for fact in over]
    return found


def names_of(fact: Fact) -> tuple[str, ...]:
    """What a text must hold, one of them, to be about this error, task or step."""
    if fact.pool == "failure":
        return (command_of(fact.about), fact.about["keys"][0])
    return fact.keys[:1]


def _all_lines(requests: Iterable[ReceivedRequest]) -> Iterator[tuple[str, str]]:
    """(heading, line), both plain, of all that is not the summary itself."""
    for request in requests:
        for text in given(request):
            if not text.lstrip().startswith(_SUMMARY):
                yield from lines_of(text)


def lines_of(text: str) -> Iterator[tuple[str, str]]:
    """Each line with the heading it stands under; a short line that ends in a colon is one too."""
    heading = ""
    for line in text.splitlines():
        bare = plain(line)
        if _HEADING.match(line) or (len(bare) < 120 and bare.endswith(":")):
            heading = bare
        if bare:
            yield heading, bare


def _named(lines: Sequence[tuple[str, str]], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    wanted = [plain(name) for name in names]
    return ((head, line) for head, line in lines if any(name in line for name in wanted))


def open_line(lines: Sequence[tuple[str, str]], names: Sequence[str]) -> str:
    """The first line that names the item and calls it open, itself or by its heading."""
    for heading, line in _named(lines, names):
        if _OPEN.search(f"{heading} {line}") and not _OVER.search(line):
            return f"{heading} / {line}"
    return ""
