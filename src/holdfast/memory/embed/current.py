"""The embedders of this process: each opened once, asked with patience that ends.

A query waits for its vector some seconds at most; then the answer comes by keyword, and says so.
"""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

from holdfast.memory.embed.embedder import Embedder, NoEmbedder, chosen, configured

if TYPE_CHECKING:
    from holdfast.memory.embed.vector import Array

PATIENCE_SECONDS = 8.0  # loading a model on a busy machine takes some of it
_lock = threading.Lock()
_opened: dict[tuple[str, str, str], Embedder | NoEmbedder] = {}


def embedder() -> Embedder:
    """The configured one, opened once. A missing one is remembered too, and raises each time."""
    words = configured()
    with _lock:
        if words not in _opened:
            try:
                _opened[words] = chosen(*words)
            except NoEmbedder as slip:
                _opened[words] = slip
        found = _opened[words]
    if isinstance(found, NoEmbedder):
        raise found
    return found


def vector_of(text: str, wanted: str) -> Array:
    """The vector of a query, by the embedder the index was made with (`wanted`)."""
    answers: queue.SimpleQueue[Array | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found = embedder()
            if found.name != wanted:
                raise NoEmbedder(f"its vectors are of {wanted}, not of {found.name}")
            answers.put(found.embed([text])[0])
        except Exception as slip:
            answers.put(slip)

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
