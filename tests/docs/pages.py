"""The code blocks of README and docs: the commands in them, and the screens they show."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in ROOT.glob("docs/**/*.md") if "decisions" not in path.parts),
]
BLOCK = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
ASSIGNED = re.compile(r"^(?:[A-Z_]+=\S* +)*(?:\$ )?(?:\S*/)?(holdfast .*)$")
INLINE = re.compile(r"`(holdfast [a-z][^`\n]*)`")
EXIT_CODE = re.compile(r"^\(exit code (\d+)\)$")


@dataclass(frozen=True, slots=True)
class Shown:
    """One command of a `console` block, with what the page says that it prints."""

    command: str
    output: tuple[str, ...]
    exit_code: int


def blocks(page: Path, kind: str | None = None) -> list[str]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for name, text in found if kind in (None, name)]


def command_lines(page: Path) -> Iterator[list[str]]:
    """The words of each `holdfast …` line, in blocks and within the text.

    What a page says about a line behind two spaces is no part of it.
    """
    for block in blocks(page):
        for line in block.splitlines():
            found = ASSIGNED.match(line.strip())
            if found:
                yield shlex.split(re.split(r" {2,}", found[1])[0], comments=True)
    for line in INLINE.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        yield shlex.split(line)


def screens(page: Path) -> list[Shown]:
    """Every `$ command` of a page's `console` blocks, in order."""
    found = []
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *output = part.rstrip("\n").split("\n")
            code = EXIT_CODE.match(output[-1]) if output else None
            shown = tuple(output[:-1] if code else output)
            found.append(Shown(command, shown, int(code[1]) if code else 0))
    return found
