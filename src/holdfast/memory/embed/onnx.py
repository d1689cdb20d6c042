"""A sentence model in ONNX with its tokenizer, run on one core, offline.

The mean of the tokens' vectors, as the sentence-transformers do it; 256 tokens of a text are read.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# onnxruntime 1.31 keeps a device id and a queue of events under ~/.cache, and looks up a host to
# send them to (seen under strace); with this set before it is loaded it does neither.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from holdfast.memory.embed.embedder import NoEmbedder
from holdfast.memory.embed.vector import Array, unit

MOST_TOKENS = 256
MOST_CHARS = 4_000
TOGETHER = 4  # 16 take 1.9 times the CPU a text, and 870 MB instead of 250: they leave the caches
MODEL, TOKENIZER = "model.onnx", "tokenizer.json"


class Onnx:
    def __init__(self, name: str, model: bytes, tokenizer: bytes) -> None:
        self.name = name
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # What a long batch took is given back, not kept for the next: the process lives for days.
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
        try:
            self._session = onnxruntime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = Tokenizer.from_buffer(tokenizer)
        except Exception as slip:  # whatever such a file makes the library raise
            raise NoEmbedder(f"{name} cannot be used: {slip}"[:300]) from slip
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._tokenizer.enable_padding()
        self._inputs = {one.name for one in self._session.get_inputs()}

    def embed(self, texts: Sequence[str]) -> Array:
        """Texts of like length together: padding is work too."""
        if not texts:
            return np.zeros((0, 0), np.float32)
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        rows: list[Any] = [None] * len(texts)
        for start in range(0, len(order), TOGETHER):
            some = order[start : start + TOGETHER]
            for at, row in zip(some, self._some([texts[at] for at in some]), strict=True):
                rows[at] = row
        return np.stack(rows)

    def _some(self, texts: list[str]) -> Array:
        found = self._tokenizer.encode_batch([text[:MOST_CHARS] for text in texts])
        given = {
            "input_ids": np.array([one.ids for one in found], np.int64),
            "attention_mask": np.array([one.attention_mask for one in found], np.int64),
            "token_type_ids": np.array([one.type_ids for one in found], np.int64),
        }
        fed = {name: value for name, value in given.items() if name in self._inputs}
        try:
            out = self._session.run(None, fed)[0]
        except Exception as slip:
            raise NoEmbedder(f"{self.name} failed: {slip}"[:300]) from slip
        if out.ndim == 3:  # a vector for each token; some models give their mean themselves
            mask = given["attention_mask"][:, :, None].astype(np.float32)
            out = (out * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
        return unit(out)


def from_folder(path: str) -> Onnx:
    """`model.onnx` and `tokenizer.json` in a folder of the user's."""
    folder = Path(path).expanduser()
    try:
        model, tokenizer = (folder / MODEL).read_bytes(), (folder / TOKENIZER).read_bytes()
    except OSError as slip:
        raise NoEmbedder(f"{folder} holds no {MODEL} and {TOKENIZER}: {slip.strerror}") from slip
    return Onnx(
        f"{folder.name}-{hashlib.sha256(model + tokenizer).hexdigest()[:12]}", model, tokenizer
    )
