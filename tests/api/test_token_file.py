"""The token is the one the file holds at each request; without a file nobody may come in."""

from collections.abc import Iterator

import pytest

from holdfast.api import login
from holdfast.api.gate import Rules
from holdfast.hub.store.store import Store
from holdfast.settings import secret_file
from tests.api.live import Live, in_thread

pytestmark = pytest.mark.requirement("X5")
OTHER = "another-token-for-tests"


@pytest.fixture
def live(sqlite_url: str) -> Iterator[Live]:
    """With the token `holdfast serve` would use."""
    store = Store.open(sqlite_url)
    with in_thread(store, Rules(token=login.token())) as found:
        found.token = secret_file.read(login.token_file())
        yield found
    store.close()


def _rotate(text: str) -> None:
    file = login.token_file()
    draft = file.with_name("draft")
    draft.touch(0o600)
    draft.write_text(text + "\n")
    draft.replace(file)


def _statuses(live: Live, *tokens: str) -> list[int]:
    return [live.get("/stats", Authorization=f"Bearer {one}").status for one in tokens]


def test_a_deleted_token_opens_nothing_and_neither_does_none(live: Live) -> None:
    assert _statuses(live, live.token) == [200]
    login.token_file().unlink()
    assert _statuses(live, live.token, "", " ", "None", OTHER) == [401] * 5
    assert live.get("/stats", Authorization="Bearer").status == 401
    assert live.get("/health", Authorization="").status == 200


def test_a_new_token_holds_at_once_and_the_old_one_no_more(live: Live) -> None:
    for text in (OTHER, OTHER[::-1], OTHER):
        _rotate(text)
        assert _statuses(live, live.token, text) == [401, 200]
    login.token_file().write_text(OTHER[::-1] + "\n")  # in place, as long as the one before
    assert _statuses(live, OTHER, OTHER[::-1]) == [401, 200]


@pytest.mark.parametrize("text", ["", "short", "with a blank in the middle of it"])
def test_a_file_that_holds_no_token_opens_nothing(live: Live, text: str) -> None:
    _rotate(text)
    assert _statuses(live, live.token, text.strip(), "") == [401] * 3


@pytest.mark.requirement("S3")
def test_a_stream_ends_with_the_token_it_was_asked_with(live: Live) -> None:
    with live.listening() as heard:
        heard.block()
        _rotate(OTHER)
        live.token = OTHER
        assert live.post("/api/projects", {"path": "/w/unheard"}).status == 201
        assert b"unheard" not in heard.answer.read(), "it ends, and says nothing more"
