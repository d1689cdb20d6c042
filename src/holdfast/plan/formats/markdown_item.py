"""A task of a Markdown list while it is read: its title, its fields and the lines beneath it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches

from holdfast.plan.formats.fields import LONGEST_TITLE, Node, parse_tokens
from holdfast.plan.formats.references import split_references, strip_quotes
from holdfast.plan.formats.schema import DEPENDS
from holdfast.plan.task import BadPlan, PlanPosition

_FIELD = re.compile(r"([A-Za-z][A-Za-z_ -]{0,24}):[ \t]*(.*)")
_BOLD = re.compile(r"(\*\*|__)([\w -]{1,25}?)(?::\1|\1:)")  # **Files:** or **Files**:
# `**Cut** the sail`, but not `sails/**/*.py`.
_BOLD_WORDS = re.compile(r"(?<![^\s(])\*\*(?=[\w`\"'(])(.{1,300}?)\*\*(?![\w/])")
_SENTENCE = re.compile(r"(.*?[.!?][)\"'`]*)\s+(?=[A-Z`*(])(.*)")
_ENDS = ".!?:"
WRAPPED = 60  # characters: a title at least so long that ends no sentence goes on in the next line
_BLANK = re.compile(r"[_ -]+")
_LISTS = {"files": "files", "depends": "depends", **dict.fromkeys(DEPENDS, "depends")}
_NUMBERS = {
    "estimate": "estimate_tokens",
    "estimate tokens": "estimate_tokens",
    "estimated files": "estimated_files",
}
_YES_OR_NO = ("", "yes", "no", "true", "false")
_EFFORT = re.compile(  # an estimate in time, points or sizes: words for the session
    r"[~\u2248]?\s*(?:about\s)?(?:[\d.,/\u2013-]+\s*(?:h|hrs?|hours?|d|days?|w|weeks?|mins?|minutes?"
    r"|points?|pts?|sp)|x{0,3}[sml]|small|medium|large|half a day|tbd|\?+)\b.*|\?+",
    re.IGNORECASE,
)
_TOGETHER = frozenset({"keep together", "keep_together"})
# Names that a misspelt one is compared with. `needs` is not one of them: `dense` has its letters.
_NAMES = ("files", "depends", "depends on", "after", *_NUMBERS, "group", "keep together", "id")
_AT_LEFT = ("files", "depends", "depends on")
_MEANT = dict.fromkeys(("deps", "dependency", "dependencies"), "depends")
# A path with a folder, and with a suffix, a pattern or a slash at its end: `and/or` is not one.
_PATH = re.compile(
    r"(?!\.\./)(?:[\w.@+*?\[\]-]+/)+(?:[\w.@+?\[\]-]*(?:\*[^/\s]*|\w\.[A-Za-z]\w*))?"
)
# Between and around files: `a.py and b.py`, `[a](src/a.py)`, `a.py (new)`, `a.py: new`.
_AND_FILE = re.compile(r"(?:;\s+|\s+(?:and|&)\s+)(?=[`\"']?[\w./*-]*[./*])")
_LINK = re.compile(r"\[[^\]\n]+\]\(([^()\s]+)\)")
_IN_BRACKETS = re.compile(r"(?<=[\w`\"'/*])\s+\([^()]*\)(?=\s*(?:[,;]|$))")
_NOTE = re.compile(r"(?P<name>`[^`]+`|\S*[./]\S*?)(?:\s+[-\u2013\u2014]+\s.*|:\s.*)")
_FILE_WORD = re.compile(r"`?[\w@*+-]*[./][\w./@*+-]*`?")
_FULL_STOP = re.compile(r"(?<=\w)\.$")
_ALIKE = 0.85  # `fils` and `file` are `files`; `fixes` and `fields` are words of their own


@dataclass(slots=True)
class MarkdownItem:
    """A task being read."""

    indent: int
    place: PlanPosition
    fields: dict[str, Node]
    words: list[str] = field(default_factory=list)
    below: list[MarkdownItem] = field(default_factory=list)
    bullets_at: int = 0  # the indent of the first bullet below it

    def lists(self, indent: int) -> bool:
        """Whether a bullet belongs to the task itself. It does not below another bullet, nor after
        a line that introduces a list of its own (`Do not change:`)."""
        return indent <= self.bullets_at and not any(line.endswith(":") for line in self.words)

    def node(self) -> Node:
        found = dict(self.fields)
        if self.words:
            found["description"] = Node("\n".join(self.words), self.place)
        if self.below:
            found["subtasks"] = Node([one.node() for one in self.below], self.place)
        return Node(found, self.place)

    @property
    def title(self) -> str:
        return str(self.fields["title"].value)

    @property
    def is_wrapped(self) -> bool:
        """Whether the title may go on in the next line."""
        return len(self.title) >= WRAPPED and self.title[-1] not in _ENDS

    def goes_on(self, words: str) -> bool:
        """Whether a line below a wrapped title can belong to it."""
        return len(self.title) <= LONGEST_TITLE and not _FIELD.fullmatch(words)

    def join(self, words: str) -> bool:
        """Add the words to the title up to the end of its sentence; whether it may still go on."""
        sentence = _SENTENCE.fullmatch(words)
        title, rest = (sentence[1], sentence[2]) if sentence else (words, "")
        self.fields["title"] = Node(strip_bold(f"{self.title} {title}"), self.place)
        self.words += [rest] if rest else []
        return title[-1:] not in _ENDS


def read_line(item: MarkdownItem, words: str, place: PlanPosition) -> list[Node] | None:
    """Read a line of a task: a field, whose values may continue as bullets, or description."""
    named = _FIELD.fullmatch(_BOLD.sub(r"\2:", words, count=1) if words[:1] in "*_" else words)
    name = _BLANK.sub(" ", named.group(1).strip().lower()) if named else ""
    given = named.group(2).strip() if named else ""
    if words.lower() in _TOGETHER or name == "keep together":
        _put(item, "keep_together", Node(given.lower() not in ("no", "false"), place))
        item.words += [words] if given.lower() not in _YES_OR_NO else []
    elif name == "group":
        values = _values(given, place)
        list_of(item, "groups", place).append(Node(values, place))
        return None if given else values
    elif name in _LISTS:
        values = list_of(item, _LISTS[name], place)
        # Titles may contain commas: `depends` is resolved once all titles are known.
        one = [Node(given, place)] if given else []
        if _LISTS[name] == "depends":
            values += one
        else:
            _add_files(item, values, words, given, place)
        return None if given else values
    elif name in _NUMBERS and not _EFFORT.fullmatch(given):
        _put(item, _NUMBERS[name], Node(_number(given, name, place), place))
    elif name == "id":
        _put(item, "id", Node(strip_quotes(given), place))
    else:
        _check_misspelt(name, place)
        item.words.append(words)
    return None


def read_left(item: MarkdownItem, words: str) -> None:
    """Read a line at the left: files or dependencies, or description. Other names of fields are
    words of the text."""
    name, _, _ = words.replace("**", "").partition(":")
    if name.strip().lower() in _AT_LEFT:
        read_line(item, words.strip(), item.place)
    else:
        item.words.append(words)


def _check_misspelt(name: str, place: PlanPosition) -> None:
    """Refuse a misspelt field: otherwise it would be lost in the description."""
    turned = [one for one in _NAMES if name and sorted(one) == sorted(name)]
    near = turned or get_close_matches(name, _NAMES, 1, _ALIKE)
    meant = _MEANT.get(name) or (near[0] if near else "")
    if meant and meant != name:
        words = f"a task has no {name!r}; did you mean {meant!r}?"
        raise BadPlan(words, place, f"write `{meant}: …`, or put other words first")


def add_value(item: MarkdownItem, values: list[Node], words: str, place: PlanPosition) -> None:
    """Add a bullet below a field to its values."""
    files = item.fields.get("files")
    if files is not None and values is files.value:
        _add_files(item, values, words, words, place)
    else:
        values.append(Node(strip_quotes(words), place))


def _add_files(
    item: MarkdownItem, values: list[Node], line: str, given: str, place: PlanPosition
) -> None:
    """Add the files of a line; what it says about them is description."""
    names, is_all = split_files(given)
    values += [Node(name, place) for name in names]
    item.words += [] if is_all else [line]


def split_files(given: str) -> tuple[list[str], bool]:
    """The files of a line, and whether it says nothing else. `a.py (new)` does."""
    inner = given.strip()
    if inner[:1] == "[" and inner[-1:] == "]" and "[" not in inner[1:]:
        inner = inner[1:-1]
    plain = _AND_FILE.sub(", ", _LINK.sub(r"\1", inner))
    bare = _IN_BRACKETS.sub("", plain)
    found: list[str] = []
    for part in split_references(bare):
        note = _NOTE.fullmatch(part)
        words = note["name"] if note else part
        is_list = len(words.split()) > 1 and all(map(_FILE_WORD.fullmatch, words.split()))
        names = [
            _FULL_STOP.sub("", strip_quotes(one)) for one in (words.split() if is_list else [words])
        ]
        found += [name for name in names if name and not name.endswith(":")]
        bare = bare if not note and not words.endswith(":") else ""
    return found, bare == plain


def _put(item: MarkdownItem, name: str, node: Node) -> None:
    if name in item.fields:
        words = f"{name.replace('_', ' ')!r} stands twice beneath one task"
        raise BadPlan(words, node.place, "keep one of the two")
    item.fields[name] = node


def list_of(item: MarkdownItem, name: str, place: PlanPosition) -> list[Node]:
    values = item.fields.setdefault(name, Node([], place)).value
    assert isinstance(values, list)
    return values


def _values(given: str, place: PlanPosition) -> list[Node]:
    return [Node(strip_quotes(part), place) for part in split_references(given)]


def find_paths(words: str, place: PlanPosition) -> list[Node]:
    """The files of a bullet that is nothing but paths; none if it has other words."""
    found = _values(words, place)
    return found if all(_PATH.fullmatch(str(one.value)) for one in found) else []


def _number(given: str, name: str, place: PlanPosition) -> int:
    found = parse_tokens(given)
    if found is None:
        raise BadPlan(f"{name}: {given!r} is no number", place, f"write `{name}: 12k`")
    return found


def strip_bold(text: str) -> str:
    return _BOLD_WORDS.sub(r"\1", text)
