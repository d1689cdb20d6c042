"""Run a model in a separate process, for processes that live for days.

A model and its libraries take 200 MB and give little of it back. So the process starts when there
are texts, and ends when no more come for a while or when its owner ends.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

import numpy as np

from holdfast.memory import embedders
from holdfast.memory.embedders import Embedder, NoEmbedder
from holdfast.memory.vector import Array

IDLE_SECONDS = 60.0
TOGETHER = 8  # a query waits for at most this many texts of an index
MOST_CHARS = 4_000  # no model reads more of a text
NICE = 5


class Worker:
    """A model in its own process. `word` is the setting `embedder`: an installed model, or a
    folder."""

    def __init__(self, word: str, idle_seconds: float = IDLE_SECONDS) -> None:
        self._word, self._idle_seconds = word, idle_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        try:
            self.name = str(self._ask([])[0]["name"])
        except NoEmbedder:
            self._end()
            raise

    def embed(self, texts: Sequence[str]) -> Array:
        made = [np.zeros((0, 0), np.float32)] if not texts else []
        for at in range(0, len(texts), TOGETHER):
            head, data = self._ask([text[:MOST_CHARS] for text in texts[at : at + TOGETHER]])
            made.append(np.frombuffer(data, np.float32).reshape(head["shape"]))
        return np.concatenate(made)

    def _ask(self, texts: list[str]) -> tuple[dict[str, Any], bytes]:
        with self._lock:
            answer = self._answer(texts)
            if answer is None:  # the process may have ended because no texts came
                self._end()
                answer = self._answer(texts)
        if answer is None:
            raise NoEmbedder("the model's process ended")
        if "error" in answer[0]:
            raise NoEmbedder(str(answer[0]["error"]))
        return answer

    def _answer(self, texts: list[str]) -> tuple[dict[str, Any], bytes] | None:
        """Return the answer; None if the process has ended."""
        process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(texts).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
            head: dict[str, Any] = json.loads(line) if line else {}
            data = process.stdout.read(head.get("bytes", 0))
        except OSError:
            return None
        return (head, data) if head and len(data) == head.get("bytes", 0) else None

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
    """Answer lines of texts until the input ends, or until no line comes for `idle_seconds`."""
    embedder: Embedder | None = None
    while select.select([given], [], [], idle_seconds)[0] and (line := given.readline()):
        try:
            embedder = embedder or embedders.open_embedder(word)
            made = np.ascontiguousarray(embedder.embed(json.loads(line)), np.float32)
            head = {"name": embedder.name, "shape": made.shape, "bytes": made.nbytes}
            answers.write(json.dumps(head).encode() + b"\n" + made.tobytes())
        except NoEmbedder as error:
            answers.write(json.dumps({"error": str(error)}).encode() + b"\n")
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
