"""Git, quoted: what it printed last in the session, and what it said before a compaction.

Nothing is derived from it. What is committed or pushed, git knows: its newest answers are shown as
printed, with their step, and the edits since are counted.
"""

import re

from holdfast.record import shell
from holdfast.record.model import Commit, GitAnswer, GitLog, Place, PrintedCommit, Record
from holdfast.redact.find import redact
from holdfast.text.fence import both_ends, code, flat, plain_name, quoted
from holdfast.text.numbers import counted
from holdfast.text.sentences import clip, head_and_tail

QUOTED = ("status", "commit", "push")
COMMAND_CHARS, PRINTED_CHARS, HEAD_CHARS, LINE_CHARS = 400, 600, 200, 160
SHOWN_CHARS = 120  # of a command
SUBJECT_CHARS, BRANCH_CHARS = 100, 200
MINUTE = len("2026-11-19T08:15")
SECONDS = 0.3
MOST_COMMITS, MOST_SHOWN, MOST_MADE = 30, 5, 60  # git is asked for; shown; of the session
# No field is empty, so that only a new commit follows two NULs.
_FORMAT = "--format=%x00%x00c%h%x00%cd%x00d%D%x00s%s"
# `[main de4b411] Move the warning`
_COMMITTED = re.compile(r"(?m)^\[[^\]\n]*?\b([0-9a-f]{7,40})\] (.+)$")
# `-m "Move the warning"`, `-m "$(cat <<'EOF'` with the words on the next line
_TYPED = re.compile(r"""-[a-z]*m (?:"\$\(cat <<-?\s*\S+\n\s*(.+)|["']([^"'\n]+))""")
_DATE = "--date=format-local:%Y-%m-%dT%H:%M:%SZ"


def note_answer(record: Record, line: str, text: str, place: Place, *, failed: bool) -> None:
    """Save both ends of what a command printed, if it ran one of the quoted verbs of git: a status
    begins with the branch, a push ends with its outcome."""
    verbs = shell.git_verbs(line)
    if "commit" in verbs:
        _note_commits(record, line, text, place, failed=failed)
    for verb in verbs:
        if verb in QUOTED:
            text = text.strip("\n")
            if verb == "commit" and (match := _COMMITTED.search(text)):
                text = text[match.start() :]  # above it stands what hooks said
            printed = head_and_tail(text, HEAD_CHARS, PRINTED_CHARS - HEAD_CHARS, "\n[…]\n")
            record.git[verb] = GitAnswer(clip(line, COMMAND_CHARS), printed, place, failed)


def _note_commits(record: Record, line: str, text: str, place: Place, *, failed: bool) -> None:
    """Record the commits that git printed; of one that printed nothing, the words typed for it."""
    typed = None if failed else _TYPED.search(line)
    quiet = [("", typed[1] or typed[2])] if typed else []
    for name, subject in _COMMITTED.findall(text) or quiet:
        commit = PrintedCommit(name, clip(subject, PRINTED_CHARS), place)
        record.commits = [*record.commits, commit][-MOST_MADE:]


def note_edit(record: Record, at: str = "") -> None:
    """Count an edit in every answer before it: all of them, unless its time is given."""
    for answer in (*record.git.values(), record.git_log):
        if answer is not None and (not at or at >= answer.place.at):
            answer.edits += 1


def ask(project: str, record: Record) -> GitLog | None:
    from holdfast.files.git import LOG_SAFE, run_git

    words = [f"-{MOST_COMMITS}", *LOG_SAFE, "--relative", "--name-only", "-z", "--decorate=full"]
    printed = run_git(project, "log", *words, _DATE, _FORMAT, seconds=SECONDS)
    return _read_log(printed.decode("utf-8", "replace"), record) if printed else None


def _read_log(text: str, record: Record) -> GitLog:
    """Read git's answer. Names of files that the session did not use are left out."""
    commits, refs = [], ""
    for part in text.split("\0\0c")[1:]:
        name, at, decoration, subject, *files = part.split("\0")
        refs = refs or decoration[1:]
        known = [file for path in files if (file := path.strip("\n")) in record.files]
        commits.append(Commit(name, at, clip(redact(subject[1:]), SUBJECT_CHARS), known))
    head = next((ref for ref in refs.split(", ") if ref.startswith("HEAD -> ")), "")
    branch = redact(head.removeprefix("HEAD -> ").removeprefix("refs/heads/"))[:BRANCH_CHARS]
    return GitLog(Place(record.offset, record.at, record.op), branch, commits)


def answers(record: Record) -> list[GitAnswer]:
    """Return git's newest answer to each verb, newest first. What a commit printed is in the log
    that is newer, and what was printed before a commit is past."""
    log, commit = record.git_log, record.git.get("commit")
    since = commit.place.op if commit and not commit.failed else 0
    by_call = {  # one call may have several verbs
        answer.place: answer
        for answer in record.git.values()
        if answer.place.op >= since and (answer is not commit or _is_news(commit, log))
    }
    return sorted(by_call.values(), key=lambda answer: answer.place.op, reverse=True)


def describe_branch(record: Record) -> str:
    """Return branch and newest commits as git told them, or the client's branch."""
    if record.git_log is not None:
        return _describe_log(record, record.git_log)
    is_known = record.branch not in ("", "HEAD")
    return f"git: on branch {plain_name(record.branch)}" if is_known else ""


def _is_news(commit: GitAnswer, log: GitLog | None) -> bool:
    return commit.failed or log is None or commit.place.op > log.place.op


def _describe_log(record: Record, log: GitLog) -> str:
    is_now = log.place.op == record.op and not log.edits
    when = "this compaction" if is_now else f"step {log.place.op}, {_edits(log.edits)} since"
    branch = f"on branch {plain_name(log.branch)}" if log.branch else "on no branch"
    commits = (
        f"{commit.id} {quoted(flat(commit.subject, SUBJECT_CHARS))}, "
        f"{commit.at[:MINUTE].replace('T', ' ')}"
        for commit in log.commits[:MOST_SHOWN]
    )
    return f"git (asked at {when}): {branch}; newest commits: {'; '.join(commits)}"


def describe_answer(answer: GitAnswer, when: str, *, is_short: bool) -> str:
    failed = "failed and " if answer.failed else ""
    since = f"{when}, {_edits(answer.edits)} since"
    text = f"{code(answer.command, SHOWN_CHARS)} {failed}printed {since}:"
    lines = [flat(line, LINE_CHARS) for line in answer.printed.splitlines() if line.strip()]
    if is_short and lines:
        return f"{text} {both_ends(' / '.join(lines), LINE_CHARS)}"
    return "\n    ".join([text, *(lines or ["(nothing)"])])


def _edits(count: int) -> str:
    return counted(count, "edit") if count else "no edit"
