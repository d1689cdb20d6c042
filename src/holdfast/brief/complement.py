"""After a compaction: only what neither the client's summary nor what it restores holds."""

from holdfast.brief.item import Item
from holdfast.checkpoint.facts import Facts

LITTLE_OPS = 2  # so few operations after the summary, and the transcript still ends in it
_KEPT_BY_CLIENT = frozenset({"flight", "questions"})  # the last round comes back verbatim


def ends_in_summary(facts: Facts) -> bool:
    return bool(facts.summary) and facts.since_summary <= LITTLE_OPS


class Held:
    """What the model has already, after a compaction; nothing, where there was none just now."""

    def __init__(self, facts: Facts) -> None:
        self.active = ends_in_summary(facts)
        self._summary = " ".join(facts.summary.split()) if self.active else ""
        self._words = _words(self._summary)
        self._restored = facts.restored if self.active else {}

    def name(self, word: str) -> bool:
        return word in self._words

    def file(self, path: str) -> bool:
        return (
            path in self._restored or path.rpartition("/")[2] in self._summary
            if self.active
            else False
        )

    def item(self, item: Item) -> bool:
        if not self.active or item.section in ("files", "names"):
            return False
        if item.section in _KEPT_BY_CLIENT:
            return True
        quoted = item.text.strip("“”-` ").partition("”")[0].rstrip(" …")
        short = len(quoted) <= 8  # "go on" is in many a text: only as a quotation is it said
        return (f"“{quoted}" if short else quoted) in self._summary


def _words(text: str) -> set[str]:
    return set("".join(mark if mark.isalnum() or mark == "_" else " " for mark in text).split())
