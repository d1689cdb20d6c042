"""What the session did with git: commits, pushes and pull requests, by its own commands.

A line is looked at when it is called, for a message in a here-document may be longer than what is
kept of it. What git printed decides; a quiet commit is believed unless its command failed.
"""

from holdfast.record import files, names, shell
from holdfast.record.model import Record
from holdfast.text.sentences import Lazy, clip, within

SUBJECT_CHARS = 120
SHOWN_CHARS = 20_000  # of what a command printed
MOST_SINCE = 60
LONGEST_LINE = 20_000
COMMIT, AMEND, PUSH, CREATE, MERGE = "commit", "amend", "push", "create", "merge"
_VERB = Lazy(
    r"(?:^|[;&|(\n])[ \t]*(?:(?!echo |printf )[\w./-]+ +)?"  # a wrapper such as `sudo`
    r"(?:git(?:\s+-[cC]\s+\S+)*\s+(commit|push)|gh\s+pr\s+(create|merge))\b([^\n;&|]*)"
)
_QUOTED = Lazy(r"\s-\w*m\s*[\"'](?!\$\(cat)([^\n\"]{1,200})")
_HERE = Lazy(r"<<-?\s*[\"']?\w+[\"']?[^\n]*\n\s*([^\n]{1,200})")
_NUMBER = Lazy(r"\b\d{1,6}\b")
_IDLE = (" --dry-run ", " --delete ", " --help ", " --auto ")
_REFUSED = ("nothing to commit", "no changes added", "nothing added to commit", "Aborting commit")
_WRONG = ("fatal:", "error:", "[rejected]", "[remote rejected]", "failed to ", "not mergeable")
_REQUEST = Lazy(r"/(?:pull|merge_requests)/(\d{1,6})\b")


def called(line: str) -> list[str]:
    """What a shell line does with git: verbs, each with what identifies it."""
    if ("git " not in line and "gh " not in line) or _is_trial(line):
        return []
    found: list[str] = []
    for match in _VERB.pattern.finditer(line[:LONGEST_LINE]):
        git, gh, rest = match.groups("")
        if within(_IDLE, f" {rest} "):
            continue
        told = ""
        if git == COMMIT:
            told = _subject(line[match.start(3) :])
        elif gh == MERGE and (number := _NUMBER.pattern.search(rest)):
            told = number[0]
        verb = AMEND if git == COMMIT and "--amend" in rest else git or gh
        found.append(clip(f"{verb} {told}", SUBJECT_CHARS))
    return found[:8]


def _is_trial(line: str) -> bool:
    """In a repository made to try something out, or in a temporary folder."""
    return "git init" in line or shell.enters(line).startswith((*files.ELSEWHERE, "/tmp", "$"))


def _subject(rest: str) -> str:
    """The first line of the message, in quotes or in a here-document."""
    given = rest.partition("\n")[0]
    found = _QUOTED.pattern.search(given)
    if found is None and "<<" in given:
        found = _HERE.pattern.match(rest[given.find("<<") :])
    return found[1].strip().rstrip("'\"") if found else ""


def done(record: Record, verbs: list[str], text: str, *, failed: bool) -> None:
    """These were carried out, as far as what was printed tells."""
    text, work = text[:SHOWN_CHARS], record.git
    wrong = failed or within(_WRONG, text)
    for one in verbs:
        verb, _, told = one.partition(" ")
        if verb in (COMMIT, AMEND):
            _committed(record, one, text, failed=failed)
        elif verb == PUSH and not wrong:
            work.pushed = work.commits
        elif verb == CREATE and not failed and (found := _REQUEST.pattern.search(text)):
            work.request, work.merged, work.pushed = f"#{found[1]}", False, work.commits
        elif verb == MERGE and not wrong:
            work.request, work.merged = (f"#{told}" if told else work.request), True


def commit_in(line: str) -> tuple[str, str, str] | None:
    """Branch, commit and subject of what git says of a commit it made: `[main 1a2b3c4] subject`."""
    where, bracket, subject = line.partition("] ")
    branch, _, commit = where.removeprefix("[").rpartition(" ")
    is_made = line.startswith("[") and bracket and names.is_commit(commit)
    return (branch, commit, subject) if is_made else None


def _committed(record: Record, one: str, text: str, *, failed: bool) -> None:
    work = record.git
    verb, _, subject = one.partition(" ")
    found = [made for line in text.splitlines() if (made := commit_in(line))]
    if not found and (failed or within(_REFUSED, text)):
        return
    _, commit, shown = found[-1] if found else ("", _told(subject, text), subject)
    if verb == COMMIT or not work.commits:
        work.commits += 1
    elif work.pushed == work.commits:
        work.pushed = -1  # what was pushed is another commit
    subject = clip(shown, SUBJECT_CHARS) or work.subject
    work.commit, work.subject, work.since = commit, subject, []


def _told(subject: str, text: str) -> str:
    """The hash before the subject, as `git log --oneline` prints it."""
    for line in text.splitlines() if subject else ():
        commit, _, told = line.strip().partition(" ")
        if told.endswith(subject[:50]) or told.startswith(subject[:50]):
            return commit if names.is_commit(commit) else ""
    return ""


def changed(record: Record, name: str) -> None:
    """A file was changed since the last commit."""
    if name and name not in record.git.since:
        record.git.since = [*record.git.since, name][-MOST_SINCE:]
