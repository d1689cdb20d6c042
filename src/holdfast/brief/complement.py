"""What the model still has after a compaction, so that the brief repeats none of it: the client's
summary, and what the client restores."""

from collections import Counter

from holdfast.brief.item import BriefItem
from holdfast.record.model import Record
from holdfast.text.fence import single_marks

LITTLE_OPS = 2  # with so few steps after it, the transcript still ends in the summary
# Beside a summary these come last: they are long, and can be found again in the project.
FOUND_AGAIN = frozenset({"files", "commands", "names", "references", "about"})
KEPT_BY_CLIENT = frozenset({"flight", "questions"})  # the client restores the last round


def ends_in_summary(record: Record) -> bool:
    return bool(record.summary) and record.since_summary <= LITTLE_OPS


class HeldBySummary:
    """What the model has already after a compaction; nothing if there was none just now. `summary`
    is the one it was given; by default, the one that the record ends in."""

    def __init__(self, record: Record, summary: str | None = None) -> None:
        if summary is None:
            summary = record.summary if ends_in_summary(record) else ""
        self.active = bool(summary)
        self._summary = " ".join(summary.split())
        self._in_single_marks = single_marks(self._summary)  # as the words of an item are
        self._words = _words(self._summary)
        self._restored = record.restored if self.active else {}
        self._shared = _shared_names(record) if self.active else frozenset()

    def name(self, word: str) -> bool:
        return word in self._words

    def file(self, path: str) -> bool:
        """Whether the client restored the file, or the summary names it: with its folder if other
        files have the same name."""
        if not self.active:
            return False
        folder_and_name = path.split("/")[-2:]
        shared = folder_and_name[-1] in self._shared
        name = "/".join(folder_and_name if shared else folder_and_name[-1:])
        return path in self._restored or _names(name, self._summary)

    def command(self, key: str) -> bool:
        """Whether the summary names the command, with any result."""
        return self.active and " ".join(key.split()) in self._summary

    def text(self, path: str) -> bool:
        """Whether the client itself restores the file, so that the model sees its content."""
        return path in self._restored

    def item(self, item: BriefItem) -> bool:
        if not self.active or item.section in ("files", "names"):
            return False
        if item.section in KEPT_BY_CLIENT:
            return True
        text = " ".join(item.text.split())
        if item.section == "commands":
            text = text.rpartition("`")[0]  # whatever its result
        quoted = text.strip("“”-` ").partition("”")[0].rstrip(" …")
        short = len(quoted) <= 8  # "go on" is in many texts: it counts only as a quotation
        if item.section == "commands":
            return ("`" + quoted if short else quoted) in self._summary
        return ("‘" + quoted if short else quoted) in self._in_single_marks  # noqa: RUF001


def _shared_names(record: Record) -> frozenset[str]:
    """Return the names that more than one known file has."""
    counts = Counter(path.rpartition("/")[2] for path in record.files)
    return frozenset(name for name, count in counts.items() if count > 1)


def _names(name: str, text: str) -> bool:
    """Whether the name occurs by itself: `a.py` is not in `data.py`."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at] or " ", text[at + len(name) : at + len(name) + 1] or " "
        if not (before.isalnum() or before in "_-" or after.isalnum() or after == "_"):
            return True
        at = text.find(name, at + 1)
    return False


def _words(text: str) -> set[str]:
    return set("".join(mark if mark.isalnum() or mark == "_" else " " for mark in text).split())
