"""What past requests really used, from the usage their answers state."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.plan.estimate import PastRequest, read_requests
from holdfast.record.stream import read_turns
from tests.builders import a_boundary, a_prompt, a_result, a_summary, a_transcript, an_answer
from tests.plan.builders import an_edit


def _used(folder: Path, *lines: dict[str, Any]) -> list[PastRequest]:
    return list(read_requests(read_turns(a_transcript(folder / "s.jsonl", *lines))))


@pytest.mark.requirement("P1")
def test_growth_is_from_the_prompt_to_the_next_one(tmp_path: Path) -> None:
    first, second = _used(
        tmp_path,
        a_prompt("implement it"),
        an_answer(20_000, output=100),
        an_edit(26_000, "m2", "a.py", "b.py", "a.py"),
        *(a_result(call) for call in ("m20", "m21", "m22")),
        a_prompt("why?"),
        an_answer(27_500),
    )
    assert first.used_tokens == pytest.approx(6_000, abs=110)
    assert (list(first.files), first.multiplier, first.chars) == (["a.py", "b.py"], 1.5, 12)
    assert (second.used_tokens, second.files) == (1_500, {})


@pytest.mark.requirement("P1")
def test_the_pieces_around_a_compaction_are_summed(tmp_path: Path) -> None:
    [one] = _used(
        tmp_path,
        a_prompt("go"),
        an_answer(150_000, output=50),
        an_answer(160_000),
        a_boundary(),
        a_summary(),
        an_answer(30_000, output=40),
        an_answer(33_000),
    )
    assert one.used_tokens == pytest.approx(10_000 + 3_000, abs=110)
