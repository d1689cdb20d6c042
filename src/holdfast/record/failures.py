"""Whether a command failed or passed, and which failures a passing command has fixed.

If a pipe hides the exit code, and the output shows neither success nor failure, nothing is
recorded. The result of a command that is neither test nor build but prints failures is unknown.
"""

from holdfast.record import files, runs, shell, turns
from holdfast.record.model import Command, Failure, Place, Record
from holdfast.record.run_output import (
    FAILURE_HINTS,
    HEAD_CHARS,
    MOST_LINES,
    SUMMARIES,
    last_lines,
    names_places,
    printed_code,
    shows_failure,
    tells_success,
    wrong_lines,
)
from holdfast.text.fence import quoted
from holdfast.text.sentences import Lazy, clip, clip_start, within

PASSED, FAILED, UNCLEAR, NO_RESULT = "passed", "failed", "unclear", "no result"
EDITED_SINCE = "edited since, not run again"  # then nobody knows whether it still fails
MOST_FAILURES = 60
MOST_FIXES = 5
LONGEST_COVER = 80  # of the command that passed instead of the failed one
MOST_EDITED = 40
ALSO_BEFORE = "it fails without the changes of this session too"
_GO_FAILED = "--- FAIL: "
_NOT_BUILT = "[build failed]"
_NAMED = ("--- PASS: ", " PASSED", "no tests to run")  # what was run is told by name
_ASTRAY = (": cd: ", ":cd:", ": line 1: ./")
_SLIPS = (
    *_ASTRAY,
    *("no such task", "unrecognized subcommand", "No rule to make target", "No targets specified"),
    *("can't open file", "Missing script:", "ERROR no task", "unknown command", "unknown option"),
)
# The shell or the tool could not begin: the call was wrong, or something is not installed.
_NOT_BEGUN = (
    *("command not found", "Failed to spawn", "Script not found", "file or directory not found: "),
    *(": No such file or directory.  Stop", "invalid time interval", "[setup failed]"),
)
_NO_TESTS = "Exit code 5\n"  # of pytest: nothing was collected
_SHELLS = ("/bin/bash: ", "bash: ", "zsh: ", "/bin/sh: ", "sh: ", "(eval):")
# With these words the model calls a failure not its own. It ranks lower, and they are quoted.
_NOT_OURS = (
    *("pre-existing", "preexisting", "pre existing", "unrelated", "not related", "already fail"),
    *("already broken", "not caused by", "existed before", "not introduced", "known issue"),
    *("flaky", "on main too", "on master too", "also fail", "schon vorher"),
    *("nicht von", "unabhängig von", "préexist", "sans rapport", "preexistent", "pré-existente"),
    *("sin relación", "no relacionad", "não relacionad", "既存", "无关"),
)
_NAMED_CODE = Lazy(r"`[^`]*`")  # `annotateErr` is no failure
_ABOUT_FAILURE = ("fail", "err", "issue", "broken", "fehl", "échec", "fallo", "失败", "失敗")
LONGEST_VERDICT = 200
# After these the verb is the second word: `gh pr create`, `bash tools/ship.sh commit`.
_WITH_A_WORD_BEFORE = runs.INTERPRETERS | {"gh", "glab", "docker", "kubectl", "gcloud", "aws"}
_TRIED = ("gcc ", "g++ ", "cc ", "clang", "nvcc ", "cmake ", "./", "python -c", "python3 -c")
_PART = Lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


def judge(
    record: Record, key: str, command: Command, text: str, place: Place, *, failed: bool
) -> None:
    edge = HEAD_CHARS // 4 if record.far else HEAD_CHARS
    edges = text if len(text) <= 2 * edge else f"{clip(text, edge)}\n{clip_start(text, edge)}"
    command.covered_by = ""
    is_answer = failed and shell.ends_looking(command.line)
    is_hidden = is_answer or shell.hides_work(command.line)
    failed = failed and not is_answer
    if failed and _found_no_test(key, text):
        command.ok, command.said, command.is_hidden = None, [], True
        return
    hints = within(FAILURE_HINTS, edges)
    shows = hints and shows_failure(edges, is_sure=bool(command.kind) and not is_hidden)
    if command.kind and is_hidden:
        code = printed_code(command.line, edges)
        shows = shows or code > 0 or names_places(edges)
        is_hidden = bool(code) and not tells_success(command.kind, edges)
    failed = failed or (bool(command.kind) and shows)
    command.ok = False if failed else None if shows else True
    command.is_hidden = is_hidden and not failed
    if _is_of_before(command.line):
        _compare(record, key, command, failed=failed)
        return
    if command.kind or failed:
        turns.note_run(record, key, not failed)
    if failed:
        command.said = wrong_lines(edges) or last_lines(edges)
        if not _is_slip(command.said):
            _fail(record, key, command, place)
        elif command.count == 1 and _is_slip(command.said, _ASTRAY):
            del record.commands[key]  # nobody will run it again in that folder
    else:
        errors = wrong_lines(edges) if hints else []
        command.said = errors[:3] or last_lines(clip_start(edges, 600))[-1:]
        if not shows:
            note_pass(record, key, place, edges if command.kind == "test" else "")


def _found_no_test(key: str, text: str) -> bool:
    """Whether pytest was given a path without tests or a missing file: then no work has failed."""
    return text.startswith(_NO_TESTS) and "pytest" in key and not within(SUMMARIES, text)


def _is_of_before(line: str) -> bool:
    """Whether the session's changes are stashed while this runs, and restored after it."""
    return "git" in line and " stash pop" in line.partition(" stash")[2]


def _compare(record: Record, key: str, command: Command, *, failed: bool) -> None:
    """Compare with a run without the session's changes: a failure there is an older one, and
    success fixes nothing."""
    command.ok, command.said, command.is_hidden = None, [], True
    for one in record.failures if failed else ():
        if one.fixed is None and _all_covered(one.left, runs.parts(key)):
            one.verdict = one.verdict or ALSO_BEFORE


def outcome(command: Command) -> str:
    """Return how the last run went; empty if that is not known."""
    if command.ok is None:
        return UNCLEAR if command.said else "" if command.is_hidden else NO_RESULT
    if not command.ok:
        return FAILED
    if command.covered_by:
        return f"failed; {clip(command.covered_by, LONGEST_COVER)} passed since"
    return "" if command.is_hidden else PASSED


def _is_slip(lines: list[str], errors: tuple[str, ...] = _SLIPS) -> bool:
    """Whether this was a typing error or the wrong folder: then no work has failed."""
    return any(within(errors, line) for line in lines)


def _fail(record: Record, key: str, command: Command, place: Place) -> None:
    """Record a failure. It replaces earlier failures of the same run and their fixes; a fix of
    another error stays."""
    still = runs.parts(key)
    if any(_NOT_BUILT in line for line in command.said):  # any test that runs closes it
        still = [one.replace("go test ", "go test -c ", 1) for one in still]
    edited: list[str] = []
    verdict = by = ""
    first: Place | None = None
    kept: list[Failure] = []
    for old in record.failures:
        if old.fixed and old.lines[:1] != command.said[:1]:
            kept.append(old)
        elif _all_covered(old.left, still) or (old.fixed and _all_covered(still, old.left)):
            edited = edited if old.fixed else old.edited
            if old.fixed is None and (first is None or old.since.op < first.op):
                first = old.since
            if old.lines == command.said:
                verdict, by = old.verdict, old.verdict_by
        else:
            kept.append(old)
    made = Failure(key, command.said, place, edited=edited, left=still, first=first)
    made.verdict, made.verdict_by = verdict, by
    record.failures = [*kept, made]
    if len(record.failures) > MOST_FAILURES:
        fixed = [one for one in record.failures if one.fixed]
        tried = [one for one in record.failures if is_one_off(one)]
        record.failures.remove((fixed or tried or record.failures)[0])


def find_fixed(record: Record) -> list[Failure]:
    """Return the failures that were fixed and, as far as is known, still pass."""
    still = [runs.parts(one.command) for one in record.failures if one.fixed is None]
    return [
        one
        for one in record.failures
        if one.fixed
        and one.closed_by
        and not any(_all_covered(one.left, by) or _all_covered(by, one.left) for by in still)
    ]


def _all_covered(failed: list[str], by: list[str]) -> bool:
    return all(any(runs.covers(one, part) for one in by) for part in failed)


def is_one_off(failure: Failure) -> bool:
    """Whether this was only tried: neither a test nor a build, so it may never run again. A script
    that was edited since is expected to run again."""
    if _is_elsewhere(failure):
        return True
    first = next(iter(failure.left), failure.command)
    words = shell.settings_of(first.rpartition("&& ")[2])[1]
    edited = {path.rpartition("/")[2] for path in failure.edited}
    if any(word.rpartition("/")[2] in edited for word in words[:2]):
        return False
    is_tried = not runs.kind(failure.command) or " ".join(words).startswith(_TRIED)
    return is_tried or _is_not_begun(failure)


def _is_elsewhere(failure: Failure) -> bool:
    return failure.command.removeprefix("cd ").startswith((*shell.ELSEWHERE, "/tmp "))


def _is_not_begun(failure: Failure) -> bool:
    return any(within(_NOT_BEGUN, line) or line.startswith(_SHELLS) for line in failure.lines)


def may_run_again(record: Record, failure: Failure) -> bool:
    """Whether a command that is neither test nor build is a check of this work, and not only tried:
    a script of the project by its path, or a command that ran more than once or last. Not if it
    worked elsewhere or could not begin."""
    if _is_elsewhere(failure) or _is_not_begun(failure):
        return False
    command = record.commands.get(failure.command)
    newest = max((one.op for one in record.commands.values()), default=0)
    is_again = command is not None and command.count > 1
    return is_again or failure.place.op >= newest or _runs_script(failure)


def _runs_script(failure: Failure) -> bool:
    first = next(iter(failure.left), failure.command).rpartition("&& ")[2]
    return any(map(shell.is_file, shell.settings_of(first)[1][:2]))


def verdict_of(failure: Failure, most: int = LONGEST_VERDICT) -> str:
    """Return why it is no failure of this work, and who says so."""
    words = clip(failure.verdict, most)
    return (
        f"the {failure.verdict_by} said: {quoted(words)}" if failure.verdict_by and words else words
    )


def note_pass(record: Record, key: str, place: Place, output: str = "") -> None:
    """Record that a run passed, and close the failures that it covers. `output` is that of a
    test run."""
    if not record.failures:
        return
    by = runs.parts(key)
    for failure in record.failures:
        if failure.fixed is not None:
            continue
        failure.left = [part for part in failure.left if not _all_covered([part], by)]
        is_over = not failure.left or (output and _names_passed(failure, output, by))
        if is_over or _is_same_act(failure.command, key):
            _mend(record, failure, key, place)
        elif record.commands[key].kind:
            failure.passes += 1


def _is_same_act(failed: str, passed: str) -> bool:
    """Whether both lines are neither test nor build and do the same: the same programs with the
    same verbs, such as `git add` and `git commit`, with another list of files or another
    message."""
    if failed == passed or runs.kind(failed) or runs.kind(passed):
        return False
    return _acts(failed) == _acts(passed) != []


def _acts(line: str) -> list[list[str]]:
    """Return the program and verb of each part of a line; empty if one part has none."""
    acts = []
    for part in line.split(" && "):
        words = [word for word in shell.settings_of(part)[1] if word != "\\"]
        verb = 2 if words[:1] and words[0] in _WITH_A_WORD_BEFORE else 1
        if not words[verb:] or not all(map(runs.is_bare, words[verb : verb + 1])):
            return []
        acts.append(words[: verb + 1])
    return acts


def _mend(record: Record, failure: Failure, key: str, place: Place) -> None:
    is_hidden = record.commands[key].is_hidden  # no failure was seen, and no success either
    failure.fixed, failure.closed_by = place, "" if is_hidden else key
    failure.fix = _named_in(failure, failure.edited)[-MOST_FIXES:]
    failure.edited, failure.edited_since = [], []
    failure.left = runs.parts(failure.command)
    for other, command in record.commands.items():  # so that nothing is both fixed and failing
        if command.ok is False and _all_covered(runs.parts(other), failure.left):
            command.ok, command.is_hidden = True, is_hidden
            command.covered_by = "" if other == key else key


def note_edit(record: Record, name: str) -> None:
    """Note in every open failure that a file was edited after it."""
    for failure in record.failures:
        if failure.fixed is None and name and name not in failure.edited_since:
            failure.edited_since = [*failure.edited_since, name][-MOST_EDITED:]


def edited_since(failure: Failure) -> list[str]:
    """Return the files that the last run was about, by name or folder, and that were edited after
    it: whether it still fails is unknown."""
    named = _named_in(failure, failure.edited_since)
    folders = tuple(f"{one.removesuffix('/...')}/" for one in runs.targets(failure.command))
    return [
        path
        for path in failure.edited_since
        if path in named or (path.startswith(folders) and not path.endswith(files.PROSE))
    ]


def _named_in(failure: Failure, paths: list[str]) -> list[str]:
    """Return the edited files that the failure names: in full, or by their names within a path or
    an identifier. A plain word in a sentence names no file."""
    output = "\n".join(failure.lines)
    known = [_parts(word) for word in failure.command.split()]
    known += [_parts(word) for word in output.split() if _is_name(word.strip(".,:;()'\"`"))]
    return [path for path in paths if path.rpartition("/")[2] in output or _is_among(path, known)]


def _is_name(word: str) -> bool:
    """Whether this is a path, or an identifier of several parts that is not the kind of error."""
    if word.endswith(("Error", "Exception")):
        return False
    return any(mark in word for mark in "/._") or len(_PART.pattern.findall(word)) > 1


def _parts(word: str) -> list[str]:
    """Split a name: `tests/test_tideTable.py` gives tests, test, tide, table and py."""
    return [part.lower() for part in _PART.pattern.findall(word)]


def _stem(path: str) -> list[str]:
    name = path.rpartition("/")[2].partition(".")[0]
    return [part for part in _parts(name) if part not in ("test", "tests", "spec")]


def _is_among(path: str, known: list[list[str]]) -> bool:
    """Whether one of these words holds all parts of the file's name, one after the other."""
    stem = _stem(path)
    size = len(stem)
    for parts in known if stem else ():
        if stem[0] in parts:
            for at in range(len(parts)):
                if stem == parts[at : at + size]:
                    return True
    return False


def _names_passed(failure: Failure, output: str, by: list[str]) -> bool:
    """Whether each test that failed by name passed by name, or was selected by the run that passed.
    If the failed run stopped at its first failure, more of it may fail."""
    failed = [line for line in failure.lines if line.startswith((_GO_FAILED, "FAILED "))]
    if not failed or len(failure.lines) >= MOST_LINES or runs.stops_early(failure.command):
        return False
    names = [line.removeprefix(_GO_FAILED).removeprefix("FAILED ").split()[:1] for line in failed]
    if within(_NAMED, output):
        return all(
            name and (f"--- PASS: {name[0]} " in output or f"{name[0]} PASSED" in output)
            for name in names
        )
    return all(name and any(runs.runs_test(one, name[0]) for one in by) for name in names)
