"""The `holdfast` command. A command's module is imported when it is called, and not before."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from typing import Any

import click

import holdfast
from holdfast.cli import arguments
from holdfast.cli.terminal import safe_streams
from holdfast.wire.errors import HoldfastError
from holdfast.wire.inert import inert

COMMANDS = {
    "board": "messages between agents: list, post, read",
    "brief": "what would be handed back now, and why each line is there",
    "budget": "what fills the brief, by compartment: pin, evict, estimate, allot",
    "checkpoint": "save what a session knows, now, and prove it",
    "db": "bring the shared database up, check it, back it up, restore it",
    "diff": "what changed between two checkpoints",
    "doctor": "fire every installed hook, and say what reached the client",
    "expand": "a tool output that was archived, whole or in part",
    "install": "wire the hooks and the status line into Claude Code",
    "log": "what the guard did, line by line",
    "lost": "what the last compaction's summary got wrong and left out",
    "memory": "what the client loads into every session: list, add, edit, retire",
    "mcp": "tools for the model over stdio; Claude Code starts it",
    "plan": "a list of tasks as batches that fit the room left",
    "rebuild": "make index and rows again from checkpoints and transcripts",
    "replay": "what Holdfast would have done in a past session",
    "resume": "list checkpoints, show one, or print it to hand to the model",
    "search": "find again what was said, decided, kept or written down",
    "roll": "look for cold segments of a session, and compress them",
    "run": "run the batches of a plan with headless Claude; said again, it goes on",
    "segments": "what was compressed: list, show, save better words, clear",
    "serve": "answer over HTTP what sessions and agents know together",
    "settings": "every setting, its value, and the file it came from",
    "status": "how full the window is, and how long it lasts",
    "statusline": "one line for Claude Code's status line; reads its payload",
    "transcripts": "copies that outlive the client's own: on, off, list, save, remove",
    "uninstall": "leave no trace in Claude Code's settings",
    "verify": "is each checkpoint what was kept? exit 0 or 1",
    "watch": "all sessions on this machine, live",
}


class _Commands(click.Group):
    def main(self, *args: Any, **extra: Any) -> Any:
        with safe_streams():
            return super().main(*args, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = "install" if cmd_name == "uninstall" else cmd_name
        found = importlib.import_module(f"holdfast.cli.{module}")
        return arguments.taken(getattr(found, cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A name that is none is answered with the one that was meant: click knows but those that
        were imported."""
        name = args[0]
        if name not in COMMANDS and name[:1] != "-" and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, 1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {name!r}.{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(holdfast.__version__, prog_name="holdfast")
def holdfast_command() -> None:
    """Keeps a long Claude Code session whole."""


def main() -> None:
    """Errors in words, with the next thing to try; a closed pipe is not an error."""
    os.umask(0o077)
    try:
        with safe_streams():
            _whole()
    finally:
        _let_go()


def _let_go() -> None:
    """What cannot be written is dropped: at its own end the interpreter would try once more, and
    make another exit code of it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except ValueError:  # closed already
            pass


def _whole() -> None:
    try:
        sys.exit(holdfast_command(standalone_mode=False) or 0)
    except HoldfastError as slip:
        with contextlib.suppress(OSError):
            click.echo(f"holdfast: {slip}", err=True)
            if slip.hint:
                click.echo(f"  try: {slip.hint}", err=True)
        sys.exit(slip.exit_code)
    except click.ClickException as slip:
        slip.show()
        sys.exit(slip.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(0)
    except OSError as slip:
        with contextlib.suppress(OSError):
            click.echo(f"holdfast: {_of_the_system(slip)}", err=True)
        sys.exit(4)
    except Exception as slip:
        if "HOLDFAST_RAISE" in os.environ:  # as in the hook: our bugs stay loud to us
            raise
        with contextlib.suppress(OSError):
            click.echo(f"holdfast: {type(slip).__name__}: {inert(str(slip), 300)}", err=True)
        sys.exit(1)


def _of_the_system(slip: OSError) -> str:
    """A disk that is full or not writable, a folder that is gone: nothing of ours is wrong."""
    try:
        os.getcwd()  # noqa: PTH109
    except OSError:
        return "the current folder is gone\n  try: cd somewhere that is there"
    place = f"{inert(str(slip.filename), 300)}: " if slip.filename else ""
    return f"{place}{slip.strerror or slip}\n  try: free some room, or make it writable"
