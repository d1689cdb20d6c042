"""The `holdfast` command. A command's module is imported when it is called, and not before."""

from __future__ import annotations

import contextlib
import copy
import gc
import importlib
import os
import sys
import threading  # click has loaded it already
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

import holdfast
from holdfast.cli import pages
from holdfast.cli.help import (
    FIRST_STEPS,
    HEADINGS,
    INTRODUCTION,
    TOPICS,
    Example,
    HelpTopic,
    commands_under,
)
from holdfast.cli.options import prepare
from holdfast.cli.terminal import paint, safe_streams, say
from holdfast.settings import secret_patterns
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

MODULES = {
    "completion": "options",
    "diff": "checkpoint",
    "expand": "search",
    "verify": "checkpoint",
    "roll": "segments",
    "compress": "segments",
    "mcp": "serve",
    "rebuild": "db",
    "ui": "serve",
    "uninstall": "install",
    "help": "main",
    "version": "main",
}
FUNCTIONS = {"compress": "roll"}


class ReaderGone(Exception):
    """The reader of our output has closed the pipe. click would end with 1 at a `BrokenPipeError`,
    and so would rich."""


@contextlib.contextmanager
def _reader_may_leave() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGone from error


class _Commands(click.Group):
    def main(self, *args: Any, **extra: Any) -> Any:
        with safe_streams():
            return super().main(*args, **extra)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _reader_may_leave():  # `--help` prints here
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        secret_patterns.use()
        with _reader_may_leave():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for heading in HEADINGS for name in commands_under(heading)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in TOPICS:
            return None
        module = importlib.import_module(f"holdfast.cli.{MODULES.get(cmd_name, cmd_name)}")
        found = copy.copy(getattr(module, FUNCTIONS.get(cmd_name, cmd_name)))
        return _explain(prepare(found), TOPICS[cmd_name])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Answer an unknown name with the nearest one; click would look only among those that
        were imported."""
        name = args[0]
        if name == "demo":
            ctx.fail("No such command 'demo'. The recorded session is `holdfast replay --demo`.")
        if name not in TOPICS and name[:1] != "-" and not ctx.resilient_parsing:
            ctx.fail(f"No such command {name!r}.{_nearest(name, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all commands under their headings, then how to begin."""
        for heading in HEADINGS:
            with formatter.section(heading):
                formatter.write_dl(list(commands_under(heading).items()))
        with formatter.section("To begin"):
            formatter.write_dl([(one.line, one.meaning) for one in FIRST_STEPS])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of commands, without importing thirty modules for their help."""
        from click.shell_completion import CompletionItem  # needed only for completion

        names = (name for name in self.list_commands(ctx) if name.startswith(incomplete))
        return [CompletionItem(name, help=TOPICS[name].sentence) for name in names]


def _explain(command: click.Command, topic: HelpTopic) -> click.Command:
    """Return the command with the topic's words as its help."""
    command.help = f"{topic.sentence}\n\n{topic.details}".strip()
    command.short_help = topic.sentence
    examples = ("Examples:", *_align(topic.examples)) if topic.examples else ()
    command.epilog = "\b\n" + "\n".join((*examples, f"More: holdfast help {topic.page}"))
    return command


def _align(examples: tuple[Example, ...]) -> list[str]:
    width = max(len(one.line) for one in examples)
    lines = [f"  {one.line:<{width}}  {one.meaning}" for one in examples]
    if max(map(len, lines)) <= 78:
        return lines
    return [line for one in examples for line in (f"  {one.line}", f"      {one.meaning}")]


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(holdfast.__version__, prog_name="holdfast")
def holdfast_command() -> None:
    pass


holdfast_command.help = INTRODUCTION


@click.command()
@click.argument("words", nargs=-1, metavar="[NAME]...")
@click.pass_context
def help(context: click.Context, words: tuple[str, ...]) -> None:  # noqa: A001
    """The help of the command that WORDS lead to, and the page of that name."""
    above = context.parent
    assert above is not None
    page = words[0] if len(words) == 1 and words[0] in pages.names() else ""
    found = [] if page and page not in TOPICS else [_command_help(above, words)]
    if page:
        found.append(pages.rendered(page))
    elif not words:
        found.append(_page_list())
    pages.show("\n\n".join(one.rstrip() for one in found))


def _command_help(above: click.Context, words: tuple[str, ...]) -> str:
    command: click.Command = above.command
    for word in words:
        found = command.get_command(above, word) if isinstance(command, click.Group) else None
        if found is None:
            raise click.UsageError(_no_help(above, command, word), above)
        command, above = found, click.Context(found, info_name=word, parent=above)
    return command.get_help(above)


def _no_help(above: click.Context, command: click.Command, word: str) -> str:
    """Say that nothing has this name, and which commands and pages have one like it."""
    known = command.list_commands(above) if isinstance(command, click.Group) else []
    if above.parent is not None:
        near = _nearest(word, known) or " `holdfast help` lists the commands."
        return f"There is no command `{above.command_path} {word}`.{near}"
    near = _nearest(word, [*known, *pages.names()])
    near = near or " `holdfast help` lists the commands and pages."
    return f"There is no command and no page {word!r}.{near}"


def _page_list() -> str:
    formatter = click.HelpFormatter(max_width=80)
    formatter.write_text("Pages, printed by `holdfast help NAME`:")
    for heading, found in pages.by_heading().items():
        with formatter.section(heading):
            formatter.write_dl(list(found.items()))
    return formatter.getvalue()


def _nearest(word: str, known: list[str]) -> str:
    """Name the nearest of the known words, as the end of an error; empty if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, sorted(set(known)), 1)
    return f" Did you mean {near[0]!r}?" if near else ""


@click.command()
def version() -> None:
    click.echo(f"holdfast, version {holdfast.__version__}")


def main() -> None:
    """Run the command line. Errors are printed with the next thing to try; a closed pipe is no
    error."""
    os.umask(0o077)
    try:
        with safe_streams():
            _run_command()
    except SystemExit as ending:
        _let_go()
        _leave_embedder(ending)
        raise
    finally:
        _let_go()


def _leave_embedder(ending: SystemExit) -> None:
    """End the process here if a search went on without its embedder, and that is still loading.

    The interpreter stops such a thread where it next asks for the interpreter's lock. In
    onnxruntime that is a place where C++ must not be stopped: the process is aborted, with 134 in
    place of its exit code.
    """
    if threading.active_count() < 2:
        return
    from holdfast.memory.embedders import THREAD

    if any(one.name == THREAD for one in threading.enumerate()):
        os._exit(ending.code if isinstance(ending.code, int) else int(ending.code is not None))


def _let_go() -> None:
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
        sys.exit(holdfast_command(standalone_mode=False) or 0)
    except HoldfastError as error:
        with contextlib.suppress(OSError):
            say(f"{paint('holdfast:', 'red', err=True)} {error}", err=True)
            if error.hint:
                say(f"  try: {error.hint}", err=True, hang=5)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except (BrokenPipeError, ReaderGone):
        # 0, not 141: `holdfast … | head` did what it was asked to do, also under `pipefail`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(0)
    except OSError as error:
        with contextlib.suppress(OSError):
            say(f"{paint('holdfast:', 'red', err=True)} {_of_the_system(error)}", err=True)
        sys.exit(4)
    except Exception as error:
        if "HOLDFAST_RAISE" in os.environ:  # as in the hook: set in tests, so that bugs are raised
            raise
        with contextlib.suppress(OSError):
            say(f"holdfast: {type(error).__name__}: {inert(str(error), 300)}", err=True)
        sys.exit(1)


def _of_the_system(error: OSError) -> str:
    """Describe an error of the system, such as a full disk or a folder that is gone."""
    try:
        os.getcwd()  # noqa: PTH109
    except OSError:
        return "the current folder is gone\n  try: cd somewhere that is there"
    place = f"{inert(str(error.filename), 300)}: " if error.filename else ""
    hint = getattr(error, "hint", "free some room, or make it writable")
    return f"{place}{error.strerror or error}\n  try: {hint}"
