"""`holdfast completion`, and the ids that a shell completes."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem, get_completion_class

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
    """Those of this folder, newest first."""
    from pathlib import Path

    from holdfast.checkpoint import find, index

    known = find.ordered(index.of_project(str(Path.cwd()), foreign=True))
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
