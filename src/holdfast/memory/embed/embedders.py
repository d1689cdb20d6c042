"""The embedders that turn texts into vectors: which one the user has, opened once per process.

Having none is fine too. A query waits a few seconds for its vector; after that the answer comes by
keyword, and says so.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from holdfast.wire.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.memory.embed.vector import Array

AUTO, OFF, MINILM = "auto", "off", "minilm"


class NoEmbedder(HoldfastError):
    """There is none, or it does not do what it should: search goes on by keyword."""

    exit_code = 5
    hint = "holdfast settings embedder shows which one is meant; search by keyword works anyway"


class Embedder(Protocol):
    """Vectors of one `name` can be compared with each other, and with no others."""

    @property
    def name(self) -> str:
        """NoEmbedder where it must be asked for, and does not answer."""

    def embed(self, texts: Sequence[str]) -> Array:
        """A row of length one for each text; NoEmbedder where that cannot be had."""


def chosen(word: str, model: str = "", key: str = "") -> Embedder:
    """By the setting `embedder`; NoEmbedder with the reason where it gives none."""
    if word == OFF:
        raise NoEmbedder("vectors are turned off (embedder = off)")
    if word.startswith(("http://", "https://")):
        from holdfast.memory.embed.endpoint import Endpoint

        return Endpoint(word, model, key)
    try:
        if word in (AUTO, MINILM, ""):
            from holdfast.memory.embed.onnx import minilm

            return minilm()
        from holdfast.memory.embed.onnx import from_folder

        return from_folder(word)
    except ImportError as error:
        from holdfast.settings.extras import install_command_for

        needed = install_command_for("semantic")
        raise NoEmbedder(f"no embedder is installed ({error.name}): {needed}") from error


def configured() -> tuple[str, str, str]:
    """What the user's own settings say: word, model and key. A project's file cannot name one."""
    from holdfast.settings.load import load

    found = load()
    return (
        found.word("embedder").strip(),
        found.word("embedder_model").strip(),
        found.word("embedder_key").strip(),
    )


def run_apart() -> None:
    """From now on, models run in a process of their own: this one lives for days."""
    _apart.set()


def _open(word: str, model: str, key: str) -> Embedder:
    if _apart.is_set() and word != OFF and not word.startswith(("http://", "https://")):
        with suppress(ImportError):  # `chosen` says what is missing
            from holdfast.memory.embed.worker import Worker

            return Worker(word)
    return chosen(word, model, key)


PATIENCE_SECONDS = 8.0  # loading a model on a busy machine takes some of it
_lock = threading.Lock()
_apart = threading.Event()
_opened: dict[tuple[str, str, str], Embedder | NoEmbedder] = {}


def current_embedder() -> Embedder:
    """The configured one, opened once. A missing one is remembered too, and raises each time."""
    words = configured()
    with _lock:
        if words not in _opened:
            try:
                _opened[words] = _open(*words)
            except NoEmbedder as error:
                _opened[words] = error
        found = _opened[words]
    if isinstance(found, NoEmbedder):
        raise found
    return found


def vector_of(text: str, wanted: str) -> Array:
    """The vector of a query, by the embedder the index was made with (`wanted`)."""
    answers: queue.SimpleQueue[Array | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found = current_embedder()
            if found.name != wanted:
                raise NoEmbedder(f"its vectors are of {wanted}, not of {found.name}")
            answers.put(found.embed([text])[0])
        except Exception as error:
            answers.put(error)

    # A daemon: an embedder that hangs holds up neither the answer nor the end of the process.
    threading.Thread(target=ask, name="holdfast-embed", daemon=True).start()
    try:
        found = answers.get(timeout=PATIENCE_SECONDS)
    except queue.Empty:
        raise NoEmbedder(
            f"the embedder gave no answer within {PATIENCE_SECONDS:g} seconds"
        ) from None
    if isinstance(found, NoEmbedder):
        raise found
    if isinstance(found, Exception):
        raise NoEmbedder(f"the embedder failed: {found}"[:300]) from found
    return found
