"""Write a checkpoint completely, verify it, then report it: its final name proves that it is there.

The order is: record that it is ours, draft, flush, read back, rename, flush the folder; then the
snapshot and the index, which can both be made again from the file. If the process is killed at any
point, there is a complete checkpoint or none.
"""

import os
from collections.abc import Iterator
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from holdfast.checkpoint import checkpoint_file, index, snapshot
from holdfast.checkpoint.checkpoint_file import (
    LARGEST_BYTES,
    CheckpointNotSaved,
    Document,
    normalize,
    parse,
    render,
)
from holdfast.checkpoint.index import CheckpointEntry, newest_of
from holdfast.files import atomic, folders, lock
from holdfast.files.atomic import PhantomCheckpoint
from holdfast.files.folders import FolderPlace
from holdfast.wire import places


class SavedCheckpoint(msgspec.Struct, frozen=True):
    id: str
    path: str
    document: Document  # as saved, with its place in the lineage
    content_hash: str
    reused: bool = False  # the same state had been saved before: this is that checkpoint
    why_elsewhere: str = ""  # why it is not in the project
    notes: tuple[str, ...] = ()  # what else went wrong; the checkpoint itself is safe


def keep(document: Document, patience: float = lock.PATIENCE_SECONDS) -> SavedCheckpoint:
    """Save a checkpoint of this state, once; raise CheckpointNotSaved if no place accepts it."""
    document = normalize(replace(document, project=folders.resolve(document.project)))
    with lock.hold(folders.home_folder(document.project), patience):
        known = _window(document)
        result = _twin(document, known) or _write_document(_extend(document, known))
        notes = [*result.notes, *_snapshot_saved(result, document)]
    if not result.reused or result.path not in {row.path for row in index.load_or_empty()}:
        notes += index.refresh(document.project, new=result.path, patience=patience)
    return replace(result, notes=tuple(notes))


def _window(document: Document) -> list[CheckpointEntry]:
    """Return the checkpoints of this window so far. If the home folder cannot record which are
    ours, the session's id is enough: nobody else knows it."""
    ours = index.of_project(document.project) or index.of_project(document.project, foreign=True)
    return [entry for entry in ours if entry.session_id == document.session_id]


def _twin(document: Document, known: list[CheckpointEntry]) -> SavedCheckpoint | None:
    """Return the last checkpoint if it has the same state: PreCompact may fire twice."""
    last = newest_of(known, document.session_id, document.agent_id)
    if last is None or last.state_hash != document.state_hash:
        return None
    from holdfast.checkpoint.verify import verify  # a hook that fires twice is rare

    report = verify(last.path)
    if report.document is None or not report.ok:
        return None
    return SavedCheckpoint(last.id, last.path, report.document, report.content_hash, reused=True)


def _extend(document: Document, entries: list[CheckpointEntry]) -> Document:
    """Continue the count of the window's newest checkpoint; values that the caller set stay."""
    last = newest_of(entries, document.session_id, document.agent_id)
    if last is None:
        return replace(document, iteration=document.iteration or 1)
    return replace(
        document,
        iteration=document.iteration or last.iteration + 1,
        parent=document.parent or last.id,
    )


def _write_document(document: Document) -> SavedCheckpoint:
    """Write into the project, else into our folder, with the reason for each refusal."""
    data = render(document)
    if len(data) > LARGEST_BYTES:
        raise CheckpointNotSaved(f"no checkpoint was saved: {len(data):,} bytes are too many")
    content_hash = parse(data).content_hash
    trouble = index.record_own(content_hash)
    reasons: list[str] = []
    for place in folders.candidates(document.project):
        reasons += [place.why] if place.why else []
        try:
            checkpoint_id = _put(place, document, data)
        except (OSError, ValueError, PhantomCheckpoint) as error:
            reasons.append(f"{place.path}: {getattr(error, 'strerror', '') or error}")
            continue
        path = f"{place.path}/{checkpoint_id}.md"
        if trouble:  # it may have passed; a checkpoint that is not noted is never offered
            trouble = index.record_own(content_hash)
        elsewhere, notes = "; ".join(reasons), (trouble,) if trouble else ()
        return SavedCheckpoint(
            checkpoint_id, path, document, content_hash, why_elsewhere=elsewhere, notes=notes
        )
    raise CheckpointNotSaved("no checkpoint was saved: " + "; ".join(reasons))


def _put(place: FolderPlace, document: Document, data: bytes) -> str:
    with folders.enter(place) as folder:
        atomic.clear_left(folder)
        if place.root != places.home():
            _hide_from_git(folder)
        name = atomic.put_new(folder, data, _free_names(document))
        atomic.flush(folder)
        return checkpoint_file.id_of(name)


def _hide_from_git(folder: int) -> None:
    """Write the ignore file once: a line that the user deletes from it is not restored."""
    with suppress(FileExistsError):
        if ".gitignore" not in os.listdir(folder):
            atomic.put_new(folder, b"*\n", [".gitignore"])


def _free_names(document: Document) -> Iterator[str]:
    """Yield unused names. An id is unique for a project, in its folder and in ours."""
    taken = snapshot.names(document.project)
    for checkpoint_id in checkpoint_file.ids(document.created):
        if checkpoint_id not in taken:
            yield f"{checkpoint_id}.md"


def _snapshot_saved(checkpoint: SavedCheckpoint, given: Document) -> list[str]:
    """Save the snapshot, also of a twin that was killed before it had one. Others stay: their work
    is that of the checkpoint's moment, and the store may have read it."""
    if checkpoint.reused and snapshot.load(checkpoint.document.project, checkpoint.id):
        return []
    document = replace(checkpoint.document, snapshot=given.snapshot)
    values = snapshot.complete(document, checkpoint.id, checkpoint.path)
    try:
        snapshot.save(checkpoint.document.project, checkpoint.id, values)
    except (OSError, ValueError, RecursionError) as error:
        return [f"the snapshot was not written: {error}"]
    return []
