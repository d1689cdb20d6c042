"""Install into Claude Code and uninstall: plan what changes, show it, then do all of it.

Both plans ask the same question about each file: how would it look without us? If it is byte for
byte as we left it, the answer is the backup. Otherwise our part is removed by position, and what
others changed stays.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.setup import changes, receipts, wiring
from holdfast.setup.changes import InstallChange
from holdfast.setup.errors import InstallError, SettingsReadOnly
from holdfast.setup.install_parts import UNKNOWN, BytesBefore, InstallPart, OwnFile, ServerPart
from holdfast.setup.installs import (
    Install,
    find_installs,
    find_others,
    install_notes,
    uninstall_notes,
    wrapping_notes,
)
from holdfast.setup.receipts import Receipt, our_packages, packages_in
from holdfast.setup.targets import Target


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """Changes in the order they are made, and notes for the user. An uninstall removes `folders`
    once they are empty, and only then our record of them, `forgotten`. `left` names files that our
    part could not be removed from, and why; the rest is removed all the same. `debris` is what a
    killed run left behind: drafts, and a folder for receipts without a receipt."""

    changes: tuple[InstallChange, ...]
    notes: tuple[str, ...]
    folders: tuple[Path, ...] = ()
    forgotten: tuple[InstallChange, ...] = ()
    left: tuple[str, ...] = ()
    debris: tuple[Path, ...] = ()

    @property
    def is_nothing(self) -> bool:
        return not self.changes and not self.forgotten

    @property
    def shown(self) -> list[InstallChange]:
        """The changes outside our own folder."""
        return [change for change in self.changes if not change.private]

    @property
    def backups(self) -> list[tuple[Path, Path]]:
        """New backups of other people's files: the file and its copy. A file that Claude Code
        rewrites all the time has none."""
        kept = [change for change in self.changes if change.after and change.path.suffix == ".bak"]
        return [
            (edit.path, copy.path)
            for copy in kept
            for edit in self.shown
            if edit.before == copy.after
        ]


@dataclass(frozen=True, slots=True)
class _Share:
    """One file: as it is, as it would be without us, and as planned."""

    part: InstallPart
    now: bytes | None
    without: bytes | None
    wanted: bytes | None

    @property
    def change(self) -> InstallChange:
        return InstallChange(self.part.path, self.now, self.wanted)


ANOTHER = "uninstall that one with its own `holdfast`; with --force, every hook runs in both"


def plan_install(target: Target, home: Path, ours: Path, *, force: bool = False) -> InstallPlan:
    """What an install would change. Raises if it cannot or should not be done."""
    old = receipts.load(ours, target.anchor)
    shares = [_with_part_joined(_look(part, old)) for part in target.parts]
    edits = [share.change for share in shares if not share.change.is_none]
    notes = install_notes(target, home, ours, [share.wanted for share in shares])
    debris = _debris(target, ours)
    if not edits:
        return InstallPlan((), notes, debris=debris)
    if not force:
        _refuse_second_place(target, home, ours)
    for edit in edits:
        changes.check_writable(edit.path)
    # The receipt comes first: if we are killed in between, an uninstall still has what it needs.
    kept = receipts.keep(ours, _receipt(target, shares, old))
    notes = (*notes, *wrapping_notes(target, edits))
    return InstallPlan(_real([*kept, *edits]), notes, debris=debris)


def plan_uninstall(target: Target, home: Path, ours: Path) -> InstallPlan:
    """What an uninstall would change; nothing if we are not installed here."""
    old = receipts.load(ours, target.anchor)
    shares, stuck = list[_Share](), dict[Path, str]()
    others = find_installs(home, target.project or Path.cwd(), target.packages)
    beside = {other.path.parent for other in others if other.path != target.anchor}
    for part in target.parts:
        if isinstance(part, OwnFile) and target.anchor.parent in beside:
            continue  # project and local settings share them, and the other is still installed
        try:
            shares.append(_leaving(part, old))
        except InstallError as error:
            if _may_hold_us(part, old):
                stuck[part.path] = str(error)
    edits = [share.change for share in shares if not share.change.is_none]
    forgotten = receipts.drop(ours, target.anchor, but=stuck)
    notes = uninstall_notes((share.part, share.wanted) for share in shares)
    return InstallPlan(
        _real(edits),
        notes,
        _our_folders(target, old, edits),
        _real(forgotten),
        tuple(stuck.values()),
        _debris(target, ours),
    )


def apply(plan: InstallPlan) -> None:
    """Make the planned changes: all or none."""
    clear_debris(plan)
    changes.apply(plan.changes, plan.folders, plan.forgotten)
    if plan.forgotten:
        changes.remove_empty([plan.forgotten[0].path.parent])


def clear_debris(plan: InstallPlan) -> None:
    for left in plan.debris:
        changes.clear(left)


def _real(every: list[InstallChange]) -> tuple[InstallChange, ...]:
    return tuple(change for change in every if not change.is_none)


def _debris(target: Target, ours: Path) -> tuple[Path, ...]:
    folders = dict.fromkeys(part.path.parent for part in target.parts)
    drafts = [draft for folder in folders for draft in changes.left_drafts(folder)]
    return (*drafts, *receipts.left_behind(ours))


def _look(part: InstallPart, old: Receipt | None) -> _Share:
    try:
        now = part.read()
    except OSError as error:
        raise SettingsReadOnly(f"{part.path} cannot be read: {error.strerror}") from error
    return _Share(part, now, _without_us(part, now, old), now)


def _leaving(part: InstallPart, old: Receipt | None) -> _Share:
    share = _look(part, old)
    share = replace(share, wanted=share.without)
    if not share.change.is_none:
        changes.check_writable(part.path)
    return share


def _may_hold_us(part: InstallPart, old: Receipt | None) -> bool:
    """Whether an unreadable file may hold lines of ours. In doubt, true."""
    if old is not None and old.record_of(part.path):
        return True
    try:
        return wiring.OUR_FILES in (changes.bytes_of(part.path) or b"")
    except OSError:
        return True


def _without_us(part: InstallPart, now: bytes | None, old: Receipt | None) -> bytes | None:
    record = old.record_of(part.path) if old else None
    if record is None:
        return part.leave(now, UNKNOWN)
    if now is not None and receipts.sha256(now) == record.left_sha256:
        return record.before
    return part.leave(now, BytesBefore(known=True, data=record.before))


def _with_part_joined(share: _Share) -> _Share:
    if share.part.is_joined(share.now, share.without):
        return share
    return replace(share, wanted=share.part.join(share.without))


def _our_folders(
    target: Target, old: Receipt | None, edits: list[InstallChange]
) -> tuple[Path, ...]:
    """The folders we made; without a receipt, all folders of our own files."""
    if old is not None:
        return tuple(Path(folder) for folder in old.folders)
    return _folders_above(target, [edit.path for edit in edits if edit.after is None])


def _folders_above(target: Target, paths: list[Path]) -> tuple[Path, ...]:
    above = {folder for path in paths for folder in path.parents}
    return tuple(folder for folder in above if target.anchor.parent in folder.parents)


def _refuse_second_place(target: Target, home: Path, ours: Path) -> None:
    project, packages = target.project or Path.cwd(), our_packages(ours)
    for one in find_others(home, project, packages):
        if not one.program.missing:
            raise InstallError(one.words, hint=ANOTHER)
    for other in find_installs(home, project, packages):
        if other.agent is not target.agent:
            continue
        # A plugin may be known only from the file that we would write.
        if other.scope == "plugin" or other.path.resolve() != target.anchor.resolve():
            raise InstallError(
                f"already installed in {other.scope} scope: {other.path}", hint=_way_out(other)
            )


def _way_out(other: Install) -> str:
    if other.scope == "plugin":
        return (
            f"`{other.agent.plugin_command} holdfast` first, or turn the plugin off; "
            "with --force, every hook runs twice"
        )
    return f"`holdfast uninstall --scope {other.scope}` first; with --force, every hook runs twice"


def _receipt(target: Target, shares: list[_Share], old: Receipt | None) -> Receipt:
    made = {f for share in shares for f in changes.missing_folders(share.part.path)}
    if old is None:  # lost, where files of ours are there already
        there = [share.part.path for share in shares if share.now and share.without is None]
        made.update(_folders_above(target, there))
    return Receipt(
        scope=target.scope,
        anchor=str(target.anchor),
        project=str(target.project or ""),
        folders=tuple(sorted({str(folder) for folder in made}.union(old.folders if old else ()))),
        files=tuple(
            receipts.record(target.anchor, share.part.path, *_remembered(share))
            for share in shares
            if share.wanted != share.without
        ),
        packages=_packages(target, shares),
    )


def _remembered(share: _Share) -> tuple[bytes | None, bytes | None]:
    """What the receipt stores: the file without us, and as we left it. Claude Code rewrites the
    file of servers all the time, so of that one neither is stored whole."""
    if isinstance(share.part, ServerPart):
        return share.part.remembered(share.without), None
    return share.without, share.wanted


def _packages(target: Target, shares: list[_Share]) -> tuple[str, ...]:
    """Whose lines are in these files from now on; with those of before, in case we are killed."""
    old = frozenset().union(*(packages_in(share.now) for share in shares)) & target.packages
    return tuple(sorted(old | {wiring.this_program().package}))
