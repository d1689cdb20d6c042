"""What the session did with git: commits, pushes and pull requests, by its own commands.

A line is read when it is called, because a message in a here-document may be longer than the part
that is saved. What git printed decides. A commit that printed nothing counts unless its command
failed.
"""

import re
from os.path import normpath

from holdfast.record import files, names, run_output, shell
from holdfast.record.model import Commits, GitWork, Record
from holdfast.text.sentences import Lazy, clip, within

SUBJECT_CHARS = 120
SHOWN_CHARS = 20_000  # of what a command printed
MOST_SINCE = 60
LONGEST_LINE = 20_000
COMMIT, AMEND, PUSH, CREATE, MERGE = "commit", "amend", "push", "create", "merge"
PIPED_PUSH = "push|"  # its exit code is hidden
IN = "in"  # the folder, before the verbs
MOST_BRANCHES = 12
MOST_WORKTREES = 12
NO_BRANCH = "no branch"
_VERB = Lazy(
    r"(?:^|[;&|(\n])[ \t]*(?:(?!echo |printf )[\w./-]+ +)?"  # a wrapper such as `sudo`
    r"(?:git(?:\s+-[cC]\s+\S+)*\s+(commit|push)|gh\s+pr\s+(create|merge))\b([^\n;&|]*)"
)
_QUOTED = Lazy(r"""\s-\w*m\s*(?:"(?!\$\(cat)([^\n"]{1,200})|'([^\n']{1,200}))""")
_HERE = Lazy(r"<<-?\s*[\"']?\w+[\"']?[^\n]*\n\s*([^\n]{1,200})")
_NUMBER = Lazy(r"\b\d{1,6}\b")
_IN_FOLDER = Lazy(r"\bgit(?:\s+-c\s+\S+)*\s+-C\s+(\S+)")
_ADDS_WORKTREE = Lazy(
    r"\bgit(?:\s+-[cC]\s+\S+)*\s+worktree\s+add((?:\s+-[bB]\s+\S+|\s+--?[\w-]+)*)\s+([^\s;&|]+)"
)
_WORKTREES = Lazy(r"^.*?/\.?worktrees/[^/]+")  # where people and the client put worktrees
# `git push -u origin HEAD:fix/ebb`
_TO_BRANCH = Lazy(r"^(?:\s+-\S+)*\s+[\w./@:-]+\s+\+?(?:[\w./-]+:)?([\w./-]+)")
_PUSHED = Lazy(
    r"^[ *+!=-]*(?:\[new branch\]|\[new tag\]|[0-9a-f]{6,40}\.{2,3}[0-9a-f]{6,40}) +\S+ +-> "
    r"|^\S+ -> \S+$|Everything up-to-date|^\W*[Pp]ushed (?:branch )?\S+ to ",
    re.MULTILINE,
)
_RANGE = Lazy(r"^[ +]+[0-9a-f]{6,40}\.{2,3}([0-9a-f]{6,40}) ", re.MULTILINE)
_MADE = ("file changed", "files changed", "create mode")
_IDLE = (" --dry-run ", " --delete ", " --help ", " --auto ")
_STATUS = Lazy(r"git status (?:-s|-sb?|--short|--porcelain)(?: 2>\S+)?\s*")
_CLEAN = ("working tree clean", "nothing added to commit but untracked")
_REFUSED = ("nothing to commit", "no changes added", "nothing added to commit", "Aborting commit")
_WRONG = (
    *("fatal:", "error:", "[rejected]", "[remote rejected]", "failed to ", "not mergeable"),
    *("non-fast-forward", "hint: Updates were rejected", "pre-push hook", "pre-receive hook"),
)
_FAILED_HOOK = ("...Failed", "hook failed", "husky - ")
_REQUEST = Lazy(r"/(?:pull|merge_requests)/(\d{1,6})\b")
_CONFLICT = Lazy(r"^CONFLICT \([^)]+\): (?:Merge conflict in )?(\S+)", re.MULTILINE)
_GIVEN_UP = Lazy(r"\bgit\b[^;&|\n]*\s(?:--abort|--quit|reset\s+--(?:hard|merge))\b")
_GONE_ON = ("Successfully rebased", "All conflicts fixed", "working tree clean")
MOST_CONFLICTS = 40
_IN_REPOSITORY = Lazy(
    r"(?:^|[;&|(\n])[ \t]*git(?:\s+-[cC]\s+\S+)*\s+(?:add|branch|checkout|commit|diff|fetch|init"
    r"|log|merge|pull|push|rebase|reset|restore|show|stash|status|switch|worktree)\b"
)


def note_repository(record: Record, line: str, *, failed: bool) -> None:
    """Record that git worked: then the session is in a repository. One that is told a folder may
    work anywhere."""
    if failed or record.git.is_seen or " -C " in line or "--no-index" in line:
        return
    if _IN_REPOSITORY.pattern.search(line[:LONGEST_LINE]):
        record.git.is_seen = not _is_trial(record, line)


def may_be_in_repository(record: Record) -> bool:
    """Whether files of this session can be committed. The client writes `HEAD` as the branch where
    there is no repository, and also where no branch is checked out: then only a git command that
    worked tells."""
    work = record.git
    return record.branch != "HEAD" or work.is_seen or bool(work.commits or work.others)


def find_verbs(record: Record, line: str) -> list[str]:
    """Return what a shell line does with git: the folder, then verbs, each with what identifies
    it."""
    if ("git " not in line and "gh " not in line) or _is_trial(record, line):
        return []
    found: list[str] = []
    line = line[:LONGEST_LINE]
    _add_worktree(record, line)
    folder = ""
    for match in _VERB.pattern.finditer(line):
        git, gh, rest = match.groups("")
        if within(_IDLE, f" {rest} "):
            continue
        told, verb = "", AMEND if git == COMMIT and "--amend" in rest else git or gh
        if git == COMMIT:
            told = _subject(line[match.start(3) :])
        elif git == PUSH:
            told = named[1] if (named := _TO_BRANCH.pattern.match(rest)) else ""
            verb = PIPED_PUSH if _is_piped(line[match.end(3) :]) else PUSH
        elif gh == MERGE and (number := _NUMBER.pattern.search(rest)):
            told = number[0]
        where = _folder(record, line[: match.start()], match[0])
        if where[:1] == "$":
            continue  # it is not known which folder
        if where != folder:
            folder = where
            found.append(f"{IN} {folder}")
        found.append(clip(f"{verb} {told}", SUBJECT_CHARS))
    return found[:12]


def _add_worktree(record: Record, line: str) -> None:
    if "worktree add" in line and (found := _ADDS_WORKTREE.pattern.search(line)):
        where = _entered(record, line[: found.start()])
        path = _from(where, found[2].strip("'\""))
        if not _is_known(record, path):
            _know_worktree(record, path)


def _is_known(record: Record, folder: str) -> bool:
    return any(f"{folder}/".startswith(f"{one}/") for one in record.git.worktrees)


def _know_worktree(record: Record, folder: str) -> None:
    record.git.worktrees = [*record.git.worktrees, folder][-MOST_WORKTREES:]


def _is_piped(rest: str) -> bool:
    """Whether another program reads the output of this command, which hides its exit code."""
    behind = rest.partition("\n")[0]
    behind = behind.removeprefix("&1").replace("||", ";").partition("&&")[0].partition(";")[0]
    return "|" in behind


def _folder(record: Record, before: str, command: str) -> str:
    """Return the repository or worktree that a command works in, after the commands before it in
    its line."""
    where = _entered(record, before.rstrip("&;|( \n"))
    named = _IN_FOLDER.pattern.search(command)
    where = _from(where, named[1].strip("'\"")) if named else where
    if "worktrees/" in where and not _is_known(record, where) and where not in record.roots:
        _know_worktree(record, where)
    return tree_of(record, where)


def _entered(record: Record, line: str) -> str:
    """Return the folder in which a line ends. A `cd` inside a subshell does not count after it."""
    where, before = record.cwd, record.cwd
    for part in shell.parts(line) if "cd " in line else ():
        if part.startswith("("):
            before, part = where, part.lstrip("( ")
        if part.startswith("cd ") and (path := part[3:].rstrip(") ").strip("'\"")):
            where = _from(where, path)
        if part.endswith(")"):
            where = before
    return where


def _from(where: str, path: str) -> str:
    if path[:2] == "~/" and where.startswith(("/Users/", "/home/")):
        path = "/".join([*where.split("/")[:3], path[2:]])  # the home of the same user
    return normpath(path if path[:1] in "/~$" else f"{where}/{path}")


def tree_of(record: Record, folder: str) -> str:
    """Return the repository or worktree that a folder belongs to, as far as the session shows: a
    worktree, else the shortest of the folders it worked in, even if that is below this one."""
    around = [root for root in record.roots if f"{folder}/".startswith(f"{root}/")]
    if "worktrees/" in folder or record.git.worktrees:
        opened = [root for root in around if "worktrees/" in root]
        for one in (*record.git.worktrees, *opened[:1]):
            if f"{folder}/".startswith(f"{one}/"):
                return one
        if found := _WORKTREES.pattern.match(folder):
            return found[0]
    below = [root for root in record.roots if root.startswith(f"{folder}/")]
    below = [root for root in below if root not in record.git.worktrees]
    return next(iter((*around, *below)), folder)  # the shortest comes first


def _is_trial(record: Record, line: str) -> bool:
    """Whether the line works in a repository made to try something, or in a temporary folder that
    is not the project."""
    entered = shell.enters(line)
    is_ours = entered in record.roots or files.relative(record, entered) != entered
    is_temporary = entered.startswith((*shell.ELSEWHERE, "/tmp", "$"))
    return "git init" in line or (is_temporary and not is_ours)


def _subject(rest: str) -> str:
    """The first line of the message, in quotes or in a here-document."""
    given = rest.partition("\n")[0]
    found = _QUOTED.pattern.search(given)
    if found is None and "<<" in given:
        found = _HERE.pattern.match(rest[given.find("<<") :])
    return next(filter(None, found.groups())).strip().rstrip("'\"") if found else ""


def apply_verbs(record: Record, verbs: list[str], text: str, *, failed: bool) -> None:
    """Record the results of these verbs, as far as the output shows that they were carried out."""
    text, work = text[:SHOWN_CHARS], record.git
    folder = work.folder
    for one in verbs:
        verb, _, told = one.partition(" ")
        if verb == IN:
            folder = told
        elif verb in (COMMIT, AMEND):
            _committed(record, folder, one, text, failed=failed)
        elif verb in (PUSH, PIPED_PUSH):
            wrong = failed or within(_WRONG, text)
            _pushed(record, folder, told, text, wrong=wrong, is_piped=verb == PIPED_PUSH)
        elif work.commits and folder not in ("", work.folder):
            continue  # a pull request of another repository
        elif verb == CREATE and not failed and (found := _REQUEST.pattern.search(text)):
            work.request, work.merged, work.pushed = f"#{found[1]}", False, work.commits
            work.request_op = work.pushed_op = record.op
        elif verb == MERGE and not (failed or within(_WRONG, text)):
            work.request, work.merged = (f"#{told}" if told else work.request), True


def read_output(record: Record, line: str, text: str) -> None:
    """Record what git printed after another command: that nothing is left to commit, or that it
    pushed."""
    asks = line.startswith("git status ") and _STATUS.pattern.fullmatch(line)
    if within(_CLEAN, text) or (asks and _is_clean(text)):
        is_one = line.count("cd ") + line.count(" -C ") < 2
        at = max(0, line.rfind("git "))
        _cleaned(record, _folder(record, line[:at], line[at:]), is_one=is_one)
    if "\nTo " not in f"\n{text}" and "ushed " not in text:
        return
    if _PUSHED.pattern.search(text) and not within(_WRONG, text):
        record.git.pushed, record.git.refused = record.git.commits, ""
        record.git.pushed_op = record.op


def note_conflicts(record: Record, line: str, text: str, *, failed: bool) -> None:
    """Record that a merge, rebase or stash stopped at conflicts, or that it was aborted or
    finished."""
    if failed and (found := _CONFLICT.pattern.findall(text[:SHOWN_CHARS])):
        record.git.conflicts = list(dict.fromkeys(found))[:MOST_CONFLICTS]
    elif record.git.conflicts and not failed:
        text = text[:SHOWN_CHARS]
        is_over = within(_GONE_ON, text) or any(map(commit_in, text.splitlines()))
        if is_over or _GIVEN_UP.pattern.search(line):
            record.git.conflicts = []


def conflict_words(work: GitWork, most: int) -> str:
    """Return where a merge or a rebase stopped; empty if none did."""
    if not work.conflicts:
        return ""
    rest = f" and {len(work.conflicts) - most} more" if len(work.conflicts) > most else ""
    return f"stopped by conflicts in {', '.join(work.conflicts[:most])}{rest}"


def _cleaned(record: Record, folder: str, *, is_one: bool) -> None:
    """Record that nothing is left to commit in this repository. If the line looks at several, it is
    not known which one is meant."""
    work = record.git
    if not is_one:
        return
    elsewhere = [name for name in work.since if not _is_in(record, folder, name)]
    _keep(work, elsewhere)
    if folder in ("", work.folder) or not work.commits:
        work.clean_op, work.at = record.op, record.at
        work.refused = "" if work.refused == COMMIT else work.refused


def _keep(work: GitWork, names: list[str]) -> None:
    work.since = names
    work.trees = {name: tree for name, tree in work.trees.items() if name in names}


def _is_clean(text: str) -> bool:
    """Whether the short status lists only untracked files."""
    return all(row.startswith("??") for row in text.splitlines() if row.strip(" ()"))


def _pushed(
    record: Record, folder: str, branch: str, text: str, *, wrong: bool, is_piped: bool
) -> None:
    work = record.git
    shown = bool(_PUSHED.pattern.search(text)) or not text.strip()
    if wrong or (is_piped and not shown and "(no output)" not in text[:80].lower()):
        work.refused = PUSH
        return
    work.refused, work.pushed_op = "" if work.refused == PUSH else work.refused, record.op
    if work.branch in ("", "HEAD") and folder == work.folder:
        work.branch = branch
    if folder == work.folder and branch in ("", "HEAD", work.branch):
        work.pushed = work.commits
        _head(record, text)
    elif other := work.others.get(key(folder, branch or record.branch)):
        other.pushed = other.commits
    elif not work.others and folder == work.folder:
        work.pushed = work.commits


def _head(record: Record, text: str) -> None:
    """Correct the last commit: what was pushed last may be a commit that something else made or
    amended."""
    work = record.git
    if (found := _RANGE.pattern.search(text)) and work.commit[:6] != found[1][:6]:
        work.commit, work.subject = found[1], ""


def commit_in(line: str) -> tuple[str, str, str] | None:
    """Return branch, commit and subject from git's report of a new commit: `[main 1a2b3c4]
    subject`."""
    if not line.startswith("["):
        return None
    where, bracket, subject = line[1:].partition("] ")
    branch, _, commit = where.rpartition(" ")
    return (branch, commit, subject) if bracket and names.is_commit(commit) else None


def _committed(record: Record, folder: str, one: str, text: str, *, failed: bool) -> None:
    work = record.git
    verb, _, subject = one.partition(" ")
    found = [made for line in text.splitlines() if (made := commit_in(line))]
    if not found and within(_REFUSED, text):
        if within(_CLEAN, text):  # something else, perhaps a hook, has committed it
            _cleaned(record, folder, is_one=True)
        return
    logged = _find_commit(subject, text)
    if not found and (failed or not (logged or within(_MADE, text) or _is_silent(text))):
        work.refused = COMMIT
        return
    branch, commit, shown = found[-1] if found else (record.branch, logged, subject)
    branch = NO_BRANCH if branch == "detached HEAD" else branch.partition(" (")[0]
    _enter(record, folder, branch or work.branch)
    if verb == COMMIT or not work.commits:
        work.commits += 1
    elif work.pushed == work.commits:
        work.pushed = -1  # the pushed commit was amended
    work.commit, work.subject = commit, clip(shown, SUBJECT_CHARS) or work.subject
    work.op, work.refused, work.at, work.conflicts = record.op, "", record.at, []
    _keep(work, [name for name in work.since if not _is_in(record, folder, name)])


def _is_silent(text: str) -> bool:
    """Whether the output shows no failure, for example of a hook."""
    return not within(_FAILED_HOOK, text) and run_output.is_silent(text)


def _enter(record: Record, folder: str, branch: str) -> None:
    """Make this the branch of the next commit. What is known of the last branch or repository is
    set aside."""
    work = record.git
    if (work.folder, work.branch) == (folder, branch):
        return
    if work.commits:
        kept = (work.commits, work.commit, work.subject, work.pushed, work.request, work.merged)
        work.others[key(work.folder, work.branch)] = Commits(*kept)
        before = work.others.pop(key(folder, branch), Commits(0, "", "", -1, "", False))
        work.commits, work.commit, work.subject = before.commits, before.commit, before.subject
        work.pushed, work.request, work.merged = before.pushed, before.request, before.merged
        while len(work.others) > MOST_BRANCHES:
            del work.others[next(iter(work.others))]
    work.folder, work.branch = folder, branch


def key(folder: str, branch: str) -> str:
    return f"{folder}\t{branch}"


def _is_in(record: Record, folder: str, name: str) -> bool:
    """Whether a file belongs to this repository or worktree, by where it was changed."""
    if name[0] == "/":
        return name.startswith(f"{folder}/")
    tree = record.git.trees.get(name, record.git.home)
    return folder in ("", tree) if tree else folder in ("", *record.roots)


def _find_commit(subject: str, text: str) -> str:
    """Return the hash before the subject, as `git log --oneline` prints it."""
    for line in text.splitlines() if subject and subject[:50] in text else ():
        commit, _, told = line.strip().partition(" ")
        if told.endswith(subject[:50]) or told.startswith(subject[:50]):
            return commit if names.is_commit(commit) else ""
    return ""


def note_change(record: Record, name: str, folder: str = "") -> None:
    """Record that something working in this folder changed a file since the last commit."""
    work, tree = record.git, tree_of(record, folder or record.cwd)
    work.home = work.home or tree
    if not name:
        return
    if tree != work.home:
        work.trees[name] = tree
    else:
        work.trees.pop(name, None)
    if name not in work.since:
        _keep(work, [*work.since, name][-MOST_SINCE:])


def note_command_change(record: Record, line: str, name: str) -> None:
    """Record that a command changed a file."""
    note_change(record, name, _entered(record, line))
