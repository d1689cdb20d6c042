"""How a command went: failed, or passed, and with that what it had broken is fixed.

A pipe hides the exit code of a test, so what the runner says counts as well.
"""

from itertools import pairwise

from holdfast.checkpoint.extract import cues, runs, shell
from holdfast.checkpoint.facts import Command, Facts, Failure, Place

HEAD_CHARS = 6000
LONGEST_LINE = 240
MOST_LINES = 6
MOST_FAILURES = 30
_WRONG = (
    *("error", "exception", "panic", "fail", "cannot", "undefined", "traceback", "not found"),
    *("denied", "refused", "mismatch", "invalid", "unresolved", "✗", "✖", "❌", "✕"),
)
# Said by a runner whose exit code a pipe has hidden. "0 failed" is no failure.
_FAILED = (
    "FAIL",
    "--- FAIL",
    "panic:",
    "Traceback",
    "error:",
    "error[",
    "E   ",
    "npm ERR!",
    "✗",
    "✖",
)
_FAILING = (" FAILED", "error TS", "❌", "✕ ")
_SURE = ("error:", "error[", "error ts", "panic:", "undefined:", "fatal", "exception:", "assert")
_FINE = ("=== ", "--- PASS", "PASS", "ok ", "warning:", "✓", "✔")
_HINTS = ("FAIL", "rror", "fail", "panic", "Traceback", "E   ", "ERR!", "✗", "✖", "❌", "✕")
_TRACE = "Traceback (most recent"
_GO_FAILED = "--- FAIL: "
PAST_OPS, PAST_PASSES = 25, 2
_ASTRAY = (": cd: ", ":cd:", ": line 1: ./")
_SLIPS = (
    *_ASTRAY,
    *("no such task", "unrecognized subcommand", "No rule to make target", "No targets specified"),
    *("can't open file", "Missing script:", "ERROR no task", "unknown command", "unknown option"),
)
_TRIED = ("gcc ", "g++ ", "cc ", "clang", "nvcc ", "cmake ", "./", "python -c", "python3 -c")
_NONE_FAILED = " 0 fail"
_COUNTED = ("fail", "failed", "failing", "failure", "failures", "error", "errors")


def judge(
    facts: Facts, key: str, command: Command, text: str, place: Place, *, failed: bool
) -> None:
    edge = HEAD_CHARS // 4 if facts.far else HEAD_CHARS
    edges = text if len(text) <= 2 * edge else text[:edge] + "\n" + text[-edge:]
    failed = failed or (bool(command.kind) and _says_failed(edges))
    command.ok = not failed
    if failed:
        command.said = wrong_lines(edges) or _last_lines(edges)
        if not _is_slip(command.said):
            _fail(facts, key, command, place)
        elif command.count == 1 and _is_slip(command.said, _ASTRAY):
            del facts.commands[key]  # in that folder nobody will want to run it again
    else:
        command.said = _last_lines(edges[-600:])[-1:]
        passed(facts, key, place, edges if command.kind == "test" else "")


def _says_failed(text: str) -> bool:
    if not cues.within(_HINTS, text):
        return False
    said = counted = False
    for line in text.splitlines():
        if _NONE_FAILED in f" {line}":
            said, counted = False, True  # what tests print is theirs: the runner has counted
        elif line.startswith(_FAILED) or cues.within(_FAILING, line) or ": error: " in line:
            said = True
    return said or _counts_failures(text.split(), counted=counted)


def _counts_failures(words: list[str], *, counted: bool) -> bool:
    """A number above nought, and then what it is a number of; "item 3 failed" counts nothing."""
    first = ""
    for before, word in pairwise(words):
        counts = before[0] in "123456789" and before.isdecimal()
        if counts and word.rstrip(",.;:)") in _COUNTED and not (counted and first.isalpha()):
            return True
        first = before
    return False


def wrong_lines(text: str) -> list[str]:
    """The lines that name an error, each once: those that surely do, else those that may. Of a
    trace, its last."""
    sure: dict[str, None] = {}
    maybe: dict[str, None] = {}
    traced = False
    for line in text.splitlines():
        if _TRACE in line:
            traced = True
            continue
        if traced and line[:1] in (" ", "\t", "|"):
            continue
        if traced and line:
            sure[line[:LONGEST_LINE]] = None
            traced = False
        low = line.lower()
        if not cues.within(_WRONG, low):
            continue
        line = line.strip()
        if not 12 <= len(line) <= 400 or "Exit code" in line or line.startswith(_FINE):
            continue
        found = sure if line.startswith(_FAILED) or cues.within(_SURE, low) else maybe
        found[line[:LONGEST_LINE]] = None
        if len(sure) >= MOST_LINES:
            break
    return list(sure or maybe)[:MOST_LINES]


def _last_lines(text: str) -> list[str]:
    lines = [line.strip() for line in text[-2000:].splitlines()]
    return [line[:LONGEST_LINE] for line in lines if line and "Exit code" not in line][-2:]


def _is_slip(lines: list[str], slips: tuple[str, ...] = _SLIPS) -> bool:
    """A typing slip, or the wrong folder: nothing of the work has failed."""
    return any(cues.within(slips, line) for line in lines)


def _fail(facts: Facts, key: str, command: Command, place: Place) -> None:
    """The newest failure of a run stands for those before it; a fix of it holds no more, but that
    of another error is a fix still."""
    still = runs.parts(key)
    edited: list[str] = []
    kept: list[Failure] = []
    for old in facts.failures:
        if old.fixed and old.lines[:1] != command.said[:1]:
            kept.append(old)
        elif _all_covered(old.left, still) or (old.fixed and _all_covered(still, old.left)):
            edited = edited if old.fixed else old.edited
        elif not _is_past(old, place):
            kept.append(old)
    facts.failures = [*kept, Failure(key, command.said, place, edited=edited, left=still)]
    if len(facts.failures) > MOST_FAILURES:
        fixed = [one for one in facts.failures if one.fixed]
        facts.failures.remove((fixed or facts.failures)[0])


def resolved(facts: Facts) -> list[Failure]:
    """What was fixed, and passes still."""
    still = [runs.parts(one.command) for one in facts.failures if one.fixed is None]
    return [
        one
        for one in facts.failures
        if one.fixed
        and not any(_all_covered(one.left, by) or _all_covered(by, one.left) for by in still)
    ]


def _all_covered(failed: list[str], by: list[str]) -> bool:
    return all(any(runs.covers(one, part) for one in by) for part in failed)


def _is_past(failure: Failure, now: Place) -> bool:
    """Something tried once, that is neither test nor build, and nobody came back to."""
    if failure.fixed is not None:
        return False
    missing = any("command not found" in line for line in failure.lines)
    tried = " ".join(shell.settings_of(failure.left[0].rpartition("&& ")[2])[1])
    once = tried.startswith(_TRIED)
    if shell.kind(failure.command) and not once and not missing:
        return False
    old = now.op - failure.place.op > PAST_OPS
    return old or (failure.passes >= PAST_PASSES and not missing)


def passed(facts: Facts, key: str, place: Place, said: str = "") -> None:
    """A run passed, and with it whatever it covers; `said` is what a test run printed."""
    if not facts.failures:
        return
    by = runs.parts(key)
    for failure in facts.failures:
        if failure.fixed is not None:
            continue
        failure.left = [part for part in failure.left if not _all_covered([part], by)]
        if not failure.left or (said and _names_passed(failure.lines, said)):
            _mend(facts, failure, place)
        elif facts.commands[key].kind:
            failure.passes += 1
    facts.failures = [one for one in facts.failures if not _is_past(one, place)]


def _mend(facts: Facts, failure: Failure, place: Place) -> None:
    failure.fixed, failure.fix, failure.edited = place, failure.edited, []
    failure.left = runs.parts(failure.command)
    for key, command in facts.commands.items():  # nothing is both fixed and failing
        if command.ok is False and _all_covered(runs.parts(key), failure.left):
            command.ok = True


def _names_passed(lines: list[str], said: str) -> bool:
    """Each test that failed by name passed by name, in whatever run."""
    failed = [line for line in lines if line.startswith((_GO_FAILED, "FAILED "))]
    if not failed or len(lines) >= MOST_LINES:
        return False
    names = [line.removeprefix(_GO_FAILED).removeprefix("FAILED ").split()[:1] for line in failed]
    return all(
        name and (f"--- PASS: {name[0]} " in said or f"{name[0]} PASSED" in said) for name in names
    )
