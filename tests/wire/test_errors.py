"""Errors in words, for the log."""

from __future__ import annotations

import pytest

from holdfast.transcript import Unreadable
from holdfast.wire.errors import describe


@pytest.mark.requirement("X7")
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Unreadable("cannot read '/gone.jsonl'"), "cannot read '/gone.jsonl'"),
        (ValueError("the setting is unusual"), "the setting is unusual"),
        (PermissionError(13, "Permission denied", "/x"), "/x: Permission denied"),
        (KeyError("name"), "KeyError: 'name'"),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_the_log_has_the_message_and_the_type_only_where_that_says_more(
    error: Exception, words: str
) -> None:
    assert describe(error) == words
