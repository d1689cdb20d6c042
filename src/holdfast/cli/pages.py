"""The pages of the documentation, which come with Holdfast: `holdfast help` lists and prints them.

The list is docs/README.md, so that a page is described in one place.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from holdfast.cli import terminal

LIST = "README.md"
_ENTRY = re.compile(r"- \[([^]]+)\]\(([a-z-]+)\.md\)(.*)")
_IMAGE = re.compile(r"!\[([^]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^]]+)\]\((?!https?:)([^)#]*)(?:#[^)]*)?\)")


def folder() -> Path:
    """Return the folder of the pages: next to this module in the wheel (hatch_build.py puts them
    there), else docs/ of the checkout."""
    packed = Path(__file__).with_name("docs")
    return packed if packed.is_dir() else Path(__file__).parents[3] / "docs"


def by_heading() -> dict[str, dict[str, str]]:
    """List the pages that are here: heading, then name and description, as in the list."""
    found: dict[str, dict[str, str]] = {}
    heading = ""
    for line in _lines_of_list():
        entry = _ENTRY.fullmatch(line)
        if line.startswith("## "):
            heading = line[3:]
        elif entry and (folder() / f"{entry[2]}.md").is_file():
            found.setdefault(heading, {})[entry[2]] = _described(entry[1], entry[3])
    return found


def _lines_of_list() -> list[str]:
    try:
        return (folder() / LIST).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:  # installed without its build hook
        return []


def _described(title: str, rest: str) -> str:
    words = rest[2:] if rest.startswith(": ") else title + rest
    return words[:1].upper() + words[1:]


def names() -> list[str]:
    return [name for pages in by_heading().values() for name in pages]


def text_of(name: str) -> str:
    """Return a page as text. A link to another page becomes the command that prints it."""
    source = (folder() / f"{name}.md").read_text(encoding="utf-8")
    known = frozenset(names())
    return _LINK.sub(lambda link: _link(link, known), _IMAGE.sub(r"(picture: \1)", source))


def _link(found: re.Match[str], known: frozenset[str]) -> str:
    words, target = found[1], found[2]
    name = target.removesuffix(".md")
    if name in known:
        return f"{words} (`holdfast help {name}`)"
    return f"{words} (`{target}` of the sources)" if target else words


def show(text: str) -> None:
    """Print; on a terminal wrapped, and with a pager if it is longer than the screen."""
    import shutil  # it loads what no other command needs

    import click

    shown = terminal.wrap(text, terminal.columns())
    rows = shutil.get_terminal_size().lines
    if sys.stdout.isatty() and shown.count("\n") >= rows:
        click.echo_via_pager(shown)
    else:
        click.echo(shown)
