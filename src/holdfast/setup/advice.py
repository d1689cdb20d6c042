"""What a user should know about an install besides the lines that change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from holdfast.setup import receipts
from holdfast.setup.changes import InstallChange
from holdfast.setup.install_parts import InstallPart, OwnFile, ServerPart
from holdfast.setup.installs import find_installs, find_others, plugin_in, silenced
from holdfast.setup.json_text import read
from holdfast.setup.receipts import our_packages
from holdfast.setup.settings_text import installed_commands, settings_in, status_command_in
from holdfast.setup.targets import Target, settings_file
from holdfast.setup.wiring import ENTRY, is_ours, wrapped_in

TAKE_OUT = "remove them by hand if nobody needs them"


def install_notes(
    target: Target, home: Path, ours: Path, wanted: Sequence[bytes | None]
) -> tuple[str, ...]:
    """Notes on an install. `wanted` is the planned content of each of the target's files."""
    project = target.project or Path.cwd()
    return (
        *_foreign_files(target, wanted),
        *(f"{one.words}; {TAKE_OUT}" for one in find_others(home, project, our_packages(ours))),
        *silenced(project),
        *(known_elsewhere(ours, but=target.anchor) if target.project is None else ()),
        *_shared_file(target),
        *_hidden_status_line(target, home, project),
    )


def wrapping_notes(target: Target, edits: Sequence[InstallChange]) -> Iterator[str]:
    for edit in edits:
        if edit.path == target.anchor and edit.after is not None:
            command = status_command_in(read(edit.after.decode()))
            if wrapped_in(command):
                yield "your own status line still runs; ours is shown after it"


def uninstall_notes(left: Iterable[tuple[InstallPart, bytes | None]]) -> tuple[str, ...]:
    notes = list[str]()
    for part, data in left:
        if data is None:
            continue
        if isinstance(part, OwnFile):
            notes.append(f"{part.path} is not as we wrote it, so it was left alone")
        elif ENTRY.encode() in data:
            notes.append(f"{part.path} still names {ENTRY} in a line that is not ours as written")
    return tuple(notes)


def installed_elsewhere(
    target: Target, home: Path, project: Path, packages: Collection[str]
) -> Iterator[str]:
    """Other places of install, for a user who uninstalls where nothing is installed."""
    for other in find_installs(home, project, packages):
        if other.scope == "plugin" or other.path.resolve() != target.anchor.resolve():
            yield f"it is installed in {other.scope} scope: {other.path}"
    for one in find_others(home, project, packages):
        yield f"{one.words}; {TAKE_OUT}"


def _foreign_files(target: Target, wanted: Sequence[bytes | None]) -> Iterator[str]:
    for part, data in zip(target.parts, wanted, strict=True):
        if isinstance(part, OwnFile) and part.is_foreign(data):
            yield f"{part.path} is someone else's file, so it was left alone"
        if isinstance(part, ServerPart) and part.wanted and part.is_foreign(data):
            yield f"{part.path} has another MCP server named holdfast, so it was left alone"


def known_elsewhere(ours: Path, *, but: Path) -> Iterator[str]:
    """Installs on this machine that our receipts name and that still exist."""
    packages = our_packages(ours)
    for kept in receipts.load_all(ours):
        if Path(kept.anchor).resolve() == but.resolve():
            continue
        if kept.scope == "plugin" and plugin_in(Path(kept.anchor)).commands:
            yield f"a plugin folder is in {kept.anchor}: where it is enabled, hooks run twice"
        elif kept.project and installed_commands(Path(kept.anchor), packages):
            yield f"also installed in project {kept.project}: hooks run twice there"


def _shared_file(target: Target) -> Iterator[str]:
    if target.scope == "project":
        yield f"{target.anchor} names paths of this machine; if it is shared, use --scope local"
    if target.scope == "local" and target.project is not None and _has_git(target.project):
        # Only a note: what git ignores is the user's choice, and we leave no lines behind.
        folder = target.anchor.parent / "commands" / "holdfast"
        inside = folder.relative_to(target.project).as_posix()
        yield (
            f"{folder} names paths of this machine, and git sees it; to keep it out of commits: "
            f"echo '/{inside}/' >> {target.project}/.git/info/exclude"
        )


def _has_git(project: Path) -> bool:
    """Whether the project is the main folder of a repository, not a worktree or a subfolder."""
    return (project / ".git" / "info").is_dir()


def _hidden_status_line(target: Target, home: Path, project: Path) -> Iterator[str]:
    """A project's status line hides the user's, and so ours."""
    if target.scope != "user":
        return
    for scope in ("local", "project"):
        path = settings_file(scope, home, project)
        command = status_command_in(settings_in(path))
        if path != target.anchor and command is not None and not is_ours(command, target.packages):
            yield f"in {project} the status line of {path} is shown instead of ours"
