"""What `holdfast run` would do: batches, estimates, commands, prompts. Nothing is started."""

from __future__ import annotations

import json
import shlex
from textwrap import shorten

import click

from holdfast.cli.terminal import say
from holdfast.plan.room import PlanRoom
from holdfast.redact import redact_each
from holdfast.run import claude_command, prompt
from holdfast.run.jobs import SessionJob
from holdfast.run.runner import Runner
from holdfast.text.numbers import about, named, nothing_left
from holdfast.wire.log import inert

SHOWN_LINES = 6
SHOWN_CHARS = 160


def show(runner: Runner, room: PlanRoom, warning: str, as_plain: bool) -> None:
    flow = runner.flow()
    batches = list(runner.queue.jobs(flow))
    if as_plain:
        if warning:
            say(f"  note: {named(warning)}", err=True)
        listed = [_plain(runner, job) for batch in batches for job in batch]
        click.echo(json.dumps(redact_each(listed), indent=2))
        return
    say(f"room: {room.fresh_tokens:,} tokens a batch ({room.basis})")
    for batch in batches:
        for job in batch:
            _show(runner, job, batch)
    if not batches:
        say(nothing_left(len(flow.done)))
    for words in filter(None, (warning, *runner.report.notes)):
        say(f"  note: {named(words)}", err=True)


def _plain(runner: Runner, job: SessionJob) -> dict[str, object]:
    return {
        "batch": job.number,
        "of": job.count,
        "beside": job.beside,
        "tasks": list(job.names),
        "estimated_tokens": None if job.is_unknown else job.tokens,
        "high_tokens": None if job.is_unknown else job.high_tokens,
        "command": _command(runner),
        "prompt": _prompt(runner, job),
    }


def _show(runner: Runner, job: SessionJob, batch: list[SessionJob]) -> None:
    beside = f", one of {len(batch)} side by side" if len(batch) > 1 else ""
    wide = job.high_tokens > job.tokens
    upper = f", one in ten takes more than {about(job.high_tokens)}" if wide else ""
    size = f"about {about(job.tokens)} tokens{upper}"
    size = "a session of its own, as its size is unknown" if job.is_unknown else size
    say(f"\nbatch {job.number} of {job.count}{beside}: {size}")
    say(f"  $ {inert(shlex.join(_command(runner)))}")
    lines = [line for line in _prompt(runner, job).splitlines() if line.strip()]
    for line in lines[:SHOWN_LINES]:
        say(f"  > {_short(named(line))}")
    if len(lines) > SHOWN_LINES:
        say(f"  > … {len(lines) - SHOWN_LINES} more lines")


def _short(line: str) -> str:
    """Cut where a word ends, and seen to be cut."""
    return shorten(line, SHOWN_CHARS, placeholder=" …") if len(line) > SHOWN_CHARS else line


def _prompt(runner: Runner, job: SessionJob) -> str:
    return prompt.write_prompt(job.pieces, runner.queue.told(job))


def _command(runner: Runner) -> list[str]:
    options = runner.context.options
    return claude_command.build_command(
        options.client, "SESSION", options.model, options.permission_mode, options.extra
    )
