"""Split a shell line as far as it helps: what it does, and which files it names."""

import re
from functools import lru_cache
from itertools import pairwise

from holdfast.redact.finding import REDACTED
from holdfast.text.sentences import Lazy, clip, within

LONGEST_LINE = 4000
KNOWN_LINES = 256  # split lately: each is used five times, and most are run again
MOST_WRITTEN = 60
_QUOTED = Lazy(r"[\"']([^\"'\n]{1,200}\.\w{1,8})[\"']")
_CUT = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|&&|\|\||[;|\n]")
_AROUND = "\"'`,;()<>[]{}|*“”"
_BEHIND = f".{_AROUND}"  # a sentence may end in a path
# On macOS `/tmp` and `/var` are links into `/private`.
_TEMPORARY = ("/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/")
ELSEWHERE = (*_TEMPORARY, "/dev/", "/proc/")
_NO_FILE = ("http", "//", *ELSEWHERE)
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@~[]()")
_REDACTED = Lazy(r"\[redacted: [^\]]{1,40}\]")
_INTO = Lazy(r">>? *([^\s&|;<>()]+)")
_IN_QUOTES = Lazy(r"'[^']*'|\"[^\"]*\"")
_WRITES = (">", "tee ", " -i", "git ", "<<")
# An inline script that changes files. A name followed by a closing bracket is only read.
_SCRIPT_WRITES = (".write_text(", ".write(", "writeFileSync(", ".writelines(")
_IN_SCRIPT = Lazy(r"(open\()?[\"']((?:[\w.-]+/)+[\w.-]+\.\w{1,8}|/[\w./-]+\.\w{1,8})[\"'](\))?")
_BRANCH = Lazy(
    r"git\s+(?:checkout|switch)\s+(?:-[bBcC]\s+)?([\w./][\w./-]{2,})"
    r"|git\s+push\s+(?:-\S+\s+)*\w+\s+([\w./][\w./-]{2,})"
)
# Programs that only look or copy: nobody needs to run them again.
LOOKING_WORDS = (
    "ls cat head tail grep egrep fgrep rg ag find fd echo printf cd pwd wc sort uniq sed awk "
    "cut tr tee xargs mkdir rmdir rm cp mv ln chmod touch which type sleep true false test [ "
    "export source . set for do done while if then else fi kill pkill ps tree stat file date "
    "diff less more basename dirname realpath env wait exit column jq nl seq read : pushd popd "
    "du df id whoami sqlite3-help xxd od timeout time"
)
LOOKING = frozenset(LOOKING_WORDS.split())
_GIT_LOOKING_WORDS = (
    "status diff log add commit show branch push pull stash fetch rev-parse checkout switch "
    "restore reset remote config ls-files blame rm mv tag merge rebase cherry-pick"
)
_GIT_LOOKING = frozenset(("", *_GIT_LOOKING_WORDS.split()))
# Settings that change how a run looks or where it finds things, not what it runs on.
_NOISE_WORDS = (
    "CI TZ LANG LANGUAGE LC_ALL LC_CTYPE TERM COLUMNS LINES HOME TMPDIR PAGER GIT_PAGER EDITOR "
    "DEBUG VERBOSE LOG_LEVEL RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE "
    "PYTHONWARNINGS NODE_NO_WARNINGS DEBIAN_FRONTEND FORCE_COLOR NO_COLOR CLICOLOR IFS GOFLAGS "
    "VIRTUAL_ENV"
)
_NOISE = frozenset(_NOISE_WORDS.split())
_NOISE_ENDS = ("PATH", "COLOR", "COLOR_FORCE", "SQUELCH_WARNING")
_HIDING = ("|", ";", "\n")
_PROBE_WORDS = "grep egrep fgrep rg ag test [ [[ which type command ls find fd stat diff cmp pgrep"
_PROBES = frozenset(_PROBE_WORDS.split())
_REDIRECTS = frozenset("<>&|")  # they mark words that are no file: `2>&1`
_BEFORE = frozenset({"sudo", "time", "nohup", "env", "command", "exec"})


@lru_cache(KNOWN_LINES)
def parts(line: str) -> tuple[str, ...]:
    """Return the simple commands of a line, without the content of a here-document."""
    line = clip(line, LONGEST_LINE).replace("\\\n", " ")
    if "<<" in line:
        line = line.partition("<<")[0]
    found, start = [], 0
    for cut in _CUT.finditer(line):
        if cut.group()[0] not in "'\"":
            found.append(line[start : cut.start()].strip())
            start = cut.end()
    return tuple(part for part in (*found, line[start:].strip()) if part)


@lru_cache(KNOWN_LINES)
def _simplify(part: str) -> str:
    """Return a simple command without redirections, with the variables that make it a different
    run; empty if it only looks at something."""
    if part.endswith(")") and part.count("(") < part.count(")"):
        part = part[:-1]  # the end of a subshell
    words = part.lstrip("( ").split()
    if ">" in part or "<" in part or "&" in part:
        words = _without_redirections(words)
    settings: list[str] = []
    while words and (words[0] in _BEFORE or "=" in words[0].partition("/")[0]):
        settings += filter(_matters, words[:1])
        del words[0]
    if len(words) > 2 and words[0] in ("timeout", "gtimeout"):
        del words[:2]
    if not words or _looks(words[0]) or not words[0][0].isalnum() | (words[0][0] in "./~"):
        return ""
    if words[0] == "git":
        return "" if _git_verb(words) in _GIT_LOOKING else " ".join(words)
    return " ".join([*settings, *words])


def _looks(program: str) -> bool:
    """Whether a program only looks or copies. `./test` is a script of the project."""
    folder, _, name = program.rpartition("/")
    return name in LOOKING and (name != "test" or folder in ("", "/bin", "/usr/bin"))


def _git_verb(words: list[str]) -> str:
    """Return the verb of a git command: `git -C quay status` is a status."""
    told = (word for by, word in pairwise(words) if by not in ("-C", "-c"))
    return next((word for word in told if word[0] != "-"), "")


def git_verbs(line: str) -> list[str]:
    """Return the verbs of the git commands in a line."""
    found = []
    for part in parts(line) if "git" in line else ():
        words = part.lstrip("( ").split()
        while words and (words[0] in _BEFORE or "=" in words[0]):
            del words[0]
        found += [_git_verb(words)] if words[:1] == ["git"] else []
    return found


def hides_work(line: str) -> bool:
    """Whether the exit code of a line does not show how its work went: the work is piped, or
    something else runs after it in any case."""
    if not within(_HIDING, line):
        return False
    bare = clip(line, LONGEST_LINE).replace("\\\n", " ").partition("<<")[0].rstrip("; \n")
    begun, start = False, 0
    for cut in _CUT.finditer(bare):
        if cut.group()[0] not in "'\"":
            begun = begun or bool(_simplify(bare[start : cut.start()].strip()))
            start = cut.end()
            if begun and _hides(cut.group(), bare):
                return True
    return False


def first_line(line: str) -> str:
    """Return the first line of a script: the whole is in the transcript."""
    first, _, rest = line.strip().partition("\n")
    return f"{first} … ({rest.count(chr(10)) + 2} lines)" if rest else first


def ends_looking(line: str) -> bool:
    """Whether a line ends with a program that searches: to find nothing is a valid answer."""
    last = parts(line)[-1:]
    return bool(last) and last[0].lstrip("!( ").partition(" ")[0].rpartition("/")[2] in _PROBES


def _hides(mark: str, line: str) -> bool:
    if mark == "|":
        return "pipefail" not in line and "PIPESTATUS" not in line
    return mark == "||" or (mark in ";\n" and "set -e" not in line)


def _matters(word: str) -> bool:
    """Whether a variable makes a command a different run: `DB=postgres` does, `CI=1` does not."""
    name, sign, value = word.partition("=")
    named = name.isidentifier() and name not in _NOISE and not name.endswith(_NOISE_ENDS)
    return bool(sign) and named and "$(" not in value and "`" not in value


def settings_of(command: str) -> tuple[list[str], list[str]]:
    """Return the variables before a simple command, and its own words."""
    if REDACTED in command:  # a placeholder is one word
        command = _REDACTED.pattern.sub("[redacted]", command)
    words = command.split()
    count = 0
    for word in words:
        name, sign, _ = word.partition("=")
        if not sign or not name.isidentifier():
            break
        count += 1
    return words[:count], words[count:]


def _without_redirections(words: list[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        bare = word.lstrip("012")
        aside = bare[:1] in ("<", ">") or word == "&"
        if not aside and not skip:
            kept.append(word)
        skip = aside and bare.strip("<>") == "" and word != "&"  # its file is the next word
    return kept


def core(line: str) -> str:
    """Return what a line does, without pipes for its output: lines with the same core are the same
    command."""
    return clip(" && ".join(filter(None, map(_simplify, parts(line)))), 400)


def find_removed(line: str) -> list[str]:
    """Return the files and folders that a line removes."""
    found: list[str] = []
    line = line.partition("||")[0]  # what follows may not have run
    for part in parts(line) if "rm " in line else ():
        words = part.removeprefix("git ").split()
        if words and words[0] == "rm" and "--cached" not in words:
            found += [word.strip("'\"") for word in words[1:] if not word.startswith("-")]
    return found


def find_written(line: str) -> list[str]:
    """Return the files that a line writes: by redirection, by editing in place, by git (staged or
    restored), or in a script that writes."""
    if not within(_WRITES, line):
        return []
    bare = _IN_QUOTES.pattern.sub(" ", line[:LONGEST_LINE].partition("\n")[0])
    found = _INTO.pattern.findall(bare)
    looped: list[str] = []
    for part in parts(line):
        words = [word.strip("'\"") for word in part.split()]
        if words[0] == "for":
            looped = words[3:]
        elif _writes(words[1:] if words[0] == "do" else words):
            found += [*words, *looped]
    script = line[:LONGEST_LINE].partition("<<")[2]
    if within(_SCRIPT_WRITES, script):
        named = _IN_SCRIPT.pattern.findall(script)
        found += [name for opens, name, closes in named if not (opens and closes)]
    return [name for name in dict.fromkeys(found) if is_file(name)][:MOST_WRITTEN]


def _writes(words: list[str]) -> bool:
    """Whether a command changes the files among its words."""
    if words[:1] == ["git"]:
        return words[1:2] in (["add"], ["restore"]) or (
            words[1:2] == ["checkout"] and not {"--", "--theirs", "--ours"}.isdisjoint(words)
        )
    in_place = words[:1] in (["sed"], ["perl"]) and any(word[:2] == "-i" for word in words)
    return in_place or words[:1] == ["tee"]


def find_moved(line: str) -> list[tuple[str, str]]:
    """Return (from, to) for everything that a line renames; several files moved to a folder are
    listed one by one."""
    found: list[tuple[str, str]] = []
    for part in parts(line) if "mv " in line else ():
        words = part.removeprefix("git ").split()
        words = [word for word in words if not _REDIRECTS & set(word)]
        names = [word.strip("'\"") for word in words[1:] if not word.startswith("-")]
        if words and words[0] == "mv" and len(names) > 1:
            *old, new = names
            is_folder = len(old) > 1 or new.endswith("/") or _is_folder(new, old[0])
            into = new.rstrip("/")
            found += [(one, f"{into}/{_last(one)}" if is_folder else new) for one in old]
    return found


def _is_folder(new: str, old: str) -> bool:
    """Whether the target is a folder: a file with an ending keeps one, so a name without is a
    folder."""
    return "." in _last(old) and "." not in _last(new)


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def enters(line: str) -> str:
    """Return the folder that a line enters before it does anything; empty if it stays."""
    start = line.find("cd ", 0, LONGEST_LINE)
    if start < 0 or line[:start].rstrip("( ")[-2:] not in ("", "&&", ";") or core(line[:start]):
        return ""
    first = line[start + 3 :]
    for end in ("&&", ";", "\n", ")"):
        first = first.partition(end)[0]
    return first.strip().strip("'\"")


def files(line: str) -> list[str]:
    """Return the paths that a line names, without those in a here-document."""
    line = line[:LONGEST_LINE].partition("<<")[0]
    found = find_paths(line)
    if '"' in line or "'" in line:
        found += [name for name in _QUOTED.pattern.findall(line) if "/" in name and " " in name]
    return list(dict.fromkeys(found))


def find_paths(text: str) -> list[str]:
    """Return the words of a text that look like the path of a file. A regular expression took ten
    times as long."""
    found: dict[str, None] = {}
    words = [word[: word.find(":") + 1] or word for word in text.split() if "." in word]
    for word in dict.fromkeys(words):  # `quay.py:1:` and `quay.py:2:` are one
        word = word.lstrip(_AROUND).rstrip(_BEHIND)
        name = word.partition(":")[0].rpartition("=")[2]
        if name not in found and is_file(name):
            found[name] = None
    return list(found)


def is_file(name: str) -> bool:
    """Whether a name ends in a dot and a short ending that begins with a letter, and is no
    address."""
    stem, dot, ending = name.rpartition(".")
    if not dot or not 0 < len(ending) <= 8 or not ending.isalnum() or ending[0].isdigit():
        return False
    if not stem or len(name) > 200 or name[0] in "-$*{" or name.startswith(_NO_FILE):
        return False
    if stem[-1] == "." or "..." in name or ".." in name.lstrip("./"):  # `main..HEAD`
        return False
    return _PLAIN.issuperset(name) or not name.isascii()


def branches(line: str) -> list[str]:
    if "git checkout" not in line and "git switch" not in line and "git push" not in line:
        return []
    found = [name for pair in _BRANCH.pattern.findall(line[:LONGEST_LINE]) for name in pair]
    other = ("", "main", "master", "HEAD", "origin")
    return [name for name in found if name not in other and not is_file(name)]
