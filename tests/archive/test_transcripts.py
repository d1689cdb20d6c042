"""Transcripts outlive the client's own clean-up: whole, without secrets, within their room."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from holdfast.archive import transcripts
from holdfast.archive.save_transcripts import Cleaner, SaveResult, hold_archive, save_all
from holdfast.archive.transcripts import damage
from holdfast.redact.find import redact
from holdfast.transcript.reader import read
from tests.archive.sessions import (
    ROOM,
    TOKEN,
    a_session,
    aged,
    agent_path,
    archived_text,
    session_path,
)
from tests.builders import a_prompt, a_result, a_transcript
from tests.redact.samples import SECRETS

pytestmark = pytest.mark.requirement("R9")


def _grow(path: Path, *lines: dict[str, object], days_old: float = -1) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    aged(path, days_old)


def test_a_transcript_is_copied_to_the_byte() -> None:
    path = a_session()
    assert save_all(ROOM).written == 1
    assert archived_text(path) == path.read_text(encoding="utf-8")
    about = transcripts.read_header(transcripts.copy_of(str(path)))
    assert about is not None
    assert (about.session_id, about.project, about.lines) == ("s1", "/p", 2)
    assert about.asked == "paint the s1 fence"


def test_subagents_are_copied_beside_their_session() -> None:
    a_session()
    own = a_transcript(agent_path(), a_prompt("look at the gate"))
    assert save_all(ROOM).written == 2
    assert "look at the gate" in archived_text(own)
    [session] = transcripts.sessions()
    assert len(session.files) == 2


def test_a_line_still_being_written_waits_for_its_end() -> None:
    path = a_session()
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole + '{"type":"user","mess', encoding="utf-8")
    save_all(ROOM)
    assert archived_text(path) == whole
    path.write_text(whole + json.dumps(a_prompt("now it ends")) + "\n", encoding="utf-8")
    aged(path, -1)
    save_all(ROOM)
    assert archived_text(path) == path.read_text(encoding="utf-8")


def test_a_file_that_became_shorter_does_not_replace_the_longer_copy() -> None:
    path = a_session("s1", a_prompt("first"), a_prompt("second"))
    before = path.read_text(encoding="utf-8")
    save_all(ROOM)
    a_session("s1", a_prompt("x"), days_old=-1)
    save_all(ROOM)
    assert archived_text(path) == before


@pytest.mark.slow
@pytest.mark.requirement("X4")
@pytest.mark.parametrize(
    "dress",
    [
        a_prompt,
        lambda text: a_result("t1", f"before\n{text}\nafter"),
        lambda text: a_result("t1", json.dumps({"said": text})),
        lambda text: {**a_prompt(), "toolUseResult": {text: {"of": "a map"}}},
    ],
    ids=["prompt", "result", "JSON in a result", "key"],
)
def test_a_secret_of_any_kind_we_know_is_gone_wherever_it_stands(
    dress: Callable[[str], dict[str, Any]],
) -> None:
    """Each in a transcript of its own: no other line helps to know it."""
    made = [make(Random(7)) for make in SECRETS.values()]
    known = [one for one in made if one[1] not in redact(one[0])]
    assert len(known) > len(made) * 0.9
    for text, secret in known:
        line = json.dumps(dress(text)).encode() + b"\n"
        [clean] = Cleaner().without([line])
        said = json.loads(clean)
        parts = [part for part in secret.split("\n") if len(part) > 8 and "---" not in part]
        assert not [part for part in parts or [secret] if part.encode() in clean], text
        assert said.keys() == json.loads(line).keys() and said["uuid"] == dress(text)["uuid"]


@pytest.mark.requirement("X7")
def test_a_line_nested_too_deep_does_no_harm() -> None:
    deep = '{"a":' * 5_000 + "1" + "}" * 5_000 + "\n"
    mild = '{"type":"user","a":' + '{"a":' * 700 + f'"{TOKEN}"' + "}" * 701 + "\n"
    path = a_transcript(session_path(), a_prompt("first"), deep, mild, a_prompt("last"))
    assert save_all(ROOM).written == 1
    text = archived_text(path)
    assert "first" in text and "last" in text and TOKEN not in text


@pytest.mark.requirement("X4")
def test_a_secret_named_later_is_gone_from_earlier_lines_too() -> None:
    bare = "kQ7rT2mX9vB4nL8s"
    path = a_session("s1", a_prompt(f"I tried {bare} first"), a_prompt("go on"))
    save_all(ROOM)
    assert bare in archived_text(path), "nothing tells that it is one"
    _grow(path, a_prompt(f"my password is: {bare}"))
    save_all(ROOM)
    assert bare not in archived_text(path)
    _grow(path, a_prompt(f"again {bare}"), days_old=-2)
    save_all(ROOM)
    assert bare not in archived_text(path)
    assert len(list(read(transcripts.copy_of(str(path))))) == 4


def test_files_and_folders_are_the_users_alone() -> None:
    a_session()
    a_transcript(agent_path(), a_prompt())
    old = os.umask(0o022)
    try:
        save_all(ROOM)
    finally:
        os.umask(old)
    for one in [Path(transcripts.folder()), *Path(transcripts.folder()).rglob("*")]:
        assert stat.S_IMODE(one.stat().st_mode) & 0o077 == 0, one


def test_beyond_its_room_the_oldest_sessions_go_first_and_stay_away() -> None:
    noise = [os.urandom(3000).hex() for _ in range(4)]  # does not compress to nothing
    for days, words in enumerate(noise):
        a_session(f"s{days}", a_prompt(words), days_old=days)
    save_all(ROOM)
    sizes = [one.bytes for one in transcripts.sessions()]
    save_all(sizes[0] + sizes[1] + 10)
    assert [one.id for one in transcripts.sessions()] == ["s0", "s1"]
    assert save_all(sizes[0] + sizes[1] + 10).written == 0, "those removed are not copied again"
    assert save_all(ROOM).written == 2, "with more room they are"


def test_one_larger_than_all_the_room_pushes_out_no_other() -> None:
    old = [a_session(f"s{days}", days_old=days) for days in (3, 4)]
    save_all(9_000)
    for path in old:
        path.unlink()
    large = a_session("large", a_prompt(os.urandom(20_000).hex()))
    done = save_all(9_000)
    assert not done.written and str(large) in done.errors[0]
    assert [one.id for one in transcripts.sessions()] == ["s3", "s4"]
    a_session("s2", days_old=2)
    assert save_all(9_000).written == 1, "nor does it keep away those that changed before it"


def _cut(path: Path) -> Path:
    """Its copy, cut to half, as if no one had touched it."""
    place = Path(transcripts.copy_of(str(path)))
    told, data = place.stat(), place.read_bytes()
    place.write_bytes(data[: len(data) // 2 + 200])
    os.utime(place, ns=(told.st_atime_ns, told.st_mtime_ns))
    return place


@pytest.mark.parametrize("grows", [True, False])
def test_a_damaged_copy_is_written_anew(grows: bool) -> None:
    path = a_session("s1", *(a_prompt(os.urandom(200).hex()) for _ in range(30)))
    save_all(ROOM)
    place = _cut(path)
    assert "of 30 lines can be read" in damage(str(place))
    if grows:
        _grow(path, a_prompt("later words"))
    else:
        os.utime(place)
    assert save_all(ROOM).written == 1
    assert archived_text(path) == path.read_text(encoding="utf-8")
    assert not damage(str(place))


def test_what_the_user_removed_is_not_archived_again() -> None:
    path = a_session()
    save_all(ROOM)
    transcripts.remove(transcripts.find_session("s1"))
    _grow(path, a_prompt("more"))
    assert save_all(ROOM).written == 0
    assert transcripts.sessions() == []
    path.unlink()
    save_all(ROOM)
    assert not list(Path(transcripts.folder()).glob("*/*")), "nothing is left of it"


def test_links_are_not_followed(tmp_path: Path) -> None:
    elsewhere = a_transcript(tmp_path / "private.jsonl", a_prompt("not of a session"))
    session_path().parent.mkdir(parents=True)
    session_path("s9").symlink_to(elsewhere)
    assert save_all(ROOM).written == 0


def test_while_another_process_saves_nothing_is_saved_twice() -> None:
    a_session("s1")
    with hold_archive():
        assert save_all(ROOM, 0.01) == SaveResult()
    assert save_all(ROOM, 60).written == 1
