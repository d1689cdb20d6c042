"""Servers that are none of ours: they accept, and answer whatever they like, or nothing."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.hub.team.connection import TeamServer
from tests.api.live import TOKEN


@contextmanager
def answering(answer: bytes = b"", *, drip: bool = False) -> Iterator[TeamServer]:
    """Accepts, and answers this, or nothing at all."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        held: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    wire, _ = listener.accept()
                except OSError:
                    return
                held.append(wire)
                if answer:
                    threading.Thread(target=_answer, args=(wire, answer, drip), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield TeamServer(f"http://127.0.0.1:{listener.getsockname()[1]}", TOKEN)
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(5)
            for wire in held:
                wire.close()


def _answer(wire: socket.socket, answer: bytes, drip: bool) -> None:
    try:
        wire.recv(65536)
        for at in range(len(answer)) if drip else ():
            wire.sendall(answer[at : at + 1])
            threading.Event().wait(0.05)
        if not drip:
            wire.sendall(answer)
            wire.shutdown(socket.SHUT_WR)
    except OSError:
        pass
