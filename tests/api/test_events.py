"""Live events over a real wire, on both engines."""

import socket
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from holdfast.hub.store import rows
from holdfast.hub.store.rows import KEEP_MS, events_since, newest_event, prune_events
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import events as table
from holdfast.hub.tree import sessions
from holdfast.hub.tree.sessions import put_project
from tests.api.live import TOKEN, Live, in_thread, until

pytestmark = pytest.mark.requirement("S3")
NOW = 1_700_000_000_000


AS_PAGE = {"Accept": "application/json"}


@pytest.fixture
def live(store: Store) -> Iterator[Live]:
    with in_thread(store) as found:
        yield found


def _announce(store: Store, n: int, kind: str = "x.happened", size: int = 0) -> None:
    row = {"kind": kind, "body": {"text": "y" * size}, "at_ms": NOW}
    store.write(lambda c: c.execute(sa.insert(table), [row] * n))


def test_what_is_written_is_heard_at_once_in_order(live: Live) -> None:
    with live.listening() as heard:
        assert heard.answer.headers["content-type"].startswith("text/event-stream")
        assert heard.answer.headers["cache-control"] == "no-store"
        heard.block()
        for number in range(5):
            live.post("/api/projects", {"path": f"/w/{number}"})
        told = [heard.event() for _ in range(5)]
    assert [one["body"]["path"] for one in told] == [f"/w/{n}" for n in range(5)]
    assert {one["event"] for one in told} == {"project.created"}
    assert [one["id"] for one in told] == sorted(one["id"] for one in told)


def test_a_stream_begins_now_and_resumes_where_it_was_left(live: Live, store: Store) -> None:
    _announce(store, 3)
    with live.listening() as heard:
        heard.block()
        _announce(store, 1, "new")
        assert heard.event()["kind"] == "new"
    _announce(store, 2, "later")
    with live.listening("", Last_Event_ID="4") as heard:
        assert [heard.event()["id"] for _ in range(2)] == [5, 6]
    with live.listening("?after=1") as heard:
        assert [heard.event()["id"] for _ in range(5)] == [2, 3, 4, 5, 6]


def test_a_listener_hears_only_what_it_asked_for(live: Live, store: Store) -> None:
    first = live.post("/api/projects", {"path": "/a"}).json()["project"]["id"]
    live.post("/api/projects", {"path": "/b"})
    live.post("/api/sessions", {"id": "s1", "project_id": first})
    with live.listening(f"?after=0&project_id={first}") as heard:
        assert [heard.event()["kind"] for _ in range(2)] == ["project.created", "session.started"]
    with live.listening("?after=0&kind=session.started&session_id=s1") as heard:
        assert heard.event()["id"] == 3


def test_other_processes_are_heard(live: Live, store_url: str) -> None:
    """Another store on the same database: nothing in this process pokes for it."""
    other = Store.open(store_url)
    with live.listening() as heard:
        heard.block()
        for number in range(3):
            other.write(lambda c, n=number: put_project(c, {"path": f"/o/{n}"}, NOW))  # type: ignore[misc]
            assert heard.event()["body"] == {"path": f"/o/{number}"}
    other.close()


def test_a_page_for_those_who_cannot_listen(live: Live, store: Store) -> None:
    _announce(store, 7)
    page = live.get("/api/events?limit=3", **AS_PAGE).json()
    assert [one["id"] for one in page["events"]] == [1, 2, 3]
    assert (page["count"], page["last"], page["more"], page["missed"]) == (3, 3, True, False)
    page = live.get(f"/api/events?after={page['last']}", **AS_PAGE).json()
    assert [one["id"] for one in page["events"]] == [4, 5, 6, 7]
    page = live.get("/api/events?kind=none&limit=1", **AS_PAGE).json()
    assert (page["events"], page["last"]) == ([], 7), "it moves on past what nobody wanted"
    assert live.get("/api/events?after=99", **AS_PAGE).json()["last"] == 7


def test_one_that_stopped_reading_holds_up_nobody(live: Live, store: Store) -> None:
    with socket.create_connection(("127.0.0.1", live.port)) as deaf:
        head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
        deaf.sendall(f"GET /api/events?after=0 HTTP/1.1\r\n{head}\r\n".encode())
        assert deaf.recv(10)
        with live.listening() as heard:
            heard.block()
            for _ in range(20):
                _announce(store, 100, size=10_000)
                assert live.get("/api/projects").status == 200
            assert [heard.event()["id"] for _ in range(2000)] == list(range(1, 2001))


def test_more_than_may_listen_are_told_to_come_again(store: Store) -> None:
    with in_thread(store, most_listeners=2) as live:
        with live.listening() as one, live.listening() as two:
            one.block(), two.block()
            third = live.get("/api/events")
            assert (third.status, third.json()["error"]) == (503, "2 listen already")
            assert int(third.headers["retry-after"]) > 0
        until(lambda: _has_room(live))


def _has_room(live: Live) -> bool:
    with live.listening() as heard:
        return heard.answer.status == 200


def test_events_of_a_day_are_kept_and_never_too_many(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _announce(store, 10)
    assert store.write(lambda c: prune_events(c, NOW + KEEP_MS - 1)) == 0
    monkeypatch.setattr(rows, "MOST_LIVE_EVENTS", 4)
    assert store.write(lambda c: prune_events(c, NOW)) == 6
    found = store.read(lambda c: events_since(c, 3, 100))
    assert ([row["id"] for row in found.rows], found.missed) == ([7, 8, 9, 10], True)
    assert not store.read(lambda c: events_since(c, 6, 100)).missed
    assert store.write(lambda c: prune_events(c, NOW + 2 * KEEP_MS)) == 3
    assert store.read(newest_event) == 10, "numbers go on from the newest"
    store.write(lambda c: sessions.add(c, {"id": "s"}, NOW))
    assert store.read(newest_event) == 11


def test_one_who_was_away_too_long_is_told(live: Live, store: Store) -> None:
    _announce(store, 5)
    store.write(lambda c: c.execute(sa.delete(table).where(table.c.id < 4)))
    with live.listening("", Last_Event_ID="1") as heard:
        heard.block()
        assert heard.block() == {"event": "missed", "data": "{}"}
        assert [heard.event()["id"] for _ in range(2)] == [4, 5]
