"""What the output of a command shows: a failure, a success, and the lines that name the error.

A pipe hides the exit code of a test. Then the runner's own output decides.
"""

from itertools import pairwise

from holdfast.text.sentences import Lazy, clip, clip_start, within

HEAD_CHARS = 6000
LONGEST_LINE = 240
MOST_LINES = 6
_WRONG = (
    *("error", "exception", "panic", "fail", "cannot", "undefined", "traceback", "not found"),
    *("denied", "refused", "mismatch", "invalid", "unresolved", "✗", "✖", "❌", "✕"),
)
# What a runner prints when a pipe hides its exit code. "0 failed" is no failure.
SUMMARIES = ("FAIL", "--- FAIL", "npm ERR!")
_FAILED = (
    *SUMMARIES,
    "panic:",
    "Traceback",
    "error:",
    "error[",
    "E   ",
    "✗",
    "✖",
    "not ok ",  # TAP, as of `node --test`
    "Failed!",  # dotnet
)
_FAILING = ("no tests ran", "error TS", "❌", "✕ ", "BUILD FAILURE")
# `quay/moor.go:12:3: undefined: tide`, as compilers and linters print; no number of a line alone.
_AT = Lazy(
    r"(?:vet: )?(?>[\w./@+-]*\.)(?<=\w\.)\w{1,8}(?::\d+:\d+:|\(\d+,\d+\):) "
    r"(?!warning|note|info)"
)
_WELL = (
    *(" passed", "\nok ", "\npass\n", " succeeded", "successful", "finished `", "built in "),
    *("no issues", "\n0 issues", "no errors", "0 errors", "0 fail", "0 problems", "✓", "✔"),
    *(" up to date", "\nok\n", " fail 0\n", "build success", "\npassed!"),
)
_NOT_SAID = ("> ", "$ ", "(Bash completed with no output", "Shell cwd was reset")
_ASKS_CODE = ("$?", "PIPESTATUS")
_CODE = Lazy(r"\d{1,3}\b(?=\W*$)")
_SURE = (
    "error:",
    "error[",
    "error ts",
    "panic:",
    "undefined:",
    "undefined reference",
    "fatal",
    "exception:",
    "assert",
)
_FINE = ("=== ", "--- PASS", "PASS", "ok ", "warning:", "✓", "✔")
FAILURE_HINTS = (
    *("FAIL", "rror", "fail", "panic", "Traceback", "E   ", "ERR!", "✗", "✖", "❌", "✕", "not ok"),
    "Failed!",
)
_IDLE = ("to rerun pass", "could not compile", "aborting due to")  # it failed, and nothing else
_TRACE = "Traceback (most recent"
_NONE_FAILED = (" 0 fail", " 0 remaining", " fail 0", " 0 tests failed")
_COUNTED = ("fail", "failed", "failing", "failure", "failures", "error", "errors")


def printed_code(line: str, text: str) -> int:
    """Return the number that `echo $?` printed last; -1 if there is none."""
    if not within(_ASKS_CODE, line):
        return -1
    last = last_lines(text)[-1:]
    found = _CODE.pattern.search(last[0]) if last else None
    return int(found[0]) if found else -1


def names_places(text: str) -> bool:
    """Whether a line begins with a place in a file (see `_AT`): with three colons, or a bracket."""
    lines = [line for line in text.split("\n") if "): " in line or line.count(":") > 2]
    return any(map(_AT.pattern.match, lines)) if lines else False


def tells_success(kind: str, text: str) -> bool:
    """Whether a runner reports success. A compiler prints nothing then, except for the line that a
    script repeats before running it."""
    if within(_WELL, f"\n{text.lower()}\n"):
        return True
    return kind == "build" and all(
        not line.strip() or line.startswith(_NOT_SAID) for line in text.splitlines()
    )


def is_silent(text: str) -> bool:
    """Whether the text shows no failure."""
    return not (within(FAILURE_HINTS, text) and shows_failure(text))


def shows_failure(text: str, *, is_sure: bool = False) -> bool:
    """Whether a runner reports a failure. With `is_sure` the exit code says otherwise: then only
    the runner's own summary counts, because tests may print errors that they expect."""
    reported = counted = False
    for line in text.splitlines():
        if within(_NONE_FAILED, f" {line}"):
            reported, counted = (
                False,
                True,
            )  # the runner has counted, so output of the tests is ignored
        elif (
            line.startswith(SUMMARIES)
            or " FAILED" in line
            or (
                not is_sure
                and (line.startswith(_FAILED) or within(_FAILING, line) or ": error: " in line)
            )
        ):
            reported = True
    return reported or _counts_failures(text.split(), counted=counted)


def _counts_failures(words: list[str], *, counted: bool) -> bool:
    """Whether a number above zero counts failures; "item 3 failed" counts nothing."""
    first = ""
    for before, word in pairwise(words):
        counts = before[0] in "123456789" and before.isdecimal()
        if counts and word.rstrip(",.;:)") in _COUNTED and not (counted and first.isalpha()):
            return True
        first = before
    return False


def wrong_lines(text: str) -> list[str]:
    """Return the lines that name an error, each once: the certain ones, else the possible ones,
    each with the next line if that says more. Of a trace, only the last line."""
    sure: dict[str, None] = {}
    maybe: dict[str, None] = {}
    traced = announced = False
    for line in text.splitlines():
        if announced and line.strip() and not line.startswith(_FINE):
            sure[clip(line.strip(), LONGEST_LINE)] = None
        announced = _announces(line)
        if _TRACE in line:
            traced = True
            continue
        if traced and line[:1] in (" ", "\t", "|"):
            continue
        if traced and line:
            sure[clip(line, LONGEST_LINE)] = None
            traced = False
        low = line.lower()
        if not within(_WRONG, low):
            continue
        line = line.strip()
        if not 12 <= len(line) <= 400 or "Exit code" in line or line.startswith(_FINE):
            continue
        is_sure = line.startswith(_FAILED) or within(_SURE, low) or announced
        (sure if is_sure else maybe)[clip(line, LONGEST_LINE)] = None
        if len(sure) >= MOST_LINES:
            break
    errors = list(sure or maybe)
    telling = [line for line in errors if not within(_IDLE, line)]
    return (telling or errors)[:MOST_LINES]


def _announces(line: str) -> bool:
    """Whether the message follows in the next line."""
    return line.lstrip().startswith("--- FAIL:") or " panicked at " in line


def is_error(lines: list[str]) -> bool:
    """Whether the first of these lines names an error."""
    return bool(lines) and within(_WRONG, lines[0].lower())


def last_lines(text: str) -> list[str]:
    """Return the last two lines that say something."""
    lines: list[str] = []
    for line in map(str.strip, reversed(clip_start(text, 2000).splitlines())):
        if line and "Exit code" not in line:
            lines.append(clip(line, LONGEST_LINE))
            if len(lines) == 2:
                break
    return lines[::-1]
