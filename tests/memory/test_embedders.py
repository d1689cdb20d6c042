"""Embedders: the one that ships, one of the user's, one that misbehaves; and search without any."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.memory import embedders, engines, sync
from holdfast.memory.embedders import NoEmbedder
from holdfast.memory.recall import BY_MEANING_ALONE, recall
from holdfast.memory.sync import sync_project
from holdfast.settings import load
from tests.memory.transcripts import a_session
from tests.waiting import until

if TYPE_CHECKING:
    from holdfast.memory.endpoint import Endpoint
    from holdfast.memory.onnx import Onnx

Answering = Callable[[list[str]], Any]
KEY = "sk-" + "q7Zk" * 8
POLL = 0.01  # seconds until a server sees that it is to end; half a one, by itself
loads_the_model = pytest.mark.slow  # 22 MB: half a second of CPU, in each worker and process


def _at(url: str, key: str = "") -> Endpoint:
    """Imported where it is used: NumPy takes a sixth of a second, in each worker."""
    from holdfast.memory.endpoint import Endpoint

    return Endpoint(url, "m", key)


@pytest.fixture
def endpoint() -> Iterator[Callable[[Answering], Endpoint]]:
    """An endpoint that answers as it is told; `seen` holds the headers it got."""
    servers = []

    def made(answering: Answering, key: str = "") -> Endpoint:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                seen.append(dict(self.headers))
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                answer = answering(body["input"])
                self.send_response(answer if isinstance(answer, int) else 200)
                self.end_headers()
                if not isinstance(answer, int):
                    self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *given: Any) -> None: ...

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(POLL,), daemon=True).start()
        servers.append(server)
        return _at(f"http://127.0.0.1:{server.server_port}/v1", key)

    yield made
    for server in servers:
        server.shutdown()
        server.server_close()
    seen.clear()


seen: list[dict[str, str]] = []


def rows(vectors: list[list[float]]) -> dict[str, Any]:
    listed = [{"index": n, "embedding": one} for n, one in enumerate(vectors)]
    return {"data": listed[::-1]}  # any order will do


@loads_the_model
@pytest.mark.requirement("M2", "X3")
def test_the_shipped_model_knows_what_words_mean(model: Onnx) -> None:
    found = model.embed(["the payment was charged twice", "duplicate billing", "yellow bananas"])
    near = found @ found.T
    assert found.shape == (3, 384)
    assert near[0, 1] > near[0, 2] + 0.2
    assert near.diagonal() == pytest.approx([1, 1, 1], abs=1e-3)


@pytest.mark.slow
@pytest.mark.requirement("M2", "X4")
def test_a_model_that_is_not_the_measured_one_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.memory import onnx

    package = tmp_path / "odd_model"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('never imported')")
    (package / "model.onnx").write_bytes(b"something else")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NoEmbedder, match="another SHA-256 than expected"):
        onnx.read_verified("odd_model", "model.onnx", onnx.MINILM_MODEL[2])


@loads_the_model
@pytest.mark.requirement("M2")
def test_a_folder_of_the_users_is_an_embedder_too(tmp_path: Path) -> None:
    from holdfast.memory import onnx

    (tmp_path / onnx.MODEL).write_bytes(onnx.read_verified(*onnx.MINILM_MODEL))
    (tmp_path / onnx.TOKENIZER).write_bytes(onnx.read_verified(*onnx.MINILM_TOKENIZER))
    found = embedders.open_embedder(str(tmp_path))
    assert found.name.startswith(tmp_path.name)
    assert found.embed(["hello"]).shape == (1, 384)


@pytest.mark.requirement("M2")
def test_an_endpoint_gives_vectors_in_the_order_of_the_texts(
    endpoint: Callable[..., Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    asked = endpoint(lambda texts: rows([[len(one), 1.0] for one in texts]), "SOME_KEY")
    found = asked.embed(["a", "bbbb"])
    assert found[0, 0] < found[1, 0]
    assert seen[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.requirement("M2", "X4")
@pytest.mark.parametrize(
    "answering",
    [
        lambda texts: rows([[1.0, 2.0]]),  # one for two
        lambda texts: rows([[float("nan"), 1.0]] * 2),
        lambda texts: {"error": KEY},
        lambda texts: 500,
    ],
)
def test_an_endpoint_that_answers_wrongly_is_an_error_without_the_key(
    endpoint: Callable[..., Endpoint], monkeypatch: pytest.MonkeyPatch, answering: Answering
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    with pytest.raises(NoEmbedder) as caught:
        endpoint(answering, "SOME_KEY").embed(["a", "b"])
    assert KEY not in str(caught.value)


@pytest.mark.requirement("X3")
def test_a_project_cannot_name_an_endpoint(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "holdfast.toml").write_text('embedder = "http://evil.example"\n')
    found = load.load(str(tmp_path))
    assert found.word("embedder") == "auto"
    assert any("embedder is ignored" in error for error in found.errors)


class Hanging:
    """Answers the texts of an index, and never a query."""

    name = "hanging"

    def __init__(self) -> None:
        self.over = threading.Event()

    def embed(self, texts: list[str]) -> Any:
        if len(texts) == 1 and texts[0] == "blue whale":
            self.over.wait(60)
        import numpy as np

        return np.ones((len(texts), 8), np.float32) / np.sqrt(8)


@pytest.mark.requirement("M2")
def test_an_embedder_that_hangs_costs_patience_not_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging: Any = Hanging()
    a_session(tmp_path, "s1", "tell me of the blue whale", "It is the largest animal.")
    sync_project(str(tmp_path))
    sync.fill_vectors(engines.open_index(str(tmp_path)), hanging)
    monkeypatch.setattr(embedders, "current_embedder", lambda: hanging)
    monkeypatch.setattr(embedders, "PATIENCE_SECONDS", 0.05)
    answer = recall("blue whale", project=str(tmp_path))
    hanging.over.set()
    assert answer.mode == "keyword"
    assert answer.found[0].title == "tell me of the blue whale"
    assert any("no answer within" in note for note in answer.notes)


@pytest.mark.requirement("M2", "X3")
def test_turned_off_or_not_installed_search_goes_on_by_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: Any = Hanging()
    a_session(tmp_path, "s1", "tell me of the red fox", "It hunts mice.")
    sync_project(str(tmp_path))
    sync.fill_vectors(engines.open_index(str(tmp_path)), made)
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")
    a_session(tmp_path, "s2", "tell me of the grey owl", "It hunts mice too.")
    answer = recall("red fox", project=str(tmp_path), fill_seconds=1)
    assert answer.found[0].title == "tell me of the red fox"
    assert (answer.mode, answer.notes) == ("keyword", [])  # as the user wants it
    monkeypatch.setattr("holdfast.memory.onnx.find_spec", lambda name: None)
    with pytest.raises(NoEmbedder, match=r"pip install '.*\[.*semantic.*\]'"):
        embedders.open_embedder("auto")


@loads_the_model
@pytest.mark.requirement("X3", "M2")
def test_the_model_leaves_nothing_behind_and_tells_nobody(tmp_path: Path) -> None:
    """The runtime under it would: a device id, and events to be sent."""
    code = "from holdfast.memory.onnx import minilm; print(minilm().embed(['a']).shape)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "(1, 384)"
    assert list(tmp_path.rglob("*")) == []


@loads_the_model
@pytest.mark.usefixtures("one_model")
@pytest.mark.requirement("M2")
def test_search_by_meaning_finds_what_no_word_tells(tmp_path: Path) -> None:
    talk = ("can we speed up the nightly job?", "The overnight export takes eleven minutes now.")
    others = ("who wrote the manual?", "Ada.", "is the door shut?", "It is.")
    a_session(tmp_path, "s1", "which colour has the logo?", "A dark green.", *talk, *others)
    before = recall("slow batch process after dark", project=str(tmp_path), limit=1)
    assert before.mode == "keyword"
    assert any("by words only so far" in note for note in before.notes)
    told: list[tuple[int, int]] = []
    done = sync.fill_vectors(
        engines.open_index(str(tmp_path)),
        embedders.current_embedder(),
        report=lambda *n: told.append(n),
    )
    assert (done, told) == ((4, 0), [(4, 0)])
    after = recall("slow batch process after hours", project=str(tmp_path), limit=1)
    assert after.mode == "hybrid"
    [first] = after.found
    assert all(words in first.text for words in talk)
    assert after.found[0].rank.vector > 0
    lost = recall("nocturnal task duration", project=str(tmp_path))
    assert BY_MEANING_ALONE in lost.notes and len(lost.found) == 3
    assert BY_MEANING_ALONE not in recall("logo", project=str(tmp_path), limit=1).notes
    assert recall("logo", project=str(tmp_path), by_keyword=True).mode == "keyword"


TEXTS = ["the ferry leaves at nine", "it does", "a longer sentence about the harbour light"] * 4


@loads_the_model
@pytest.mark.requirement("M2")
def test_a_model_apart_ends_when_nothing_comes_and_starts_again(model: Onnx) -> None:
    from holdfast.memory.onnx import Worker

    apart = Worker("minilm", idle_seconds=0.1)
    try:
        first = apart._process
        assert first is not None
        until(lambda: first.returncode is not None)
        assert abs(apart.embed(TEXTS) - model.embed(TEXTS)).max() < 1e-5
        assert apart.name == model.name
        assert apart._process is not first
    finally:
        apart._end()
