"""Installing into Claude Code and leaving again: plan what changes, show it, then do all of it.

Both plans rest on one question per file: how would it look without us? If it is byte for byte as we
left it, that is the backup; else our share is taken out by position, and what others did stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.client.install import changes, wiring
from holdfast.client.install import receipt as receipts
from holdfast.client.install.changes import Change
from holdfast.client.install.errors import AlreadyInstalledElsewhere, InstallError, SettingsReadOnly
from holdfast.client.install.found import Install, find_installs
from holdfast.client.install.notes import install_notes, uninstall_notes, wrapping_notes
from holdfast.client.install.parts import UNKNOWN, Before, Part
from holdfast.client.install.receipt import Receipt
from holdfast.client.install.scopes import Target
from holdfast.client.install.settings_seen import installed_commands

__all__ = [
    "Install",
    "Plan",
    "apply",
    "find_installs",
    "installed_commands",
    "plan_install",
    "plan_uninstall",
]


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes in the order they are made, folders to drop after, and what else to say. `left` says
    which files could not be left, and why: what else is ours goes all the same."""

    changes: tuple[Change, ...]
    folders: tuple[Path, ...]
    notes: tuple[str, ...]
    left: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        return not self.changes

    @property
    def shown(self) -> list[Change]:
        """The changes outside our own folder."""
        return [change for change in self.changes if not change.private]

    @property
    def backups(self) -> list[tuple[Path, Path]]:
        """Whole copies of other people's files, newly kept: whose, and where. Of a file that the
        client rewrites all the time only our own entry's place is kept, which is no copy."""
        kept = [one for one in self.changes if one.after and one.path.suffix == ".bak"]
        return [
            (edit.path, copy.path)
            for copy in kept
            for edit in self.shown
            if edit.before == copy.after
        ]


@dataclass(frozen=True, slots=True)
class _Share:
    """One file: as it is, as it would be without us, as it shall be."""

    part: Part
    now: bytes | None
    without: bytes | None
    wanted: bytes | None

    @property
    def change(self) -> Change:
        return Change(self.part.path, self.now, self.wanted)


def plan_install(target: Target, home: Path, ours: Path, *, force: bool = False) -> Plan:
    """What installing here would change; refuses what it could not do or should not."""
    old = receipts.load(ours, target.anchor)
    shares = [_joined(_look(part, old)) for part in target.parts]
    edits = [share.change for share in shares if not share.change.is_none]
    notes = install_notes(target, home, ours, [share.now for share in shares])
    if not edits:
        return _plan([], (), notes)
    if not force:
        _refuse_second_place(target, home)
    for edit in edits:
        changes.check_writable(edit.path)
    # The receipt comes first: if we die in between, leaving still knows what it needs.
    kept = receipts.keep(ours, _receipt(target, shares, old))
    return _plan([*kept, *edits], (), (*notes, *wrapping_notes(target, edits)))


def plan_uninstall(target: Target, home: Path, ours: Path) -> Plan:
    """What leaving this place would change; nothing where we are not."""
    old = receipts.load(ours, target.anchor)
    shares, stuck = list[_Share](), dict[Path, str]()
    for part in target.parts:
        try:
            shares.append(_leaving(part, old))
        except InstallError as slip:
            if _may_hold_us(part, old):
                stuck[part.path] = str(slip)
    edits = [share.change for share in shares if not share.change.is_none]
    forgotten = receipts.drop(ours, target.anchor, but=stuck)
    notes = uninstall_notes((share.part, share.wanted) for share in shares)
    plan = _plan([*edits, *forgotten], _our_folders(target, old, edits), notes)
    return replace(plan, left=tuple(stuck.values()))


def apply(plan: Plan) -> None:
    """Make the planned changes, all or none."""
    changes.apply(plan.changes)
    changes.remove_empty(plan.folders)


def _plan(every: list[Change], folders: tuple[Path, ...], notes: tuple[str, ...]) -> Plan:
    return Plan(tuple(change for change in every if not change.is_none), folders, notes)


def _look(part: Part, old: Receipt | None) -> _Share:
    try:
        now = part.read()
    except OSError as slip:
        raise SettingsReadOnly(f"{part.path} cannot be read: {slip.strerror}") from slip
    return _Share(part, now, _without_us(part, now, old), now)


def _leaving(part: Part, old: Receipt | None) -> _Share:
    share = _look(part, old)
    share = replace(share, wanted=share.without)
    if not share.change.is_none:
        changes.check_writable(part.path)
    return share


def _may_hold_us(part: Part, old: Receipt | None) -> bool:
    """Of a file that cannot be understood: we wrote in it, or it names us, or nobody can say."""
    if old is not None and old.record_of(part.path):
        return True
    try:
        return wiring.OUR_FILES in (changes.bytes_of(part.path) or b"")
    except OSError:
        return True


def _without_us(part: Part, now: bytes | None, old: Receipt | None) -> bytes | None:
    record = old.record_of(part.path) if old else None
    if record is None:
        return part.leave(now, UNKNOWN)
    if now is not None and receipts.sha256(now) == record.left_sha256:
        return record.before
    return part.leave(now, Before(known=True, data=record.before))


def _joined(share: _Share) -> _Share:
    if share.part.is_joined(share.now, share.without):
        return share
    return replace(share, wanted=share.part.join(share.without))


def _our_folders(target: Target, old: Receipt | None, edits: list[Change]) -> tuple[Path, ...]:
    """The folders we made; without a receipt, all that our own files stood in."""
    if old is not None:
        return tuple(Path(folder) for folder in old.folders)
    gone = [edit.path for edit in edits if edit.after is None]
    above = {folder for path in gone for folder in path.parents}
    return tuple(folder for folder in above if target.anchor.parent in folder.parents)


def _refuse_second_place(target: Target, home: Path) -> None:
    for other in find_installs(home, target.project or Path.cwd()):
        if target.scope == "plugin" and other.scope == "plugin":
            continue  # the folder may be the very one that is installed
        # A plugin may be known only from the very file that we would write.
        if other.scope == "plugin" or other.path.resolve() != target.anchor.resolve():
            raise AlreadyInstalledElsewhere(
                f"already installed in {other.scope} scope: {other.path}", hint=_way_out(other)
            )


def _way_out(other: Install) -> str:
    if other.scope == "plugin":
        return (
            "`claude plugin uninstall` it first (or set it to false in enabledPlugins), "
            "or say --force; both would run every hook twice"
        )
    return f"`holdfast uninstall --scope {other.scope}` first, or say --force"


def _receipt(target: Target, shares: list[_Share], old: Receipt | None) -> Receipt:
    folders = {str(f) for share in shares for f in changes.missing_folders(share.part.path)}
    return Receipt(
        scope=target.scope,
        anchor=str(target.anchor),
        project=str(target.project or ""),
        folders=tuple(sorted(folders.union(old.folders if old else ()))),
        files=tuple(
            receipts.record(
                target.anchor,
                share.part.path,
                *share.part.remembered(share.without, share.wanted),
            )
            for share in shares
            if share.wanted != share.without
        ),
    )
