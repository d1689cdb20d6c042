"""Very long prompts are searched for secrets in a bounded part, and what is stored of them holds
none. Characters are counted, because a time says more about the machine."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from holdfast.record.model import save
from holdfast.record.reader import RecordReader
from holdfast.record.secrets import MOST_LONG_CHARS
from holdfast.redact.find import find
from holdfast.text.sentences import ENDS_CHARS, MARGIN_CHARS
from tests.checkpoint.sessions import Session

pytestmark = [pytest.mark.slow, pytest.mark.requirement("X4")]  # megabytes of text
PROMPT_CHARS = 2_400_000
LONG_CHARS = 2_000
WORD = "Xk9fQ2m" + "Lp7RtZ"


def searched(work: Callable[[], object]) -> Counter[str]:
    """Return the texts that are searched during this work, and how often each is."""
    seen: Counter[str] = Counter()

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is find.__code__:
            seen[frame.f_locals["text"]] += 1

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return seen


def prompts(count: int) -> Session:
    session = Session()
    for number in range(count):
        filling = f"gauge {number} " * (PROMPT_CHARS // 8)
        session.user(f"Number {number}. {filling}").queues(filling)
    return session


def test_of_many_long_prompts_a_bounded_part_is_searched(tmp_path: Path) -> None:
    count = 5
    path = prompts(count).written(tmp_path)
    found = searched(lambda: RecordReader().read_redacted(path))
    cut = 2 * count * 2 * (MARGIN_CHARS + LONG_CHARS)  # typed and queued, at both ends
    heard = MOST_LONG_CHARS + 2 * count * ENDS_CHARS
    stored = 100_000
    searched_chars = sum(len(text) * times for text, times in found.items())
    assert searched_chars <= 3 * (cut + heard + stored), "each at most three times"


def long_words(at: int) -> str:
    filling = "of the tide " * 100_000
    return f"{filling[:at]} the deploy password is: {WORD} {filling[at:]}"


@pytest.mark.parametrize("at", [2_700, 2_790, 7_990, 30_000, -1_150, -1_190, -30_000])
def test_what_is_stored_of_a_long_prompt_holds_no_password(at: int, tmp_path: Path) -> None:
    session = prompts(1).user(long_words(at))
    record = RecordReader().read_redacted(session.written(tmp_path))
    assert WORD[:8] not in save(record).decode()
