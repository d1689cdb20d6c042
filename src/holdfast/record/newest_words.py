"""The user's newest words in a part of a transcript that there was no time to read.

A hook that stops reading saves how far it came. What it shows now still needs what the user said
last: a rule may have been taken back since.
"""

import os
from collections.abc import Iterator, Sequence

import msgspec

from holdfast.record import model, secrets, turns
from holdfast.record.model import Record, Turn
from holdfast.record.reader import RecordReader
from holdfast.record.secrets import ToldSecrets
from holdfast.redact.find import UNSEARCHED, redact
from holdfast.redact.rule import SecretFinding
from holdfast.transcript import Answer, Boundary, Entry, Prompt, Queued, Reader
from holdfast.wire import search_time

_NOT_SEARCHED = SecretFinding(UNSEARCHED, 0, 0).placeholder


def add_newest(
    record: Record, path: str | os.PathLike[str], known: ToldSecrets, *, sidechain: bool
) -> Record:
    """Return a copy of the record with these words, to be shown and not to be saved: everything
    else after its offset is still unread. `known`: the secrets that the session named before."""
    counting = RecordReader(model.copy(record), sidechain=sidechain)
    reader, count, typed = Reader(path, start=record.offset), 0, list[tuple[Turn, Entry]]()
    for entry in reader:
        if entry.line.is_sidechain and not sidechain:
            continue
        count += 1
        if isinstance(entry, Answer):
            counting.begin_step(entry)
        elif isinstance(entry, Boundary) and entry.resets_window:
            counting.cross_boundary()
        elif _is_typed(entry):
            line = record.lines + reader.tally.lines
            typed.append((Turn("", counting.place_of(entry), line), entry))
    newest = list(_newest_turns(typed, known))
    shown = msgspec.structs.replace(
        model.copy(record),
        turns=[*record.turns, *reversed(newest)],
        op=counting.record.op,
        compactions=counting.record.compactions,
        summary="",
        unread=count,
    )
    return secrets.forget(shown, known)


def _is_typed(entry: Entry) -> bool:
    """Whether an entry may hold words of the user. A prompt from the queue is taken when it was
    typed."""
    if isinstance(entry, Prompt):
        return not entry.is_meta
    return isinstance(entry, Queued) and entry.operation == "enqueue"


def _newest_turns(typed: Sequence[tuple[Turn, Entry]], known: ToldSecrets) -> Iterator[Turn]:
    """Yield turns with what the user typed, the newest first, as long as there is time to search
    it. A placeholder stands for the older ones."""
    with search_time.for_newest() as limit:
        for turn, entry in reversed(typed):
            words = "\n".join(secrets.spoken(entry))
            known.hear([(entry.offset, words)])
            asked = known.without_in(redact(turns.clip_words(words)))
            if limit.is_used_up:
                yield msgspec.structs.replace(turn, asked=_NOT_SEARCHED)
                return
            if asked:
                yield msgspec.structs.replace(turn, asked=asked, chars=len(words))
