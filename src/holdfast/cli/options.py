"""Arguments of commands: checked, and completed by the shell where they are ids; `holdfast
completion`.

The name of a file may be any bytes. Other words must be UTF-8, so that they can be stored and
printed; they are refused here if they are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from holdfast.transcript import PACKED
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert, is_utf8

DEMO_ALONE = "--demo is a session of its own: name no other"
Completer = Callable[[str], list[CompletionItem]]
METAVARS = {
    "project": "DIR",
    "projects": "DIR",
    "plugin": "DIR",
    "plugin_folder": "DIR",
    "session": "ID",
    "agent": "ID",
}


class NoSuchFolder(HoldfastError):
    exit_code = 2
    hint = "name a project's folder"


def must_be_folder(project: str | Path | None, hint: str) -> None:
    """Raise NoSuchFolder if a folder is named that is not there."""
    if project and not Path(project).is_dir():
        error = NoSuchFolder(f"no such folder: {inert(str(project))}")
        error.hint = hint
        raise error


PROJECT = click.option(
    "--project",
    type=click.Path(path_type=Path),
    help="The project's folder (default: this folder).",
)
EVERYWHERE = click.option("--all", "everywhere", is_flag=True, help="Of every project.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
Function = Callable[..., Any]
Option = Callable[[Function], Function]


def of_session(command: Function) -> Function:
    """Which session: [SESSION], --transcript, --session or --demo. The command gets `transcript`
    and `session`."""

    @click.argument("any_session", default="", metavar="[SESSION]", type=click.Path())
    @click.option("--transcript", type=click.Path(path_type=Path), help="Read this transcript.")
    @click.option("--session", default="", help="A session's id, or its first characters.")
    @click.option("--demo", is_flag=True, help="Take the recorded session of Holdfast.")
    @wraps(command)
    def with_session(
        any_session: str, transcript: Path | None, session: str, demo: bool, **given: Any
    ) -> object:
        if demo and (any_session or transcript or session):
            raise click.UsageError(DEMO_ALONE)
        if any_session and (transcript or session):
            raise click.UsageError("SESSION is named twice: leave out --session and --transcript")
        if demo or is_file_name(any_session):
            transcript = demo_session() if demo else Path(any_session)
        else:
            session = session or any_session
        with own_demo():
            return command(transcript=transcript, session=session, **given)

    return with_session


@contextmanager
def own_demo() -> Iterator[None]:
    """Offer the recorded session with this command: an error without a session offers `replay`,
    because some commands have no --demo."""
    try:
        yield
    except HoldfastError as error:
        name = click.get_current_context().info_name
        error.hint = error.hint.replace("holdfast replay --demo", f"holdfast {name} --demo")
        raise


def demo_session() -> Path:
    """Return the recorded session: in the wheel (hatch_build.py puts it there), else in the
    checkout."""
    here = Path(__file__)
    packed = here.with_name("demo.jsonl")
    return packed if packed.is_file() else here.parents[3] / "demo" / "session.jsonl"


def is_file_name(word: str) -> bool:
    """Whether a word that names a session is its transcript, and not the start of its id."""
    return "/" in word or word.endswith((".jsonl", *PACKED)) or Path(word).is_file()


def list_group(
    name: str, show: Function, *options: Option, words: str, list_words: str
) -> click.Group:
    """Make a group that lists when it is called without a command, as its command `list` does."""

    @click.pass_context
    def alone(context: click.Context, /, **given: Any) -> None:
        if context.invoked_subcommand is None:
            show(**given)

    def as_command(**given: Any) -> None:
        show(**given)

    for option in reversed(options):
        alone, as_command = option(alone), option(as_command)
    group = click.group(name, invoke_without_command=True, help=words)(alone)
    group.command("list", help=list_words)(as_command)
    return group


class TextArgument(click.ParamType[str]):
    name = "text"

    def __init__(self, completer: Completer | None = None) -> None:
        self.completer = completer

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        if not is_utf8(str(value)):
            shown = ascii(str(value)[:80])
            self.fail(f"{shown} is not UTF-8; use a terminal that is", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return self.completer(incomplete) if self.completer else []


class IdOrFile(click.Path):
    """An id that the completer knows, or the path of a file."""

    def __init__(self, completer: Completer) -> None:
        super().__init__()
        self.completer = completer

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return self.completer(incomplete) or super().shell_complete(ctx, param, incomplete)


def _metavar(option: click.Option) -> str | None:
    """Return the placeholder of the option's value in the help: N, FILE, … where click has INTEGER
    RANGE."""
    if isinstance(option.type, (click.IntRange, click.FloatRange)) and not option.count:
        return "N"
    if isinstance(option.type, click.Path):
        return METAVARS.get(option.name or "", "DIR" if not option.type.file_okay else "FILE")
    return METAVARS.get(option.name or "")


def prepare(command: click.Command) -> click.Command:
    """Return the command with checked words (UTF-8) and ids that the shell completes."""
    for param in command.params:
        completer = COMPLETERS.get(param.name or "")
        if param.type is click.STRING:
            param.type = TextArgument(completer)
        elif completer and isinstance(param.type, click.Path):
            param.type = IdOrFile(completer)
        elif isinstance(param.type, (click.IntRange, click.FloatRange)):
            whole = "whole " if isinstance(param.type, click.IntRange) else ""
            param.type.name = f"{whole}number"  # click says "not a valid integer range"
        if isinstance(param, click.Option) and param.metavar is None:
            param.metavar = _metavar(param)
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        prepare(below)
    return command


SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_HOLDFAST_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Click's own script for the shell; it asks `holdfast` again at every Tab."""
    from holdfast.cli.main import holdfast_command

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(holdfast_command, {}, "holdfast", VARIABLE).source())


def sessions(incomplete: str) -> list[CompletionItem]:
    from holdfast.cli.choose_session import windows

    known = {one.state.session_id: one.state.project for one in windows(everything=True)}
    return _matching(known.items(), incomplete)


def archived_sessions(incomplete: str) -> list[CompletionItem]:
    from holdfast.archive import transcripts

    return _matching(((one.id, "") for one in transcripts.sessions()), incomplete)


def checkpoints(incomplete: str) -> list[CompletionItem]:
    """List the checkpoints of this folder, newest first."""
    from pathlib import Path

    from holdfast.checkpoint import find, index

    known = find.sort_entries(index.of_project(str(Path.cwd()), foreign=True))
    words = [("latest", "the newest"), ("previous", "the one before it")]
    return _matching([*words, *((one.id, one.summary) for one in known)], incomplete)


def segments(incomplete: str) -> list[CompletionItem]:
    from pathlib import Path

    from holdfast.segment import library

    known = library.warm(str(Path.cwd()))
    return _matching(((one.segment_id, one.topic) for one in known), incomplete)


def _matching(known: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    return [
        CompletionItem(name, help=" ".join(about.split())[:60])
        for name, about in known
        if name.startswith(incomplete)
    ]


COMPLETERS: dict[str, Completer] = {  # by the name of the parameter, the same in every command
    "session": sessions,
    "any_session": sessions,
    "sessions": archived_sessions,
    "which": checkpoints,
    "older": checkpoints,
    "newer": checkpoints,
    "segment_id": segments,
    "segment_ids": segments,
}
