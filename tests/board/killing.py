"""Kill a hook, or whoever hands out, wherever it touches the disk: each message is still seen by
the model exactly once. A program, because it forks: `python -m tests.board.killing FOLDER WHOM`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from holdfast.hub.team import message_client
from holdfast.hub.team.message_client import CarriedMessage, ReceivedMessage
from holdfast.window.outbox import add_messages
from tests.board.model import Client, an_entry, hook
from tests.checkpoint.killing import arm, killed_at

STEPS_AFTER = 5
NOW = 1
MESSAGES = [an_entry(n, created_ms=n) for n in range(1, 6)]  # more than one hook says
Kill = Callable[[Client, int], bool]


def a_hook(which: int, client: Client, at: int) -> bool:
    """The hook of this number dies at this touch; true while there are touches left to die at."""
    add_messages(client.folder, MESSAGES, NOW)
    for number in range(which + 1):
        before = Path(client.folder, "died")
        before.unlink(missing_ok=True)
        client.step(partial(_arm_until, at, before) if number == which else bool)
    return not before.exists()


def _arm_until(at: int, lived: Path) -> None:
    """Dies at this touch, or leaves a file as it ends: `os._exit` is the last thing a hook does."""
    seen = arm(at)
    real = os._exit

    def leave(code: int) -> None:
        if len(seen) < at:
            lived.touch()
        real(code)

    os._exit = leave  # type: ignore[assignment]


def who_hands_out(client: Client, at: int) -> bool:
    died = killed_at(at, partial(add_messages, client.folder, MESSAGES, NOW))
    add_messages(client.folder, MESSAGES, NOW)  # the watcher, or the next one who posts
    return died


def who_carries(client: Client, at: int) -> bool:
    """What the team's server gave for this window, and is asked for again after."""
    ids = [f"00000000-0000-0000-0000-{n:012d}" for n in range(1, len(MESSAGES) + 1)]
    words = {"message": "the schema has changed"}
    answer = [
        CarriedMessage(one, "a", "s1", "task.failed", words, age_ms=-n, left_ms=1 << 50)
        for n, one in enumerate(ids)
    ]

    def carry() -> None:
        [turn] = message_client.turns(NOW)
        message_client.deliver(turn, ReceivedMessage("s1", answer, []), NOW)

    died = killed_at(at, carry)
    carry()
    return died


KILLS: dict[str, Kill] = {
    "the hook that says": partial(a_hook, 0),
    "the next": partial(a_hook, 1),
    "the one after": partial(a_hook, 2),
    "who hands out": who_hands_out,
    "who carries from the server": who_carries,
}


def _every_point(folder: Path, kill: Kill) -> int:
    at = 0
    while True:
        at += 1
        place = folder / f"{at}"
        place.mkdir(parents=True)
        os.environ["HOLDFAST_HOME"] = str(place / "home")
        client = Client(place, late=at % 2 == 0)
        hook(
            "PostToolUse", client.path, tool_use_id="t0"
        )  # the window is known, and its mark armed
        died = kill(client, at)
        for _ in range(STEPS_AFTER):
            client.step()
        times = [client.times(one) for one in MESSAGES]
        assert times == [1] * len(MESSAGES), f"{kill} at {at}: {times}"
        assert not Path(client.folder, "outbox.json").exists(), f"{kill} at {at}: still owed"
        if not died:
            return at - 1


if __name__ == "__main__":
    print(_every_point(Path(sys.argv[1]), KILLS[sys.argv[2]]))
