"""Split a shell line as far as it helps: what it does, and which files it names."""

import re
from functools import lru_cache
from itertools import pairwise
from os.path import normpath

from holdfast.text.sentences import clip

LONGEST_LINE = 4000
KNOWN_LINES = 1024  # split lately: more than a record has commands, as each is looked at again
MOST_WRITTEN = 60
_CUT = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|&&|\|\||[;|\n]")
# On macOS `/tmp` and `/var` are links into `/private`.
_TEMPORARY = ("/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/")
ELSEWHERE = (*_TEMPORARY, "/dev/", "/proc/")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@~[]()")
_INTO = re.compile(r">>? *([^\s&|;<>()]+)")
_IN_QUOTES = re.compile(r"'[^']*'|\"[^\"]*\"")
# Each of these changes the files that follow it; `mv` its last one.
_WRITES = re.compile(r"(?:tee|(?:sed|perl) -\S*i\S*|(?:git )?mv|git (?:restore|checkout))\s")
_ENDING = re.compile(r"\.[A-Za-z]\w*['\"]?$")
_REDIRECTS = frozenset("<>&|")  # they mark words that are no file: `2>&1`
_SETS = re.compile(r"[A-Za-z_]\w*=")
_BEFORE = frozenset({"sudo", "time", "nohup", "env", "command", "exec"})


@lru_cache(KNOWN_LINES)
def _split(line: str) -> tuple[tuple[str, str], ...]:
    """Return each simple command with the sign before it; no content of here-documents."""
    line = clip(line, LONGEST_LINE).replace("\\\n", " ").partition("<<")[0].strip()
    commands, start, sign = [], 0, ""
    for cut in _CUT.finditer(line):
        if cut.group()[0] not in "'\"":
            commands.append((sign, line[start : cut.start()].strip()))
            start, sign = cut.end(), cut.group()
    return tuple(pair for pair in (*commands, (sign, line[start:].strip())) if pair[1])


def parts(line: str) -> list[str]:
    return [part for _, part in _split(line)]


def shows_exit_code(line: str) -> bool:
    """Whether the exit code is that of all commands: no pipe, none that runs anyway."""
    return "<<" not in line and all(sign in ("", "&&") for sign, _ in _split(line))


def simple_commands(line: str) -> list[tuple[list[str], list[str]]]:
    """Return the settings (`DB=test`) and the words of each simple command, without redirections;
    without what only enters a folder, reads from a pipe, or names no program."""
    commands = []
    for sign, part in _split(line):
        words = [word for word in part.strip("() ").split() if not _REDIRECTS & set(word)]
        count = 0
        while count < len(words) and (words[count] in _BEFORE or _SETS.match(words[count])):
            count += 1
        program = words[count].rpartition("/")[2] if words[count:] else ""
        if program and program != "cd" and program[0] != "-" and sign != "|":
            settings = [word for word in words[:count] if word not in _BEFORE]
            commands.append((settings, [program, *words[count + 1 :]]))
    return commands


def git_verbs(line: str) -> list[str]:
    """Return the verbs of the git commands in a line: `git -C quay status` is a status."""
    commands = simple_commands(line) if "git" in line else ()
    told = (
        [word for by, word in pairwise(words) if by not in ("-C", "-c") and word[0] != "-"]
        for _, words in commands
        if words[0] == "git"
    )
    return [verbs[0] for verbs in told if verbs]


def first_line(line: str) -> str:
    """Return the first line of a script: the whole is in the transcript."""
    first, _, rest = line.strip().partition("\n")
    return f"{first} … ({rest.count(chr(10)) + 2} lines)" if rest else first


def find_removed(line: str) -> list[str]:
    files: list[str] = []
    for _, words in simple_commands(line.partition("||")[0]):  # what follows may not have run
        names = [word.strip("'\"") for word in words if word[0] != "-"]
        program, *names = (names[1:] if names[0] == "git" else names) or [""]
        if program == "rm" and "--cached" not in words:
            files += names
        elif program == "mv":
            files += names[:-1]
    return files


def find_written(line: str) -> list[str]:
    """Return the files that a line writes: by `>`, in place, by a move, or by git."""
    bare = _IN_QUOTES.sub(" ", line[:LONGEST_LINE].partition("\n")[0])
    files = _INTO.findall(bare)
    for part in filter(_WRITES.match, parts(line)):
        names = [word.strip("'\"") for word in part.split() if _ENDING.search(word)]
        files += names[-1:] if "mv " in part[:7] else names
    return list(dict.fromkeys(files))[:MOST_WRITTEN]


def folder_of(line: str, cwd: str) -> str:
    """Return the folder that a line works in: the one that it enters before it does anything."""
    first = next(iter(parts(line)), "").lstrip("( ")
    entered = first.removeprefix("cd ").strip(" '\"") if first.startswith("cd ") else ""
    return normpath(entered if entered[:1] in ("/", "~") else f"{cwd}/{entered}")


def is_plain(name: str) -> bool:
    return _PLAIN.issuperset(name) or not name.isascii()
