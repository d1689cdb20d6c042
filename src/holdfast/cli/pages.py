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
_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_BLOCK = re.compile(r"\s*(?:[-*+] |\d+[.)] |[#|>]|```|<)")  # begins a block
CODE = "ansi_dark"  # the terminal's own colours and background
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
    """Return a page as Markdown, each paragraph in one line. A link to another page becomes the
    command that prints it; comments are left out."""
    source = (folder() / f"{name}.md").read_text(encoding="utf-8")
    known = frozenset(names())
    text = _IMAGE.sub(r"(picture: \1)", _COMMENT.sub("", source))
    return join_lines(_LINK.sub(lambda link: _link(link, known), text))


def join_lines(text: str) -> str:
    """Join the lines of each paragraph and list item. Code, tables and headings stay as they
    are."""
    lines: list[str] = []
    is_code, goes_on = False, False
    for line in text.splitlines():
        is_fence = line.lstrip().startswith("```")
        if goes_on and not is_code and line.strip() and not _BLOCK.match(line):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line.rstrip())
        is_code ^= is_fence
        goes_on = bool(line.strip()) and not (is_code or is_fence or line.startswith(("#", "|")))
    return "\n".join(lines)


def _link(found: re.Match[str], known: frozenset[str]) -> str:
    words, target = found[1], found[2]
    name = target.removesuffix(".md")
    if name in known:
        return f"{words} (`holdfast help {name}`)"
    if target == LIST:
        return f"{words} (`holdfast help`)"
    return f"{words} (`{target}` of the sources)" if target else words


def rendered(name: str) -> str:
    """Return a page as it is printed: drawn with rich on a terminal, else as `text_of` gives it."""
    if not sys.stdout.isatty():
        return text_of(name)
    from rich.markdown import Markdown

    console = terminal.console()
    with console.capture() as drawn:
        width = terminal.columns() or console.width
        # No hyperlinks: they are escape sequences, which our streams replace.
        console.print(Markdown(text_of(name), hyperlinks=False, code_theme=CODE), width=width)
    return "\n".join(line.rstrip() for line in drawn.get().splitlines())


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
