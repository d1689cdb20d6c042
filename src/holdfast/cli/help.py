"""`holdfast help`: commands, groups of commands, and the pages that come with Holdfast."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import click

import holdfast
from holdfast.cli import terminal
from holdfast.cli.main import EVERYDAY, GROUPS, NAMES, name_nearest

LIST = "README.md"
_COMMENT = re.compile(r"<!--.*?-->\n*", re.DOTALL)
CODE_THEME = "ansi_dark"  # the terminal's own colours and background


@click.command()
@click.argument("words", nargs=-1, metavar="[NAME]...")
@click.pass_context
def help(context: click.Context, words: tuple[str, ...]) -> None:  # noqa: A001
    """List commands and pages, or print one.

    NAME is a command, a group of commands, or a page of the documentation. Where a command and a
    page have the same name, the command comes first. A long text is shown with your pager.

    \b
    Examples:
      holdfast help            the everyday commands, the groups, the pages
      holdfast help planning   a group
      holdfast help tutorial   a page
      holdfast help plan       a command with its options
    """
    above = context.parent
    assert above is not None
    page = words[0].removesuffix(".md") if len(words) == 1 else ""
    texts = []
    if page in GROUPS:
        texts.append(_list_group(above, page))
    elif not words or words[0] in NAMES or page not in page_names():
        texts.append(_command_help(above, words))
    if page in page_names():
        texts.append(_draw(page_text(page)))
    if not words:
        listed = ", ".join(page_names())
        texts.append(terminal.wrap(f"Pages: {listed}", terminal.columns() or 80))
    _show("\n\n".join(text.rstrip() for text in texts))


@click.command()
def version() -> None:
    """Print the version, as `holdfast --version` does."""
    click.echo(f"holdfast, version {holdfast.__version__}")


def _list_group(above: click.Context, group: str) -> str:
    formatter = click.HelpFormatter(max_width=80)
    assert isinstance(above.command, click.Group)
    commands = {name: above.command.get_command(above, name) for name in GROUPS[group]}
    with formatter.section(group.capitalize()):
        formatter.write_dl(
            [
                (name, command.get_short_help_str(200))
                for name, command in commands.items()
                if command
            ]
        )
    return formatter.getvalue()


def _command_help(above: click.Context, words: tuple[str, ...]) -> str:
    command: click.Command = above.command
    for word in words:
        below = command.get_command(above, word) if isinstance(command, click.Group) else None
        if below is None:
            raise click.UsageError(_no_help(above, command, word), above)
        command, above = below, click.Context(below, info_name=word, parent=above)
    return command.get_help(above)


def _no_help(above: click.Context, command: click.Command, word: str) -> str:
    """Say that nothing has this name, and which commands and pages have one like it."""
    if above.parent is not None:
        names = command.list_commands(above) if isinstance(command, click.Group) else []
        near = name_nearest(word, names) or " `holdfast help` lists the commands."
        return f"There is no command `{above.command_path} {word}`.{near}"
    near = name_nearest(word, (*EVERYDAY, *NAMES, *GROUPS, *page_names()))
    near = near or " `holdfast help` lists the commands and pages."
    return f"There is no command and no page {word!r}.{near}"


def _pages() -> Path:
    """Return the folder of the pages: next to this module in the wheel (hatch_build.py puts them
    there), else docs/ of the checkout."""
    packed = Path(__file__).with_name("docs")
    return packed if packed.is_dir() else Path(__file__).parents[3] / "docs"


def page_names() -> list[str]:
    return sorted(path.stem for path in _pages().glob("*.md") if path.name != LIST)


def page_text(name: str) -> str:
    """Return a page as Markdown, without the comments of its source."""
    return _COMMENT.sub("", (_pages() / f"{name}.md").read_text(encoding="utf-8"))


def _draw(markdown: str) -> str:
    """Draw a page with rich on a terminal; elsewhere it is printed as it is."""
    if not sys.stdout.isatty():
        return markdown
    from rich.markdown import Markdown

    console = terminal.console(terminal.columns() or None)
    with console.capture() as drawn:
        # No hyperlinks: they are escape sequences, which our streams replace.
        console.print(Markdown(markdown, hyperlinks=False, code_theme=CODE_THEME))
    return "\n".join(line.rstrip() for line in drawn.get().splitlines())


def _show(text: str) -> None:
    """Print; on a terminal with a pager if it is longer than the screen."""
    if sys.stdout.isatty() and text.count("\n") >= shutil.get_terminal_size().lines:
        click.echo_via_pager(text)
    else:
        click.echo(text)
