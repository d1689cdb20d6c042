"""Bring other spellings of Markdown into the one that is read, line by line.

Underlined titles and short lines above a list become `#` headings, `- [] `, `-[ ] ` and `\\[ ]`
become boxes, tables get their outer bars, and the title in YAML front matter becomes the title of
the plan. In HTML comments, list items become plain text, since nobody sees them as tasks. Items
without a box that only group boxes become headings. No word is left out and no line moves, so
mistakes are named by their line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_FENCE = re.compile(r"[ \t]*(```+(?=[^`]*$)|~~~+)")
_ITEM = re.compile(r"(?P<blanks>[ \t]*)(?:[-*+\u2022]|\d{1,9}[.)])[ \t]+(?P<words>\S.*)")
_BOX = re.compile(
    r"(?P<blanks>[ \t]*)(?P<mark>[-*+\u2022]|\d{1,9}[.)])[ \t]*"
    r"\\?\[(?P<sign>[ xX~/>\u2713\u2714\u2705-]?)\\?\][ \t]+(?=\S)"
)
_DONE = "xX-\u2713\u2714\u2705"  # `[-]` is dropped work
_IS_BOX = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]")
_UNDERLINE = re.compile(r" {0,3}(?:={2,}|-{3,})[ \t]*")
_NO_TITLE = re.compile(r"[ \t]*(?:[-*+#>|\u2022]|```|~~~|<|$)|[ \t]{4}")
_BAR_RULE = re.compile(r"[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)+")
_FRONT_TITLE = re.compile(r"title:[ \t]*(?P<words>\S.*)")
_NAME = re.compile(
    r"(?:[A-Z][\w'/&-]*(?: [\w'/&-]+){0,3}(?: \([^()]{1,80}\))?|[^.!?;\s][^.!?;]{0,200}:)[ \t]*"
)
_NUMBERED_HEADING = re.compile(r"#{2,6}[ \t]+(?:\w+[ \t]+)?#?\w{0,4}\d")
_NAME_LEVEL = 6
_GROUP_LEVEL = 7  # below all other headings
MOST_FRONT = 100  # lines of front matter


def normalize_markdown(text: str) -> str:
    lines = text.replace("\r\n", "\n").split("\n")
    lines = _front_matter(lines)
    plain = _outside_code(lines)
    for change in (_comments, _boxes, _underlined, _named_lists, _tables, _groups):
        lines = change(lines, plain)
    return "\n".join(lines)


def _outside_code(lines: Sequence[str]) -> list[bool]:
    """For each line whether it is outside of code blocks."""
    found, fence = [], ""
    for line in lines:
        mark = _FENCE.match(line)
        found.append(not (fence or mark))
        if fence:
            fence = "" if line.strip().startswith(fence) and mark else fence
        elif mark:
            fence = mark[1]
    return found


def _front_matter(lines: list[str]) -> list[str]:
    """The lines without the bars around front matter; its title is a heading if there is none."""
    if lines[0].strip() != "---" or "---" not in (one.strip() for one in lines[1:MOST_FRONT]):
        return lines
    end = next(at for at, line in enumerate(lines) if at and line.strip() == "---")
    front, rest = lines[1:end], lines[end + 1 :]
    has_title = any(line.startswith("# ") for line in rest) or _starts_underlined(rest)
    titled = [
        f"# {found['words'].strip(chr(34) + chr(39))}"
        if not has_title and (found := _FRONT_TITLE.fullmatch(line.rstrip()))
        else line
        for line in front
    ]
    return ["", *titled, "", *rest]


def _starts_underlined(lines: Sequence[str]) -> bool:
    first = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    return first + 1 < len(lines) and lines[first + 1].startswith("==")


def _comments(lines: list[str], plain: Sequence[bool]) -> list[str]:
    """The lines with no list items inside comments of several lines."""
    found, is_inside = [], False
    last = max((at for at, line in enumerate(lines) if "-->" in line), default=-1)
    for at, line in enumerate(lines):
        item = _ITEM.match(line) if is_inside else None
        found.append(f"{item['blanks']}{item['words']}" if item else line)
        if plain[at] and (opened := line.rfind("<!--")) > line.rfind("-->"):
            is_inside = opened >= 0 and at < last
        elif "-->" in line:
            is_inside = False
    return found


def _boxes(lines: list[str], plain: Sequence[bool]) -> list[str]:
    """The lines with every box spelt the same. A bullet sign is a dash."""

    def one(line: str) -> str:
        if box := _BOX.match(line):
            mark = "-" if box["mark"] == "\u2022" else box["mark"]
            sign = "x" if box["sign"] and box["sign"] in _DONE else " "
            return f"{box['blanks']}{mark} [{sign}] {line[box.end() :]}"
        return re.sub(r"^([ \t]*)\u2022[ \t]+", r"\1- ", line)

    return [one(line) if plain[at] else line for at, line in enumerate(lines)]


def _underlined(lines: list[str], plain: Sequence[bool]) -> list[str]:
    """The lines with `#` before titles that are underlined with `===` or `---`."""
    found = list(lines)
    for at in range(1, len(lines)):
        above = at < 2 or not found[at - 2].strip()
        is_line = plain[at] and plain[at - 1] and _UNDERLINE.fullmatch(lines[at])
        if is_line and above and not _NO_TITLE.match(lines[at - 1]):
            level = "#" if "=" in lines[at] else "##"
            found[at - 1 : at + 1] = [f"{level} {lines[at - 1].strip()}", ""]
    return found


def _named_lists(lines: list[str], plain: Sequence[bool]) -> list[str]:
    """The lines with `#` before those that belong to the list below them: `Latency`, or `Then, each
    on its own:`. Below a heading that is a task they belong to its text."""
    found = list(lines)
    is_in_task = False
    for at, line in enumerate(lines[:-1]):
        if line.startswith("#") and plain[at]:
            is_in_task = _NUMBERED_HEADING.match(line) is not None
        is_alone = at > 0 and not lines[at - 1].strip() and not _NO_TITLE.match(line)
        if is_in_task or not (is_alone and plain[at] and _NAME.fullmatch(line)):
            continue
        below = next((one for one in lines[at + 1 : at + 3] if one.strip()), "")
        if _ITEM.match(below) and not _ITEM.match(line):
            found[at] = f"{'#' * _NAME_LEVEL} {line.strip()}"
    return found


def _tables(lines: list[str], plain: Sequence[bool]) -> list[str]:
    """The lines with bars around the rows of tables that have none."""
    found = list(lines)
    is_table = False
    for at, line in enumerate(lines):
        if at and plain[at] and _BAR_RULE.fullmatch(line) and "|" in lines[at - 1]:
            is_table = True
            found[at - 1] = f"|{lines[at - 1].strip()}|"
        is_table = is_table and "|" in line
        found[at] = f"|{line.strip()}|" if is_table else found[at]
    return found


def _groups(lines: list[str], plain: Sequence[bool]) -> list[str]:
    """The lines with a heading for each item at the left that has no box but boxes below it, in a
    list in which no item at the left has one."""
    boxes = [box for at, line in enumerate(lines) if plain[at] and (box := _IS_BOX.match(line))]
    if not boxes or not all(box[1] for box in boxes):
        return lines
    found = list(lines)
    for at, line in enumerate(lines[:-1]):
        item = _ITEM.match(line)
        if plain[at] and item and not item["blanks"] and _IS_BOX.match(lines[at + 1]):
            found[at] = f"{'#' * _GROUP_LEVEL} {item['words']}"
    return found
