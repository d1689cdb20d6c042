"""Instruction files of a session, and which of them Claude Code loads again after a compaction.

Seen with 2.1.325: files loaded at the start (managed, user, every folder down to the session's,
local, rules without `paths`, their imports) are loaded again. Files loaded because another file
was read (CLAUDE.md of folders below, rules with `paths`) are not: of all files read, five come
back. A CLAUDE.md in Claude Code's own folder for a project is never loaded. So a brief repeats the
rules marked (ENFORCED) or (CRITICAL) of files that do not come back.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from holdfast.client import instruction_syntax, settings_files
from holdfast.client.memory_folder import slug
from holdfast.client.settings_files import config_folder
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
    for folder in (f"{project}/.claude/rules", f"{config_folder(environ)}/rules"):
        for path, text, patterns in _read_rules(folder):
            hit = next(
                (one for one in wanted if patterns and instruction_syntax.matches(patterns, one)),
                "",
            )
            if hit:
                yield InstructionFile(path, "rule", text, f"paths: {', '.join(patterns)}")
    for inner in _folders_of(wanted):
        place = f"{project}/{inner}"
        for name in NAMES:
            for one in _with_imports(f"{place}/{name}", "folder", project, home):
                yield one._replace(when=f"files in {inner}/")
        for path, text, patterns in _read_rules(f"{place}/.claude/rules"):
            relative = [one.removeprefix(f"{inner}/") for one in wanted]
            if not patterns or any(instruction_syntax.matches(patterns, one) for one in relative):
                yield InstructionFile(path, "rule", text, f"files in {inner}/")


def find_unloaded(project: str, environ: Mapping[str, str]) -> Iterator[InstructionFile]:
    """A CLAUDE.md that users put into Claude Code's folder for a project, which is never loaded."""
    path = f"{config_folder(environ)}/projects/{slug(project)}/CLAUDE.md"
    if text := instruction_syntax.read(path):
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
    for folder in (f"{project}/.claude/rules", f"{config_folder(environ)}/rules"):
        for path, text, patterns in _read_rules(folder):
            if patterns:
                yield InstructionFile(path, "rule", text, f"paths: {', '.join(patterns)}")


def read_excludes(project: str, environ: Mapping[str, str]) -> list[str]:
    """`claudeMdExcludes` of the settings files: patterns of paths that are not loaded."""
    found: list[str] = []
    for _, settings in settings_files.read_by_file(project, environ):
        given = settings.get("claudeMdExcludes")
        found += [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
    return found


def is_excluded(path: str, patterns: Sequence[str]) -> bool:
    return instruction_syntax.matches(
        [pattern for pattern in patterns if "/" in pattern], path.lstrip("/")
    )


def _allows_outside_imports(project: str, environ: Mapping[str, str]) -> bool:
    """Whether the user allowed this project to import files from outside of it."""
    import json

    folder = environ.get("CLAUDE_CONFIG_DIR") or environ.get("HOME", "")
    try:
        known = json.loads(places.read_small(f"{folder}/.claude.json", MAX_STATE_BYTES) or b"{}")
        return known["projects"][project]["hasClaudeMdExternalIncludesApproved"] is True
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


def _with_imports(path: str, kind: str, within: str, home: str) -> Iterator[InstructionFile]:
    text = instruction_syntax.read(path)
    if not text:
        return
    yield InstructionFile(path, kind, text)
    if "@" in text:
        for file, inner in instruction_syntax.follow_imports(path, text, within, home):
            yield InstructionFile(file, "import", inner, by=path)


def _read_rules_at_start(folder: str, within: str, home: str) -> Iterator[InstructionFile]:
    for path, text, patterns in _read_rules(folder):
        if patterns:
            found = instruction_syntax.follow_imports(
                path, text, within, home
            )  # these are loaded at the start
            yield from (InstructionFile(file, "import", inner, by=path) for file, inner in found)
        else:
            yield from _with_imports(path, "rule", within, home)


def _read_rules(folder: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(file, text, patterns) of every rule under a folder; links are skipped."""
    for path in _list_markdown(folder, 0):
        text = instruction_syntax.read(path)
        if text:
            yield path, text, instruction_syntax.parse_paths(text)


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


def collect_marked_rules(
    project: str, files: Iterable[str] = (), environ: Mapping[str, str] | None = None
) -> list[str]:
    """Marked rules that a brief repeats if it has room. `files` were read, newest first."""
    if not project:
        return []
    environ = os.environ if environ is None else environ
    found = [
        one for source in find_forgotten(project, files, environ) for one in find_marked(source)
    ]
    excludes = read_excludes(project, environ) if found else []
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
