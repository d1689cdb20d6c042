"""How much of each request, answer, failing command, task and plan a summary holds.

A measure, and no verdict: for each sentence, the share of its telling words that stand together in
one passage of the summary, or how near a passage is in meaning, where vectors are installed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

import msgspec

from holdfast.brief import quotes, work_items
from holdfast.brief.item import BriefItem
from holdfast.record.model import Record
from holdfast.text.numbers import counted
from holdfast.text.sentences import clip, is_prose, split, telling, words

LEAST_WORDS = 3  # telling ones; "yes, let's add this" means nothing in a summary
# What the client writes around a summary tells nothing of the session.
CLIENT_FRAME = (
    "This session is being continued from a previous conversation",
    "If you need specific details from before compaction",
    "Continue the conversation from where it left off",
)
PASSAGE_LINES = 3
MOST_MEANT = 120  # sentences whose meaning is compared
LONGEST_MEANT = 400  # characters of one
MEANT_CHARS = 16_000  # of these sentences, and of the summary: vectors of 80,000 took 24 s
FOUND = 0.6  # from this share on, the summary is taken to hold an item
SAME_MEANING = 0.75  # the cosine of two texts that say the same in other words
LIKE_MEANING = 0.6  # from this cosine on; below it, texts in one language are alike anyway
REQUEST, ANSWER, TASK, FAILING, PLAN = "request", "answer", "task", "failing", "plan"
_KINDS = {"said": REQUEST, "tasks": TASK, "failing": FAILING, "plan": PLAN}
_PATH = re.compile(r"(?<!\S)[^\s/\\]*+[/\\]\S*")  # the same files are named in many sentences
# What a line of the brief adds behind the words: what they answer, how they were stopped.
_BEHIND = re.compile(r" \((?:to “|turn |interrupted|taken back|[\d,]+ characters).*$")
# The nearest passage of each text, and the cosine of the two.
Nearness = Callable[[Sequence[str], Sequence[str]], list[tuple[float, int]]]


class MeasuredItem(NamedTuple):
    """An item, the share that the summary holds, the passage nearest to the rest."""

    item: BriefItem
    share: float
    passage: str
    by_meaning: bool = False

    @property
    def is_found(self) -> bool:
        return self.share >= FOUND

    @property
    def kind(self) -> str:
        """What it is; an answer to a question stands between two turns."""
        return ANSWER if self.item.order % 1 else _KINDS[self.item.section]


def measure(summary: str, record: Record, nearness: Nearness | None = None) -> list[MeasuredItem]:
    """Measure every item, least found first, without what the user took back, and questions."""
    words = SummaryWords(summary)
    parts = [_parts(words, item) for item in _items(record)]
    if nearness is not None:
        _add_meaning([part for some in parts for part in some], words, nearness)
    return sorted((_joined(some) for some in parts), key=lambda item: item.share)


def missing(items: Sequence[MeasuredItem], given: str) -> list[MeasuredItem]:
    words = SummaryWords(given)
    return [
        item for item in items if not (item.is_found or _joined(_parts(words, item.item)).is_found)
    ]


def _items(record: Record) -> Iterator[BriefItem]:
    for quote in quotes.items(record, quotes.needed_units(record)):
        is_withdrawn = quote.reason == quotes.WITHDRAWN or quote.order < 0
        if not is_withdrawn and len(telling(_texts(quote)[0])) >= LEAST_WORDS:
            yield quote
    yield from (task for task in work_items.tasks(record) if task.reason != work_items.DONE)
    yield from work_items.failures(record, 1, {})
    yield from islice(work_items.plan(record), 1)


def count_messages(kinds: Iterable[str]) -> int:
    """Count the user's messages, with answers to questions, among items of these kinds."""
    return sum(kind in (REQUEST, ANSWER) for kind in kinds)


def of_messages(count: int, total: int) -> str:
    """`7 of your 13 messages with enough words`: shorter ones are not looked for in a summary."""
    words = f"{count:,} of your {counted(total, 'message')} with enough words"
    return "your only message" if count == total == 1 else words


class _Part(msgspec.Struct):
    """A sentence: a summary with the request but without its rule holds half of it."""

    item: BriefItem
    text: str
    weight: int
    share: float
    passage: str
    by_meaning: bool = False


def _parts(words: SummaryWords, item: BriefItem) -> list[_Part]:
    if words.quotes(_texts(item)[0]):
        return [_Part(item, "", 1, 1.0, "")]
    return [
        _Part(item, text, max(1, len(telling(text))), *words.measure(text))
        for text in _sentences(item)
    ]


def _sentences(item: BriefItem) -> list[str]:
    """Return the sentences that tell something; what was pasted among them does not count."""
    texts = _texts(item)
    if item.section == "failing":
        return texts
    rows = [row for text in texts for row in text.splitlines()]
    sentences = [_PATH.sub(" ", sentence) for row in rows for sentence in split(row)]
    prose = [row for row in sentences if is_prose(row) and len(telling(row)) >= LEAST_WORDS]
    return prose or texts


def _joined(parts: list[_Part]) -> MeasuredItem:
    least = min(parts, key=lambda part: part.share)
    share = sum(part.share * part.weight for part in parts) / sum(part.weight for part in parts)
    return MeasuredItem(parts[0].item, share, least.passage, least.by_meaning)


def _add_meaning(parts: list[_Part], words: SummaryWords, nearness: Nearness) -> None:
    """Compare those that the words did not find; what a command printed has no meaning of its
    own. Below a certain nearness it says nothing: all sentences about the same work are alike."""
    some = [part for part in parts if part.share < FOUND and part.item.section != "failing"]
    lines = (line for line in words.lines if len(telling(line)) >= LEAST_WORDS)
    passages = _within_limit(dict.fromkeys(lines))
    texts = _within_limit(part.text for part in some[:MOST_MEANT]) if passages else []
    near = nearness(texts, passages) if texts else []
    for part, (cosine, at) in zip(some, near, strict=False):
        share = min(1.0, cosine / SAME_MEANING)
        if cosine >= LIKE_MEANING:
            part.share, part.passage, part.by_meaning = share, passages[at], True


def _within_limit(texts: Iterable[str]) -> list[str]:
    """The first of the texts, and of each no more than a vector tells of."""
    short = [clip(text, LONGEST_MEANT) for text in texts]
    ends = accumulate(map(len, short))
    return [text for text, end in zip(short, ends, strict=True) if end <= MEANT_CHARS]


class SummaryWords:
    """The words of one summary, prepared for thousands of comparisons."""

    def __init__(self, summary: str) -> None:
        lines = (line.strip() for line in summary.splitlines())
        self.lines = [line for line in lines if line and not line.startswith(CLIENT_FRAME)]
        self._text = f" {' '.join(words(' '.join(self.lines)))} "
        self._places: dict[str, list[int]] = {}  # the lines in which a word stands
        for at, line in enumerate(self.lines):
            for word in telling(line):
                self._places.setdefault(word, []).append(at)
        self._usual = sum(map(len, self._places.values())) / max(1, len(self.lines))

    def quotes(self, text: str) -> bool:
        return f" {' '.join(words(text))} " in self._text

    def measure(self, text: str) -> tuple[float, str]:
        """Return the share of the words that stand together in three lines (in more, if the text
        has more words than these), and these lines."""
        wanted = telling(text)
        size = max(PASSAGE_LINES, round(len(wanted) / max(1.0, self._usual)))
        together = Counter(
            start
            for word in wanted
            for start in {at - back for at in self._places.get(word, ()) for back in range(size)}
        )
        start, count = max(together.items(), key=lambda pair: (pair[1], -pair[0]), default=(0, 0))
        passage = " ".join(self.lines[max(0, start) : start + size]) if count else ""
        return count / len(wanted) if wanted else 0.0, passage


def _texts(item: BriefItem) -> list[str]:
    first, *others = item.text.split("\n")
    if item.section == "failing":
        return others or [first.partition("): ")[2] or first]
    if item.section in ("plan", "tasks"):
        return [item.key]
    return [_BEHIND.sub("", first).removesuffix(" …”"), *others]
