"""The mark: the numbers that decide whether a hook wakes the rest of Holdfast.

One line, `v2 above below spool time density overhead owed stop`. The hook wakes at or above, or
below, so many tokens; once the spool has so many bytes; or at a time (epoch ms). Then come the
characters per token measured for this model, the tokens that are in every request, who is owed a
word (1 the user, 2 the model, 4 a team server, or their sum), and from how many tokens on the stop
guard looks (0: it is off). A mark that cannot be read means: wake.
"""

import os

from holdfast.wire import places

VERSION = "v2"
FIELDS = 8
CHARS_PER_TOKEN = 3.5  # used everywhere, until a model's own density was measured
NEVER = 1 << 53
OWED_TO_USER, OWED_TO_MODEL, OWED_TO_SERVER = 1, 2, 4


class Mark:
    __slots__ = ("above", "below", "density", "overhead", "owed", "spool_bytes", "stop", "time_ms")

    def __init__(
        self,
        above: int = 0,
        below: int = 0,
        spool_bytes: int = NEVER,
        time_ms: int = NEVER,
        density: float = CHARS_PER_TOKEN,
        overhead: int = 0,
        owed: int = 0,
        stop: int = 0,
    ) -> None:
        self.above = above
        self.below = below
        self.spool_bytes = spool_bytes
        self.time_ms = time_ms
        self.density = density
        self.overhead = overhead
        self.owed = owed
        self.stop = stop

    def crossed(self, used_tokens: int, spool_bytes: int, now_ms: int) -> bool:
        """Whether something that the guard cares about may have changed."""
        return not (
            self.below <= used_tokens < self.above
            and spool_bytes < self.spool_bytes
            and now_ms < self.time_ms
        )

    def line(self) -> str:
        return (
            f"{VERSION} {self.above} {self.below} {self.spool_bytes} {self.time_ms} "
            f"{int(self.density * 1000)} {self.overhead} {self.owed} {self.stop}\n"
        )


def parse(data: bytes) -> Mark | None:
    """The mark, or None for anything but a mark of our version: the hook then wakes."""
    version, *fields = data.decode("ascii", "replace").split() or [""]
    if version != VERSION or len(fields) != FIELDS or not all(f.isdecimal() for f in fields):
        return None
    above, below, spool_bytes, time_ms, milli, overhead, *flags = (int(f[:16]) for f in fields)
    density = milli / 1000 if 500 <= milli <= 20000 else CHARS_PER_TOKEN
    return Mark(above, below, spool_bytes, time_ms, density, overhead, *flags)


def load(folder: str) -> Mark | None:
    return parse(places.read_small(os.path.join(folder, "mark"), 256))


def arm(folder: str, mark: Mark) -> None:
    places.replace_whole(os.path.join(folder, "mark"), mark.line().encode())
