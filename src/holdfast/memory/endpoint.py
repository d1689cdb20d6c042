"""Embed texts with an OpenAI-compatible server. Texts leave the machine only if the user names one.

Time and size are limited, and the answer is checked for number, order and length of the vectors.
The key comes from a variable or a file that the user names, and appears in no message or log.
"""

import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.memory.embedders import NoEmbedder
from holdfast.memory.vector import Array, unit
from holdfast.settings import secret_file

SECONDS = 10.0
MOST_BYTES = 64 << 20
MOST_CHARS = 8_000
TOGETHER = 32


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *given: Any) -> None:
        """Follow no redirect: the key must not be sent to another address."""


class Endpoint:
    def __init__(self, url: str, model: str, key: str) -> None:
        self._url = url.rstrip("/")
        self._url += "" if self._url.endswith("/embeddings") else "/embeddings"
        self._model, self._key = model, key
        self._called = f"{model or 'default'} at {_without_user(self._url)}"
        self._size = 0
        self._opener = urllib.request.build_opener(_Stay)

    @property
    def name(self) -> str:
        """The model and the size of its vectors: a name may get another model."""
        if not self._size:
            self.embed([" "])
        return f"{self._called}, {self._size} numbers"

    def embed(self, texts: Sequence[str]) -> Array:
        found = [
            self._some([text[:MOST_CHARS] or " " for text in texts[at : at + TOGETHER]])
            for at in range(0, len(texts), TOGETHER)
        ]
        return unit(np.concatenate(found))

    def _some(self, texts: list[str]) -> Array:
        answer = self._asked({"model": self._model, "input": texts})
        try:
            rows = sorted(answer["data"], key=lambda one: one["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise NoEmbedder(f"{self._called} does not answer as it should") from error
        size = self._size or (vectors.shape[1] if vectors.ndim == 2 else 0)
        if not size or vectors.shape != (len(texts), size) or not np.isfinite(vectors).all():
            shape = " x ".join(map(str, vectors.shape))
            wanted = f"{len(texts)} x {size or 'some'} numbers"
            raise NoEmbedder(f"{self._called} gave vectors of {shape}, not of {wanted}")
        self._size = size
        return vectors

    def _asked(self, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        if key := self._secret():
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(self._url, json.dumps(body).encode(), headers)
        try:
            with self._opener.open(request, timeout=SECONDS) as response:
                return json.loads(response.read(MOST_BYTES))
        except urllib.error.HTTPError as error:
            error.close()
            raise NoEmbedder(f"{self._called} answered {error.code}") from None
        except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
            why = getattr(error, "reason", error) or type(error).__name__
            raise NoEmbedder(f"{self._called} does not answer: {str(why)[:200]}") from None

    def _secret(self) -> str:
        """Read the key from a file that only the user can read, or from a variable."""
        if "/" in self._key:
            return secret_file.read(Path(self._key).expanduser())
        return os.environ.get(self._key, "") if self._key else ""


def _without_user(url: str) -> str:
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"
