"""The `holdfast` command. A command's module is imported when it is called, and not before."""

from __future__ import annotations

import contextlib
import copy
import gc
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

import click

import holdfast
from holdfast.cli.arguments import prepare
from holdfast.cli.help import HEADINGS, INTRODUCTION, TOPICS, commands_under, explain, write_list
from holdfast.cli.terminal import paint, safe_streams, say
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_FOLDERS = {
    "everyday": "status watch lost search replay log statusline",
    "saving": "checkpoint resume brief budget memory segments transcripts",
    "planning": "plan run",
    "team": "board serve db",
    "setup": "install doctor settings",
}
MODULES = {name: f"{folder}.{name}" for folder, names in _FOLDERS.items() for name in names.split()}
MODULES |= {
    "completion": "arguments",
    "diff": "saving.checkpoint",
    "expand": "everyday.search",
    "verify": "saving.checkpoint",
    "roll": "saving.segments",
    "compress": "saving.segments",
    "mcp": "team.serve",
    "rebuild": "team.db",
    "ui": "team.serve",
    "uninstall": "setup.install",
    "version": "help",
}
FUNCTIONS = {"compress": "roll"}


class _Commands(click.Group):
    def main(self, *args: Any, **extra: Any) -> Any:
        with safe_streams():
            return super().main(*args, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for heading in HEADINGS for name in commands_under(heading)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in TOPICS:
            return None
        module = importlib.import_module(f"holdfast.cli.{MODULES.get(cmd_name, cmd_name)}")
        found = copy.copy(getattr(module, FUNCTIONS.get(cmd_name, cmd_name)))
        return explain(prepare(found), TOPICS[cmd_name])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Answer an unknown name with the nearest one; click would look only among those that
        were imported."""
        name = args[0]
        if name not in TOPICS and name[:1] != "-" and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(name, self.list_commands(ctx), 1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {name!r}.{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_list(formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of commands, without importing thirty modules for their help."""
        from click.shell_completion import CompletionItem  # needed only for completion

        names = (name for name in self.list_commands(ctx) if name.startswith(incomplete))
        return [CompletionItem(name, help=TOPICS[name].sentence) for name in names]


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(holdfast.__version__, prog_name="holdfast")
def holdfast_command() -> None:
    pass


holdfast_command.help = INTRODUCTION


def main() -> None:
    """Run the command line. Errors are printed with the next thing to try; a closed pipe is no
    error."""
    os.umask(0o077)
    try:
        with safe_streams():
            _run_command()
    finally:
        _let_go()


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
    except BrokenPipeError:
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
