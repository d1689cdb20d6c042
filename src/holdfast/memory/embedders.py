"""The embedders that turn texts into vectors. The configured one is opened once per process.

A query waits a few seconds for its vector; then it is answered by keyword search, with a note.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from holdfast.wire.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.brief.summary_coverage import Nearness
    from holdfast.memory.vector import Array

THREAD = "holdfast-embed"
AUTO, OFF, MINILM = "auto", "off", "minilm"


class NoEmbedder(HoldfastError):
    """There is no embedder, or it failed. Search continues by keyword."""

    exit_code = 5
    hint = "holdfast settings embedder shows which one is meant; search by keyword works anyway"


class Embedder(Protocol):
    """An embedder. Only vectors of the same `name` can be compared."""

    @property
    def name(self) -> str:
        """The embedder's name. Raises NoEmbedder if a server that knows it does not answer."""

    def embed(self, texts: Sequence[str]) -> Array:
        """Return one vector of length one per text. Raises NoEmbedder on failure."""


def open_embedder(word: str, model: str = "", key: str = "") -> Embedder:
    """Open the embedder that the setting `embedder` names. Raises NoEmbedder with the reason."""
    if word == OFF:
        raise NoEmbedder("vectors are turned off (embedder = off)")
    if word.startswith(("http://", "https://")):
        from holdfast.memory.endpoint import Endpoint

        return Endpoint(word, model, key)
    try:
        from holdfast.memory import onnx

        if _apart.is_set():
            return onnx.Worker(word)
        return onnx.minilm() if word in (AUTO, MINILM, "") else onnx.from_folder(word)
    except ImportError as error:
        from holdfast.files.executable import install_command_for

        words = f"search by meaning is an extra: {install_command_for('semantic')}"
        end = f"to hide this note: holdfast settings set embedder {OFF}"
        raise NoEmbedder(f"{words}; {end}") from error


def read_settings() -> tuple[str, str, str]:
    """Return embedder, model and key from the user's own settings. A project cannot set them."""
    from holdfast.settings.load import load

    found = load()
    names = "embedder", "embedder_model", "embedder_key"
    word, model, key = (found.word(name).strip() for name in names)
    return word, model, key


def run_apart() -> None:
    """Run models in a separate process from now on, because this process lives for days."""
    _apart.set()


PATIENCE_SECONDS = 8.0  # includes loading a model on a busy machine
_lock = threading.Lock()
_apart = threading.Event()
_opened: dict[tuple[str, str, str], Embedder | NoEmbedder] = {}


def current_embedder() -> Embedder:
    """Return the configured embedder, opened once; if it is missing, the same error each time."""
    words = read_settings()
    with _lock:
        if words not in _opened:
            try:
                _opened[words] = open_embedder(*words)
            except NoEmbedder as error:
                _opened[words] = error
        embedder = _opened[words]
    if isinstance(embedder, NoEmbedder):
        raise embedder
    return embedder


def vector_of(text: str, wanted: str) -> Array:
    """Return the vector of a query. `wanted` is the embedder that the index was made with."""
    answers: queue.SimpleQueue[Array | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found = current_embedder()
            if found.name != wanted:
                raise NoEmbedder(f"the index has vectors of {wanted}, not of {found.name}")
            answers.put(found.embed([text])[0])
        except Exception as error:
            answers.put(error)

    # A daemon thread, so that an embedder that hangs delays neither the answer nor the exit; a
    # command that ends while it runs ends at once (cli/main).
    threading.Thread(target=ask, name=THREAD, daemon=True).start()
    try:
        found = answers.get(timeout=PATIENCE_SECONDS)
    except queue.Empty:
        raise NoEmbedder(f"no answer within {PATIENCE_SECONDS:g} seconds by the embedder") from None
    if isinstance(found, NoEmbedder):
        raise found
    if isinstance(found, Exception):
        raise NoEmbedder(f"the embedder failed: {found}"[:300]) from found
    return found


def nearness() -> Nearness | None:
    """Return how to compare texts by meaning; None where nothing is installed, or a server is."""
    try:
        if read_settings()[0].startswith("http"):
            return None
        current_embedder()
    except NoEmbedder:
        return None
    return _find_nearest


def _find_nearest(texts: Sequence[str], passages: Sequence[str]) -> list[tuple[float, int]]:
    try:
        cosines = current_embedder().embed(texts) @ current_embedder().embed(passages).T
    except NoEmbedder:
        return [(0.0, 0)] * len(texts)
    return [(float(row.max()), int(row.argmax())) for row in cosines]
