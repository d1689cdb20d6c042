"""How a command went: failed, or passed, and with that what it had broken is fixed.

A pipe hides the exit code of a test, so what the runner says counts as well.
"""

from itertools import pairwise

from holdfast.checkpoint.extract import cues
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
_COUNTED = ("failed", "failing", "failure", "failures", "error", "errors")


def judge(
    facts: Facts, key: str, command: Command, text: str, place: Place, *, failed: bool
) -> None:
    edge = HEAD_CHARS // 4 if facts.far else HEAD_CHARS
    edges = text if len(text) <= 2 * edge else text[:edge] + "\n" + text[-edge:]
    failed = failed or (bool(command.kind) and _says_failed(edges))
    command.ok = not failed
    if failed:
        command.said = wrong_lines(edges) or _last_lines(edges)
        _fail(facts, key, command, place)
    else:
        command.said = _last_lines(edges[-600:])[-1:]
        passed(facts, key, place)


def _says_failed(text: str) -> bool:
    if not cues.within(_HINTS, text):
        return False
    for line in text.splitlines():
        if line.startswith(_FAILED) or cues.within(_FAILING, line) or ": error: " in line:
            return True
    return _counts_failures(text.split())


def _counts_failures(words: list[str]) -> bool:
    """A number above nought, and then what it is a number of."""
    for before, word in pairwise(words):
        if before[0] in "123456789" and before.isdecimal() and word.rstrip(",.;:)") in _COUNTED:
            return True
    return False


def wrong_lines(text: str) -> list[str]:
    """The lines that name an error, each once: those that surely do, else those that may."""
    sure: dict[str, None] = {}
    maybe: dict[str, None] = {}
    for line in text.splitlines():
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


def _fail(facts: Facts, key: str, command: Command, place: Place) -> None:
    """The newest failure of a command stands for those before it."""
    again = next((one for one in facts.failures if one.command == key and not one.fixed), None)
    if again is not None:
        again.lines, again.place, again.passes = command.said, place, 0
        return
    facts.failures.append(Failure(key, command.said, place))
    if len(facts.failures) > MOST_FAILURES:
        fixed = [one for one in facts.failures if one.fixed]
        facts.failures.remove((fixed or facts.failures)[0])


def passed(facts: Facts, key: str, place: Place) -> None:
    for failure in facts.failures:
        if failure.fixed is not None:
            continue
        if _covers(key, failure.command):
            failure.fixed, failure.fix, failure.edited = place, failure.edited, []
        elif facts.commands[key].kind:
            failure.passes += 1


def _covers(passed: str, failed: str) -> bool:
    """The same command, or the same run on everything."""
    if passed == failed:
        return True
    whole = passed.removesuffix(" ./...")
    return " " in whole and failed.startswith(f"{whole} ")
