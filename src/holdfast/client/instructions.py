"""The files that instruct a session, as the client finds them, and which come back by themselves.

Seen with 2.1.325: what is loaded at the start (managed, user, all folders down to the session's,
local, rules without `paths`, their imports) is loaded again at a compaction. What is loaded because
a file was read (CLAUDE.md of folders below, rules with `paths`) is not: of all files read, five
come back. And nobody loads a CLAUDE.md in the client's own folder for a project.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from holdfast.client import instruction_imports, limit_settings, rule_paths
from holdfast.client.memory_folder import config, slug
from holdfast.wire import places

MANAGED = ("/etc/claude-code", "/Library/Application Support/ClaudeCode")
NAMES = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
PASSED_BY = frozenset(("node_modules", "site-packages", "vendor", "target", "build", "dist"))
MOST_WALKED = 5_000
MOST_RULE_FILES = 200
MOST_FOLDERS = 60
MOST_STATE_BYTES = 16 << 20


class Source(NamedTuple):
    """One instruction file. `when` is empty where it is loaded at the start, and comes back."""

    path: str
    kind: str  # managed, user, project, local, rule, import, folder, unloaded
    text: str
    when: str = ""  # reading what loads it; it does not come back
    by: str = ""  # the file that imports it


def at_start(project: str, environ: Mapping[str, str]) -> Iterator[Source]:
    """What every request of the session holds, before and after a compaction."""
    home = environ.get("HOME", "")
    within = "" if _agreed(project, environ) else project
    for folder in MANAGED:
        yield from _with_imports(f"{folder}/CLAUDE.md", "managed", "", home)
    own = config(environ)
    yield from _with_imports(f"{own}/CLAUDE.md", "user", "", home)
    yield from _always(f"{own}/rules", "", home)
    for folder in _down_to(project):
        for name in NAMES[:2]:
            yield from _with_imports(f"{folder}/{name}", "project", within, home)
        yield from _always(f"{folder}/.claude/rules", within, home)
        yield from _with_imports(f"{folder}/CLAUDE.local.md", "local", within, home)


def when_read(project: str, files: Iterable[str], environ: Mapping[str, str]) -> Iterator[Source]:
    """What was loaded because these files were read (seen from the project, the newest first)."""
    home = environ.get("HOME", "")
    wanted = [one for one in files if one and one[0] not in "/~" and not one.startswith("../")]
    for folder in (f"{project}/.claude/rules", f"{config(environ)}/rules"):
        for path, text, patterns in _rules(folder):
            hit = next(
                (one for one in wanted if patterns and rule_paths.matches(patterns, one)), ""
            )
            if hit:
                yield Source(path, "rule", text, f"paths: {', '.join(patterns)}")
    for inner in _folders_of(wanted):
        place = f"{project}/{inner}"
        for name in NAMES:
            for one in _with_imports(f"{place}/{name}", "folder", project, home):
                yield one._replace(when=f"files in {inner}/")
        for path, text, patterns in _rules(f"{place}/.claude/rules"):
            below = [one.removeprefix(f"{inner}/") for one in wanted]
            if not patterns or any(rule_paths.matches(patterns, one) for one in below):
                yield Source(path, "rule", text, f"files in {inner}/")


def unloaded(project: str, environ: Mapping[str, str]) -> Iterator[Source]:
    """A place where notes of a project are kept by hand, and which the client never reads."""
    path = f"{config(environ)}/projects/{slug(project)}/CLAUDE.md"
    if text := instruction_imports.read(path):
        yield Source(path, "unloaded", text, "never")


def below(project: str, environ: Mapping[str, str]) -> Iterator[Source]:
    """What some file of the project would load: those of all folders below it. Not for hooks."""
    home = environ.get("HOME", "")
    for place, inner, _ in islice(os.walk(project), MOST_WALKED):
        inner[:] = sorted(one for one in inner if one[0] != "." and one not in PASSED_BY)
        folder = os.path.relpath(place, project)
        for name in NAMES if folder != "." else ():
            for one in _with_imports(f"{place}/{name}", "folder", project, home):
                yield one._replace(when=f"files in {folder}/")
        for path, text, patterns in _rules(f"{place}/.claude/rules") if folder != "." else ():
            yield Source(path, "rule", text, ", ".join(patterns) or f"files in {folder}/")


def scoped_rules(project: str, environ: Mapping[str, str]) -> Iterator[Source]:
    """Every rule that is bound to paths, whatever was read."""
    for folder in (f"{project}/.claude/rules", f"{config(environ)}/rules"):
        for path, text, patterns in _rules(folder):
            if patterns:
                yield Source(path, "rule", text, f"paths: {', '.join(patterns)}")


def excluded(project: str, environ: Mapping[str, str]) -> list[str]:
    """`claudeMdExcludes` of the settings files: patterns of whole paths nobody loads."""
    found: list[str] = []
    for settings in limit_settings.settings_given(project, environ):
        given = settings.get("claudeMdExcludes")
        found += [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
    return found


def is_excluded(path: str, patterns: Sequence[str]) -> bool:
    return rule_paths.matches([one for one in patterns if "/" in one], path.lstrip("/"))


def _agreed(project: str, environ: Mapping[str, str]) -> bool:
    """Whether the user has let this project import files from elsewhere."""
    import json

    folder = environ.get("CLAUDE_CONFIG_DIR") or environ.get("HOME", "")
    try:
        known = json.loads(places.read_small(f"{folder}/.claude.json", MOST_STATE_BYTES) or b"{}")
        return known["projects"][project]["hasClaudeMdExternalIncludesApproved"] is True
    except (ValueError, LookupError, TypeError, RecursionError):
        return False


def _with_imports(path: str, kind: str, within: str, home: str) -> Iterator[Source]:
    text = instruction_imports.read(path)
    if not text:
        return
    yield Source(path, kind, text)
    if "@" in text:
        for file, inner in instruction_imports.followed(path, text, within, home):
            yield Source(file, "import", inner, by=path)


def _always(folder: str, within: str, home: str) -> Iterator[Source]:
    for path, text, patterns in _rules(folder):
        if patterns:
            found = instruction_imports.followed(
                path, text, within, home
            )  # these are loaded at the start
            yield from (Source(file, "import", inner, by=path) for file, inner in found)
        else:
            yield from _with_imports(path, "rule", within, home)


def _rules(folder: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(file, text, patterns) of every rule under a folder; a link is passed by."""
    for path in _markdown(folder, 0):
        text = instruction_imports.read(path)
        if text:
            yield path, text, rule_paths.scope(text)


def _markdown(folder: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda one: one.name)
    except (OSError, ValueError):  # a path from a transcript may hold a NUL
        return
    for one in found[:MOST_RULE_FILES]:
        if one.name.endswith(".md") and one.is_file(follow_symlinks=False):
            yield one.path
        elif depth < 4 and one.is_dir(follow_symlinks=False):
            yield from _markdown(one.path, depth + 1)


def _down_to(project: str) -> list[str]:
    """From the root of the file system to the session's folder."""
    parts = [part for part in project.split("/") if part]
    return ["", *("/" + "/".join(parts[: n + 1]) for n in range(len(parts)))]


def _folders_of(files: Iterable[str]) -> list[str]:
    """The folders below the project these files lie in, each once, outer before inner."""
    found: dict[str, None] = {}
    for file in files:
        parts = file.split("/")[:-1]
        for n in range(len(parts)):
            found["/".join(parts[: n + 1])] = None
        if len(found) >= MOST_FOLDERS:
            break
    return list(found)[:MOST_FOLDERS]
