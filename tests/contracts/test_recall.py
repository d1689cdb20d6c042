"""One suite for the index of recall, on a SQLite file and on PostgreSQL."""

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from holdfast.hub.store.store import Store
from holdfast.memory import vector, words
from holdfast.memory.embedders import NoEmbedder
from holdfast.memory.index import Index, Many, SearchFilter
from holdfast.memory.item import SEGMENT, TURN, Item
from holdfast.memory.postgres_index import Shared
from holdfast.memory.recall import rank_results, search_indexes
from holdfast.memory.sqlite_index import Embedded
from tests.stores import ENGINES

SIZE = 384
EVERY = SearchFilter(cold=True)


@pytest.fixture(params=ENGINES)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    if request.param == "sqlite":
        made: Index = Embedded("/p", str(tmp_path / "recall" / "p.db"))
        yield made
        made.close()
        return
    store = Store.open(request.getfixturevalue("postgres_url"))
    yield Shared(store, "/p")
    store.close()


@pytest.fixture
def vectors(request: pytest.FixtureRequest, index: Index) -> None:
    """The server of `HOLDFAST_TEST_DATABASE_URL` may have no pgvector."""
    if not isinstance(index, Shared):
        return
    store = Store.open(request.getfixturevalue("postgres_url"))
    try:
        Shared(store, "/another").begin_vectors("m")
    except NoEmbedder as reason:
        pytest.skip(f"NOT TESTED: {reason}")
    finally:
        store.close()


def some(*texts: str, kind: str = TURN, first: int = 0, cold: bool = False) -> list[Item]:
    return [
        Item(id=f"{kind}-{first + n}", kind=kind, text=text, position=first + n, cold=cold)
        for n, text in enumerate(texts)
    ]


def texts(index: Index, query: str, wanted: SearchFilter = EVERY, limit: int = 10) -> list[str]:
    return [
        one.item.text
        for one in search_indexes([index], words.parse_query(query), limit, wanted).found
    ]


def matched(index: Index, query: str, wanted: SearchFilter = EVERY) -> set[str]:
    """By the words themselves, without neighbours."""
    said, _ = index.scores(words.parse_query(query), {}, Many(100, 0), wanted)
    return {item.text for item in index.at(said).values()}


def nearest(index: Index, query: vector.Array, most: int, wanted: SearchFilter) -> dict[int, float]:
    """By meaning alone."""
    found = index.scores(words.parse_query(""), {"m": query}, Many(0, most), wanted)[1]
    return {place: near.score for place, near in found.items()}


def direction(number: int) -> vector.Array:
    made = np.full((1, SIZE), 0.01, np.float32)
    made[0, number] = 1
    return vector.unit(made)


def embedded(index: Index, means: dict[str, float]) -> dict[str, vector.Array]:
    """Vectors for what is in the index, each as near to a question as is said here, and the
    question's own."""
    index.begin_vectors("m")
    for n, (place, one) in enumerate(index.without_vector(100).items(), 1):
        near = means.get(one.text.strip(), 0.0)
        pointing = near * direction(0) + (1 - near**2) ** 0.5 * direction(n)
        index.put_vectors("m", place, one.hash, vector.encode(vector.unit(pointing)))
    return {"m": direction(0)[0]}


def by_both(index: Index, query: str, vectors: dict[str, vector.Array]) -> list[str]:
    found = rank_results([index], words.parse_query(query), 10, EVERY, vectors)
    return [one.item.text for one in found]


@pytest.mark.requirement("M2")
@pytest.mark.usefixtures("vectors")
def test_words_count_less_where_the_best_match_holds_few_of_them(index: Index) -> None:
    """One word of many is hardly a match by words; a match in full is one."""
    near, worded = "The lamp is lit at dusk.", "The ferry was late."
    others = some(*(f"The tide turns {n} times." for n in range(20)), first=100)
    index.take("s", "", "taken", [*some(near), *some(worded, first=8), *others])
    vectors = embedded(index, {near: 0.8, worded: 0.3})
    question = "at which evening hour do ferry captains see beacons begin to shine"
    assert by_both(index, question, vectors)[:2] == [near, worded]
    assert by_both(index, "ferry", vectors)[:2] == [worded, near]


@pytest.mark.requirement("M2")
def test_words_are_found_in_any_form_and_the_best_comes_first(index: Index) -> None:
    index.take("s", "", "1", some("migrating the table", "the table", "bananas are yellow"))
    assert texts(index, "migration of tables")[0] == "migrating the table"
    assert matched(index, "banana") == {"bananas are yellow"}


@pytest.mark.requirement("M2")
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("call getUserName first", "user name"),
        ("see src/app/main_window.py", "main_window.py"),
        ("数据库的端口是多少", "端口"),
        ("le café est fermé", "café"),
    ],
)
def test_names_and_languages_without_blanks_are_found(index: Index, text: str, query: str) -> None:
    index.take("s", "", "1", some("something else", text))
    assert matched(index, query) == {text}


@pytest.mark.requirement("X7", "M2")
@pytest.mark.parametrize(
    "query", ['a" OR "b', "parser NEAR(x)", "'; DROP TABLE items; --", "\ud83d parser \udc00", ""]
)
def test_no_query_is_syntax(index: Index, query: str) -> None:
    index.take("s", "", "1", some("the parser of the house"))
    found = texts(index, query)
    assert found == (["the parser of the house"] if "parser" in query or "the" in query else [])


@pytest.mark.requirement("M2")
@pytest.mark.usefixtures("vectors")
def test_a_source_is_replaced_whole_and_what_stays_keeps_its_vector(index: Index) -> None:
    index.take("s", "", "1", some("stays", "goes"))
    index.begin_vectors("m")
    put_all(index)
    assert index.take("s", "1", "2", some("stays", "comes"))
    assert sorted(matched(index, "stays goes comes")) == ["comes", "stays"]
    assert index.counts() == (2, 1, "m")
    assert [one.text for one in index.without_vector(9).values()] == ["comes"]


def put_all(index: Index, embedder: str = "m") -> int:
    return sum(
        index.put_vectors(embedder, place, one.hash, vector.encode(direction(n)))
        for n, (place, one) in enumerate(index.without_vector(99).items())
    )


@pytest.mark.requirement("M2")
def test_a_step_that_does_not_begin_where_the_source_stands_changes_nothing(index: Index) -> None:
    assert index.take("s", "", "1", some("first"))
    assert not index.take("s", "", "1", some("first", "again"))
    assert index.counts().items == 1
    assert index.states() == {"s": "1"}


@pytest.mark.requirement("R6")
@pytest.mark.usefixtures("vectors")
def test_cold_is_found_only_when_it_is_asked_for(index: Index) -> None:
    index.take("s", "", "1", some("warm parser"))
    index.take("t", "", "1", some("cold parser", kind=SEGMENT, cold=True))
    index.begin_vectors("m")
    put_all(index)
    near = nearest(index, direction(0)[0], 10, SearchFilter())
    assert matched(index, "parser", SearchFilter()) == {"warm parser"}
    assert matched(index, "parser", EVERY) == {"warm parser", "cold parser"}
    assert matched(index, "parser", SearchFilter((SEGMENT,), cold=True)) == {"cold parser"}
    assert {item.text for item in index.at(near).values()} == {"warm parser"}
    assert texts(index, "parser", SearchFilter()) == ["warm parser"]


@pytest.mark.requirement("M2")
@pytest.mark.usefixtures("vectors")
def test_the_nearest_by_meaning_come_first_and_know_how_near_they_are(index: Index) -> None:
    index.take("s", "", "1", some("aa", "bb", "cc"))
    index.begin_vectors("m")
    assert put_all(index) == 3
    query = vector.unit(direction(0) + 0.5 * direction(1))[0]
    near = nearest(index, query, 2, EVERY)
    ordered = sorted(near, key=lambda place: -near[place])
    assert [item.text for item in (index.at(ordered)[place] for place in ordered)] == ["cc", "bb"]
    said, again = index.scores(words.parse_query("aa bb"), {"m": query}, Many(9, 1), EVERY)
    assert {index.at([place])[place].text for place in said} == {"aa", "bb"}
    assert {index.at([place])[place].text for place in again} == {"aa", "bb", "cc"}
    assert all(abs(again[place].score - near[place]) < 0.02 for place in near)
    assert index.scores(words.parse_query("aa"), {"another": query}, Many(9, 9), EVERY)[1] == {}


@pytest.mark.requirement("M2")
@pytest.mark.usefixtures("vectors")
def test_vectors_of_another_embedder_are_dropped_and_made_again(index: Index) -> None:
    index.take("s", "", "1", some("aa", "bb"))
    index.begin_vectors("old")
    put_all(index, "old")
    index.begin_vectors("old")
    assert index.counts().vectors == 2
    index.begin_vectors("new")
    assert index.counts() == (2, 0, "new")
    assert put_all(index, "old") == 0  # one that was still at work
    assert put_all(index, "new") == 2


@pytest.mark.requirement("M2")
@pytest.mark.usefixtures("vectors")
def test_a_text_that_changed_while_it_was_embedded_gets_no_old_vector(index: Index) -> None:
    index.take("s", "", "1", some("before"))
    index.begin_vectors("m")
    [(place, before)] = index.without_vector(9).items()
    index.take("s", "1", "2", some("after"))
    made = vector.encode(direction(0))
    assert not index.put_vectors("m", place, before.hash, made)
    assert index.counts().vectors == 0


@pytest.mark.requirement("M6")
def test_an_item_comes_back_with_all_that_was_known_of_it(index: Index) -> None:
    item = Item(
        *("turn-x", TURN, "words", 3, "title", "more", "model", False, "s1", "a1", "/t.jsonl"),
        *(4, 6, ("u1", "u2"), "2026-03-01T10:00:00Z", 77),
    )
    index.take("s", "", "1", [item])
    assert index.find("turn-x") == item
    assert index.find("turn-y") is None
    assert index.counts().items == 1


@pytest.mark.requirement("X6", "M2")
def test_two_who_take_in_at_once_leave_each_thing_once(index: Index) -> None:
    """Each step is tried by all; one of them does it."""
    wins: list[int] = []

    def work() -> None:
        for step in range(6):
            since = str(step) if step else ""
            if index.take("s", since, str(step + 1), some(f"text {step}", first=step), (step, 9)):
                wins.append(step)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = index.states()["s"]
    assert sorted(wins) == list(range(int(state)))
    assert index.counts().items == int(state)
