"""The `holdfast` command: a table of commands, `help`, and what happens to errors, signals and
pipes.

A command's module is imported when it is called or listed. Its help is its docstring.
"""

import contextlib
import gc
import importlib
import os
import re
import shutil
import sys
import threading  # click has loaded it already
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any

import click
from click.shell_completion import shell_complete

import holdfast
from holdfast.cli.options import prepare
from holdfast.cli.terminal import columns, lines_of, paint, safe_streams, say, wrap
from holdfast.settings import use_secret_patterns
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

EVERYDAY = (
    *("status", "lost", "brief", "search", "replay", "checkpoint"),
    *("resume", "pin", "ui", "install", "uninstall", "doctor"),
)
GROUPS = {
    "sessions": ("watch", "log", "diff", "verify"),
    "context": ("compress", "segments", "memory", "budget", "transcripts"),
    "planning": ("plan", "run"),
    "team": ("board", "serve", "db", "rebuild"),
    "setup": ("settings", "mcp"),
}
ABOUT_GROUPS = {
    "sessions": "every session live, the log, checkpoints compared and verified",
    "context": "older topics, Claude Code's memory, shares of a brief, old transcripts",
    "planning": "tasks in batches that fit the window, run with headless Claude",
    "team": "messages between agents, the server, the database",
    "setup": "settings, and the tools for the model",
}
OTHERS = ("help", "statusline", "expand", "roll")  # work, and are not listed
MODULES = {  # of the commands that have no module of their own
    "brief": ("lost",),
    "budget": ("pin",),
    "checkpoint": ("diff", "verify"),
    "db": ("rebuild",),
    "install": ("uninstall",),
    "main": ("help",),
    "search": ("expand",),
    "segments": ("compress", "roll"),
    "serve": ("mcp", "statusline", "ui"),
    "status": ("watch",),
}
MODULE_OF = {name: module for module, names in MODULES.items() for name in names}
NAMES = tuple(dict.fromkeys((*EVERYDAY, *chain(*GROUPS.values()), *OTHERS)))
COMPLETION_VARIABLE = "_HOLDFAST_COMPLETE"


class Commands(click.Group):
    """The commands of the table, imported when they are called."""

    def main(self, *args: Any, **extra: Any) -> Any:
        with safe_streams():
            return super().main(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        use_secret_patterns()
        return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in NAMES if name not in OTHERS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in NAMES:
            return None
        module = importlib.import_module(f"holdfast.cli.{MODULE_OF.get(cmd_name, cmd_name)}")
        return prepare(getattr(module, "compress" if cmd_name == "roll" else cmd_name))

    def sentences(self, ctx: click.Context, names: Sequence[str]) -> list[tuple[str, str]]:
        commands = ((name, self.get_command(ctx, name)) for name in names)
        return [(name, known.get_short_help_str(200)) for name, known in commands if known]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Answer an unknown name with the nearest one; click would import every command."""
        name = args[0]
        if name not in NAMES and name[:1] != "-" and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}.{name_nearest(name, NAMES)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Every day"):
            formatter.write_dl(self.sentences(ctx, EVERYDAY))
        with formatter.section("More commands, listed by `holdfast help GROUP`"):
            formatter.write_dl(list(ABOUT_GROUPS.items()))
        formatter.write_paragraph()
        formatter.write_text("holdfast help NAME prints a command with its options, or a page.")


def name_nearest(word: str, names: Any) -> str:
    """Name the nearest of the known words, as the end of an error; empty if none is near."""
    near = get_close_matches(word, sorted(set(names)), 1)
    return f" Did you mean {near[0]!r}?" if near else ""


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(holdfast.__version__, prog_name="holdfast")
def holdfast_command() -> None:
    """Holdfast keeps your rules and your open work when Claude Code compacts. It saves them before
    a compaction, restores them after it, and shows what the summary left out."""


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
    only = len(words) == 1 or (words[:1] and words[0] not in NAMES)
    page = words[0].removesuffix(".md") if only else ""
    texts = []
    if page in GROUPS:
        assert isinstance(above.command, Commands)
        formatter = click.HelpFormatter(max_width=80)
        with formatter.section(page.capitalize()):
            formatter.write_dl(above.command.sentences(above, GROUPS[page]))
        texts.append(formatter.getvalue())
    elif not words or words[0] in NAMES or page not in page_names():
        texts.append(_command_help(above, words))
    if page in page_names():
        texts.append(_draw_page(page_text(page)))
    if not words:
        texts.append(wrap(f"Pages: {', '.join(page_names())}", columns() or 80))
    text = "\n\n".join(text.rstrip() for text in texts)
    is_long = sys.stdout.isatty() and text.count("\n") >= shutil.get_terminal_size().lines
    (click.echo_via_pager if is_long else click.echo)(text)


def _command_help(above: click.Context, words: tuple[str, ...]) -> str:
    command: click.Command = above.command
    for word in words:
        below = command.get_command(above, word) if isinstance(command, click.Group) else None
        if below is None:
            pages = () if above.parent else (*GROUPS, *page_names())
            names = command.list_commands(above) if isinstance(command, click.Group) else ()
            near = name_nearest(word, (*names, *pages)) or " `holdfast help` lists what there is."
            what = "command and no page" if pages else f"command `{above.command_path}`"
            raise click.UsageError(f"There is no {what} {word!r}.{near}", above)
        command, above = below, click.Context(below, info_name=word, parent=above)
    return command.get_help(above)


def _pages() -> Path:
    """Return the folder of the pages: next to this module in the wheel (hatch_build.py puts them
    there), else docs/ of the checkout."""
    packed = Path(__file__).with_name("docs")
    return packed if packed.is_dir() else Path(__file__).parents[3] / "docs"


def page_names() -> list[str]:
    return sorted(path.stem for path in _pages().glob("*.md") if path.name != "README.md")


def page_text(name: str) -> str:
    """Return a page as Markdown, without the comments of its source."""
    text = (_pages() / f"{name}.md").read_text(encoding="utf-8")
    return re.sub(r"<!--.*?-->\n*", "", text, flags=re.DOTALL)


def _draw_page(markdown: str) -> str:
    """Draw a page with rich on a terminal; elsewhere it is printed as it is."""
    if not sys.stdout.isatty():
        return markdown
    from rich.markdown import Markdown

    # No hyperlinks: they are escape sequences, which our streams replace.
    return "\n".join(lines_of([Markdown(markdown, hyperlinks=False, code_theme="ansi_dark")]))


def main() -> None:
    """Run the command line. Errors are printed with the next thing to try; a closed pipe is no
    error."""
    os.umask(0o077)
    try:
        with safe_streams():
            _run_command()
    except SystemExit as ending:
        _flush_streams()
        _leave_embedder(ending)
        raise
    finally:
        _flush_streams()


def _leave_embedder(ending: SystemExit) -> None:
    """End the process here if a search went on without its embedder, and that is still loading.

    The interpreter stops such a thread where it next asks for the interpreter's lock. In
    onnxruntime that is a place where C++ must not be stopped: the process is aborted, with 134 in
    place of its exit code.
    """
    if threading.active_count() < 2:
        return
    from holdfast.memory.embedders import THREAD

    if any(thread.name == THREAD for thread in threading.enumerate()):
        os._exit(ending.code if isinstance(ending.code, int) else int(ending.code is not None))


def _flush_streams() -> None:
    """Flush the streams and drop what cannot be written: otherwise the interpreter would try again
    at its end and change the exit code.

    Garbage is not collected at the end: that took 8 % of `status`.
    """
    gc.freeze()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except ValueError:  # closed already
            pass


def _run_command() -> None:
    try:
        if sys.argv[1:2] != ["doctor"]:  # it reports what it finds, and changes nothing
            places.protect_home()
        if shell := os.environ.get(COMPLETION_VARIABLE):
            sys.exit(shell_complete(holdfast_command, {}, "holdfast", COMPLETION_VARIABLE, shell))
        # not `main` of click, which ends with 1 at a closed pipe
        with holdfast_command.make_context("holdfast", sys.argv[1:]) as context:
            holdfast_command.invoke(context)
        sys.exit(0)
    except click.exceptions.Exit as ending:
        sys.exit(ending.exit_code)
    except HoldfastError as error:
        _say_error(str(error), error.hint)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        # 0, not 141: `holdfast … | head` did what it was asked to do, also under `pipefail`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(0)
    except OSError as error:
        _say_error(*_of_the_system(error))
        sys.exit(4)
    except Exception as error:
        if "HOLDFAST_RAISE" in os.environ:  # as in the hook: set in tests, so that bugs are raised
            raise
        _say_error(f"{type(error).__name__}: {inert(str(error), 300)}", "")
        sys.exit(1)


def _say_error(words: str, hint: str) -> None:
    with contextlib.suppress(OSError):
        say(f"{paint('holdfast:', 'red', err=True)} {words}", err=True)
        if hint:
            say(f"  try: {hint}", err=True, hang=5)


def _of_the_system(error: OSError) -> tuple[str, str]:
    """Describe an error of the system, such as a full disk or a folder that is gone."""
    try:
        Path.cwd()
    except OSError:
        return "the current folder is gone", "cd somewhere that is there"
    place = f"{inert(str(error.filename), 300)}: " if error.filename else ""
    hint = getattr(error, "hint", "free some space, or make it writable")
    return f"{place}{error.strerror or error}", hint
