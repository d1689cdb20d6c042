"""The whole life of a window as one scripted session, and what of ours reached the model in it.

The window fills, is alerted, compacted and filled again. The steps are small (3.3 % of the limit)
so that every mark is crossed by an answer of its own and no fast climb is seen. The API is patient,
so that an asynchronous hook ends before the next answer, as in real life; its text is then in the
request after that answer.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.trial.run import Trial, run_trial
from tests.trial.script import Acts, ReceivedRequest, ScriptedAnswer, bash, usage_of

MODEL = "claude-sonnet-4-6"
EDGE_TOKENS = 167_000  # the compaction limit of a 200,000 window
# The last step crosses no mark: it gives the alert of the step before time to arrive.
FILL = (*range(60_000, 165_000, 5_500), 165_500)
OVER = 169_000
AFTER = (12_000, 14_000, 16_000)
REFILL = (60_000, 100_000, 128_000, 129_000, 130_000)
SUMMARY = (
    "<analysis>The session ran short commands.</analysis>\n"
    "<summary>1. Primary request: run the rounds.\n2. Pending: the rest of them.</summary>"
)
# A text of ours ends where Claude Code's wrapper, or a section of its system message, ends.
_OURS = re.compile(r"Holdfast:.*?(?=\s*</system-reminder>|\n\n|\Z)", re.DOTALL)
# PreCompact and PostCompact are not in the stream: only the debug log has their status.
_STATUS = re.compile(
    r"\[DEBUG\] (?:Hooks: )?(\w+\S* \[.*\] (?:completed|finished) with status [1-9].*)"
)
_ERROR = re.compile(r"\[ERROR\] (.*\b[Hh]ook\b.*)")
_REJECTED = re.compile(r"\] (.*[Hh]ook JSON output validation failed.*)")


def cycle_usage(*, refill: bool = False) -> tuple[int, ...]:
    """The usage that each main answer reports, in order; after OVER the window is a new one."""
    return (*FILL, OVER, *AFTER, *(REFILL if refill else ()))


def rounds(usages: Sequence[int], pause_seconds: float = 0.15) -> list[ScriptedAnswer]:
    """One tool call per usage. The pause gives Claude Code time to write the answer into its
    transcript (67 ms seen), so that the hook after the call finds it there."""
    return [
        ScriptedAnswer(
            f"Round {n}.", (bash(f"sleep {pause_seconds}; echo round {n}"),), usage_of(tokens)
        )
        for n, tokens in enumerate(usages, start=1)
    ]


def cycle_script(*, refill: bool = False) -> Acts:
    """The script of the cycle; an empty list ends the turn."""
    main = rounds(cycle_usage(refill=refill))
    return Acts(main, summary=[ScriptedAnswer(SUMMARY, usage=usage_of(3_000, output_tokens=200))])


def run_cycle(
    binary: Path,
    project_dir: Path,
    home: Path,
    *,
    settings: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    refill: bool = False,
    timeout: float = 90.0,
) -> Trial:
    """Run Claude Code through the whole cycle, which takes some ten seconds."""
    script = cycle_script(refill=refill)
    words = "Please work through the rounds."
    return run_trial(
        *(binary, project_dir, home, script),
        prompt=words,
        model=MODEL,
        settings=settings,
        env=env,
        timeout=timeout,
        patient=True,
    )


def our_texts(request: ReceivedRequest) -> list[str]:
    """Every text of ours in one request, in order, with repetitions."""
    found: list[str] = []
    for text in texts(request.body.get("messages", [])):
        found += [match.group().strip() for match in _OURS.finditer(text)]
    return found


def compactions(trial: Trial) -> int:
    """How often Claude Code compacted."""
    return sum(event.get("subtype") == "compact_boundary" for event in trial.events)


def hook_faults(trial: Trial) -> list[str]:
    """All faults of hooks: from Claude Code's event stream and debug log, and from our own log for
    hooks that failed and exited with 0."""
    faults = [
        f"{run.name}: {run.outcome}, exit {run.exit_code}, {run.stderr.strip()}"
        for run in trial.hooks
        if run.outcome != "success" or run.exit_code not in (0, None) or run.stderr.strip()
    ]
    faults += trial.skipped
    for pattern in (_STATUS, _ERROR, _REJECTED):
        faults += pattern.findall(trial.debug_log)
    return faults


def texts(value: Any) -> Iterator[str]:
    """All strings of a JSON value: our text may be in a tool result, a block or a message."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)
