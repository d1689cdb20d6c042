"""Instruction files of a session, and which of them Claude Code loads again after a compaction.

Seen with 2.1.325: files loaded at the start (managed, user, every folder down to the session's,
local, rules without `paths`, their imports) are loaded again. Files loaded because another file
was read (CLAUDE.md of folders below, rules with `paths`) are not: of all files read, five come
back. A CLAUDE.md in Claude Code's own folder for a project is never loaded. So a brief repeats the
rules marked (ENFORCED) or (CRITICAL) of files that do not come back.

`@path` imports: up to four levels deep, each file once; not in code, fences or comments; a word
that starts with `@`, up to a blank (unless a backslash precedes it), without its `#part`. Files
outside the session's folder are imported only by the user's own files, unless the user allowed it.

`paths:` in the front matter of a rule names the files that load it when they are read. Patterns
work as in a `.gitignore`, without regard to case; they are a list, one line with commas, or use
braces. A rule with `**` alone, an empty value or no `paths` is loaded at the start.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from holdfast.client import claude_folder
from holdfast.client.claude_folder import config_folder
from holdfast.client.memory_folder import slug
from holdfast.wire import places

MANAGED = ("/etc/claude-code", "/Library/Application Support/ClaudeCode")
NAMES = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
SKIPPED_FOLDERS = frozenset(("node_modules", "site-packages", "vendor", "target", "build", "dist"))
MAX_WALKED = 5_000
MAX_RULE_FILES = 200
MAX_FOLDERS = 60
MAX_STATE_BYTES = 16 << 20
MARKS = ("(ENFORCED)", "(CRITICAL)")
MAX_RULES, MAX_RULE_CHARS = 12, 300
MAX_IMPORT_DEPTH = 4
MAX_FILES = 100
MAX_BYTES = 256 << 10
_FENCES = ("```", "~~~")
# Compiled when needed: most files import nothing, and a hook reads them.
_IMPORT = r"(?:^|(?<=\s))@((?:\\ |[^\s\\])+)"
FRONT_MATTER = "---"
MAX_HEAD_LINES = 60
MAX_PATTERNS = 40
MAX_PATTERN_PARTS = 40


class InstructionFile(NamedTuple):
    """One instruction file. `when` is empty if it is loaded at the start, and so comes back."""

    path: str
    kind: str  # managed, user, project, local, rule, import, folder, unloaded
    text: str
    when: str = ""  # which files load it when they are read; such a file does not come back
    by: str = ""  # the file that imports it


def find_loaded_at_start(project: str, environ: Mapping[str, str]) -> Iterator[InstructionFile]:
    """Files that are in every request of the session, before and after a compaction."""
    home = environ.get("HOME", "")
    within = "" if _allows_outside_imports(project, environ) else project
    for folder in MANAGED:
        yield from _with_imports(f"{folder}/CLAUDE.md", "managed", "", home)
    own = config_folder(environ)
    yield from _with_imports(f"{own}/CLAUDE.md", "user", "", home)
    yield from _read_rules_at_start(f"{own}/rules", "", home)
    for folder in _folders_above(project):
        for name in NAMES[:2]:
            yield from _with_imports(f"{folder}/{name}", "project", within, home)
        yield from _read_rules_at_start(f"{folder}/.claude/rules", within, home)
        yield from _with_imports(f"{folder}/CLAUDE.local.md", "local", within, home)


def find_loaded_by(
    project: str, files: Iterable[str], environ: Mapping[str, str]
) -> Iterator[InstructionFile]:
    """Files loaded because `files` were read (paths relative to the project, newest first)."""
    home = environ.get("HOME", "")
    wanted = [file for file in files if file and file[0] not in "/~" and not file.startswith("../")]
    for rule, patterns in _scoped_rules(project, environ):
        if any(matches(patterns, file) for file in wanted):
            yield rule
    for inner in _folders_of(wanted):
        place = f"{project}/{inner}"
        for name in NAMES:
            for one in _with_imports(f"{place}/{name}", "folder", project, home):
                yield one._replace(when=f"files in {inner}/")
        for path, text, patterns in _read_rules(f"{place}/.claude/rules"):
            relative = [one.removeprefix(f"{inner}/") for one in wanted]
            if not patterns or any(matches(patterns, one) for one in relative):
                yield InstructionFile(path, "rule", text, f"files in {inner}/")


def find_unloaded(project: str, environ: Mapping[str, str]) -> Iterator[InstructionFile]:
    """A CLAUDE.md that users put into Claude Code's folder for a project, which is never loaded."""
    path = f"{config_folder(environ)}/projects/{slug(project)}/CLAUDE.md"
    if text := read(path):
        yield InstructionFile(path, "unloaded", text, "never")


def find_below(project: str, environ: Mapping[str, str]) -> Iterator[InstructionFile]:
    """Instruction files of all folders below the project. Too slow for hooks."""
    home = environ.get("HOME", "")
    for place, inner, _ in islice(os.walk(project), MAX_WALKED):
        inner[:] = sorted(one for one in inner if one[0] != "." and one not in SKIPPED_FOLDERS)
        folder = os.path.relpath(place, project)
        for name in NAMES if folder != "." else ():
            for one in _with_imports(f"{place}/{name}", "folder", project, home):
                yield one._replace(when=f"files in {folder}/")
        for path, text, patterns in _read_rules(f"{place}/.claude/rules") if folder != "." else ():
            yield InstructionFile(path, "rule", text, ", ".join(patterns) or f"files in {folder}/")


def find_scoped_rules(project: str, environ: Mapping[str, str]) -> Iterator[InstructionFile]:
    """Every rule with `paths`, whatever was read."""
    yield from (rule for rule, _ in _scoped_rules(project, environ))


def _scoped_rules(
    project: str, environ: Mapping[str, str]
) -> Iterator[tuple[InstructionFile, tuple[str, ...]]]:
    for folder in (f"{project}/.claude/rules", f"{config_folder(environ)}/rules"):
        for path, text, patterns in _read_rules(folder):
            if patterns:
                when = f"paths: {', '.join(patterns)}"
                yield InstructionFile(path, "rule", text, when), patterns


def read_excludes(project: str, environ: Mapping[str, str]) -> list[str]:
    """`claudeMdExcludes` of the settings files: patterns of paths that are not loaded."""
    found: list[str] = []
    for _, settings in claude_folder.read_by_file(project, environ):
        given = settings.get("claudeMdExcludes")
        found += [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
    return found


def is_excluded(path: str, patterns: Sequence[str]) -> bool:
    return matches([pattern for pattern in patterns if "/" in pattern], path.lstrip("/"))


def _allows_outside_imports(project: str, environ: Mapping[str, str]) -> bool:
    import json

    folder = environ.get("CLAUDE_CONFIG_DIR") or environ.get("HOME", "")
    try:
        known = json.loads(places.read_small(f"{folder}/.claude.json", MAX_STATE_BYTES) or b"{}")
        return known["projects"][project]["hasClaudeMdExternalIncludesApproved"] is True
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


def _with_imports(path: str, kind: str, within: str, home: str) -> Iterator[InstructionFile]:
    text = read(path)
    if not text:
        return
    yield InstructionFile(path, kind, text)
    if "@" in text:
        for file, inner in follow_imports(path, text, within, home):
            yield InstructionFile(file, "import", inner, by=path)


def _read_rules_at_start(folder: str, within: str, home: str) -> Iterator[InstructionFile]:
    for path, text, patterns in _read_rules(folder):
        if patterns:
            found = follow_imports(path, text, within, home)  # these are loaded at the start
            yield from (InstructionFile(file, "import", inner, by=path) for file, inner in found)
        else:
            yield from _with_imports(path, "rule", within, home)


def _read_rules(folder: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(file, text, patterns) of every rule under a folder; links are skipped."""
    for path in _list_markdown(folder, 0):
        text = read(path)
        if text:
            yield path, text, parse_paths(text)


def _list_markdown(folder: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except (OSError, ValueError):  # a path from a transcript may hold a NUL
        return
    for one in found[:MAX_RULE_FILES]:
        if one.name.endswith(".md") and one.is_file(follow_symlinks=False):
            yield one.path
        elif depth < 4 and one.is_dir(follow_symlinks=False):
            yield from _list_markdown(one.path, depth + 1)


def _folders_above(project: str) -> list[str]:
    """From the root of the file system to the session's folder."""
    parts = [part for part in project.split("/") if part]
    return ["", *("/" + "/".join(parts[: n + 1]) for n in range(len(parts)))]


def _folders_of(files: Iterable[str]) -> list[str]:
    """The folders below the project that hold these files, each once, outer before inner."""
    found: dict[str, None] = {}
    for file in files:
        parts = file.split("/")[:-1]
        for n in range(len(parts)):
            found["/".join(parts[: n + 1])] = None
        if len(found) >= MAX_FOLDERS:
            break
    return list(found)[:MAX_FOLDERS]


class MarkedRule(NamedTuple):
    path: str
    line: int
    text: str


def collect_marked_rules(project: str, files: Iterable[str] = ()) -> list[str]:
    """Marked rules that a brief repeats if it has room. `files` were read, newest first."""
    if not project:
        return []
    sources = find_forgotten(project, files, os.environ)
    found = [one for source in sources for one in find_marked(source)]
    excludes = read_excludes(project, os.environ) if found else []
    kept = [one for one in found if not is_excluded(one.path, excludes)]
    return list(dict.fromkeys(one.text[:MAX_RULE_CHARS] for one in kept))[:MAX_RULES]


def find_forgotten(
    project: str, files: Iterable[str], environ: Mapping[str, str]
) -> Iterator[InstructionFile]:
    """Files that are not loaded after a compaction though they applied, or should have, before."""
    yield from find_unloaded(project, environ)
    yield from find_loaded_by(project, files, environ)


def find_marked(source: InstructionFile) -> list[MarkedRule]:
    """The marked lines, without their list bullets."""
    if not any(mark in source.text for mark in MARKS):
        return []
    return [
        MarkedRule(source.path, number, line.strip().lstrip("-*# "))
        for number, line in enumerate(source.text.splitlines(), start=1)
        if any(mark in line for mark in MARKS)
    ]


def read(path: str) -> str:
    return places.read_small(path, MAX_BYTES).decode("utf-8", "replace")


def find_imports(text: str) -> list[str]:
    if "@" not in text:
        return []
    found = [
        one.replace("\\ ", " ").partition("#")[0] for one in re.findall(_IMPORT, _strip_code(text))
    ]
    return [one for one in found if one]


def _strip_code(text: str) -> str:
    """The text without comments, fenced blocks and code. Line by line, so that it is never slow."""
    lines: list[str] = []
    fence = ""
    for line in _without_comments(text).split("\n"):
        mark = line.lstrip()[:3]
        if fence:
            fence = "" if mark == fence else fence
        elif mark in _FENCES:
            fence = mark
        else:
            lines.append(_without_code(line))
    return "\n".join(lines)


def _without_comments(text: str) -> str:
    parts = text.split("<!--")
    return " ".join([parts[0], *(part.partition("-->")[2] for part in parts[1:])])


def _without_code(line: str) -> str:
    """The line without `code`. A single backtick does not start any."""
    parts = re.split("`+", line)
    outside = parts[0::2] if len(parts) % 2 else [*parts[0:-1:2], parts[-1]]
    return " ` ".join(outside)


def follow_imports(path: str, text: str, within: str, home: str) -> Iterator[tuple[str, str]]:
    """(file, its text) of each import, in order; all inside of `within`, unless that is empty."""
    seen = {os.path.realpath(path)}
    yield from _follow(path, text, within, home, seen, 1)


def _follow(
    path: str, text: str, within: str, home: str, seen: set[str], step: int
) -> Iterator[tuple[str, str]]:
    for given in find_imports(text) if step <= MAX_IMPORT_DEPTH else ():
        real = os.path.realpath(_resolve(given, path, home))
        outside = within and not f"{real}/".startswith(f"{os.path.realpath(within)}/")
        if real in seen or outside or len(seen) > MAX_FILES or not os.path.isfile(real):
            continue
        seen.add(real)
        inner = read(real)
        yield real, inner
        yield from _follow(real, inner, within, home, seen, step + 1)


def _resolve(given: str, path: str, home: str) -> str:
    if given.startswith("~/"):
        return f"{home}/{given[2:]}"
    return os.path.join(os.path.dirname(path), given)


def parse_paths(text: str) -> tuple[str, ...]:
    """The patterns in `paths:`; empty for a rule that always applies."""
    lines = text.removeprefix("\ufeff").split("\n", MAX_HEAD_LINES)
    if lines[0].strip() != FRONT_MATTER:
        return ()
    found: list[str] = []
    inside = False
    for line in lines[1:]:
        if line.strip() == FRONT_MATTER:
            break
        key, colon, value = line.partition(":")
        if colon and not line[:1].isspace() and not line.lstrip().startswith("-"):
            inside = key.strip() == "paths"
            found += _split_values(value) if inside else []
        elif inside and line.lstrip().startswith("-"):
            found += _split_values(line.lstrip()[1:])
    patterns = [brace for given in found for brace in _expand_braces(given)]
    return () if any(pattern == "**" for pattern in patterns) else tuple(patterns[:MAX_PATTERNS])


def matches(patterns: Sequence[str], path: str) -> bool:
    """Whether a pattern matches this path, which is relative to the rule's folder."""
    parts = path.lower().split("/")
    return any(_matches_pattern(pattern.lower(), parts) for pattern in patterns)


def _split_values(value: str) -> list[str]:
    """One value, or several separated by commas outside of braces."""
    text = value.strip().removeprefix("[").removesuffix("]")
    parts = re.findall(r"(?:[^,{]|\{[^}]*\}?)+", text)
    return [part.strip().strip("\"'") for part in parts if part.strip().strip("\"'")]


def _expand_braces(pattern: str) -> list[str]:
    """Expand `a.{x,y}` to `a.x` and `a.y`. Only one pair of braces: more are rare."""
    before, opening, rest = pattern.partition("{")
    inner, closing, after = rest.partition("}")
    if not opening or not closing:
        return [pattern]
    return [f"{before}{one.strip()}{after}" for one in inner.split(",")[:20]]


def _matches_pattern(pattern: str, parts: Sequence[str]) -> bool:
    """As in git: relative with a slash, else at any depth; a folder means all in it."""
    if pattern.startswith(("!", "./", "../")):
        return False
    wanted = pattern.strip("/").split("/")[:MAX_PATTERN_PARTS]
    if "/" not in pattern.rstrip("/"):
        wanted.insert(0, "**")
    return match_parts(wanted, parts, inside=True)


def match_parts(wanted: Sequence[str], parts: Sequence[str], *, inside: bool = False) -> bool:
    """Whether a path matches a pattern, or with `inside` a folder above it, in linear time."""
    from fnmatch import fnmatchcase  # only where there is such a rule

    at = _skip_stars({0}, wanted)
    for part in parts:
        if inside and len(wanted) in at:
            return True
        stay = {n for n in at if wanted[n : n + 1] == ["**"]}
        at -= {*stay, len(wanted)}
        at = _skip_stars(stay | {n + 1 for n in at if fnmatchcase(part, wanted[n])}, wanted)
    return len(wanted) in at


def _skip_stars(at: set[int], wanted: Sequence[str]) -> set[int]:
    found = set(at)
    for n in sorted(at):
        while n < len(wanted) and wanted[n] == "**":
            n += 1
            found.add(n)
    return found
