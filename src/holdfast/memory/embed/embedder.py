"""What turns texts into vectors, and which of them the user has: none is a good answer too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from holdfast.wire.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.memory.embed.vector import Array

AUTO, OFF, MINILM = "auto", "off", "minilm"
INSTALL = "pip install '.[semantic]' in the checkout of Holdfast"  # on no index: do not name one


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
            from holdfast.memory.embed.minilm import minilm

            return minilm()
        from holdfast.memory.embed.onnx import from_folder

        return from_folder(word)
    except ImportError as slip:
        raise NoEmbedder(f"no embedder is installed ({slip.name}): {INSTALL}") from slip


def configured() -> tuple[str, str, str]:
    """What the user's own settings say: word, model and key. A project's file cannot name one."""
    from holdfast.settings.load import load

    found = load()
    return (
        found.word("embedder").strip(),
        found.word("embedder_model").strip(),
        found.word("embedder_key").strip(),
    )
