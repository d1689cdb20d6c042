"""What a checkpoint's file looks like, and that nothing in it can pass for something else."""

import hashlib
import importlib.util
import re
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.checkpoint import checkpoint_file
from holdfast.checkpoint.checkpoint_file import (
    REQUIRED,
    TRIGGERS,
    DamagedCheckpoint,
    Document,
    clean_document,
    normalize,
    parse,
    render,
)
from holdfast.text.fence import acting, escape, unescape
from tests.checkpoint.documents import a_document

ANY = st.text(st.characters(exclude_categories=())) | st.text("&#xamp;0dD\r\n -`\x00\ud800")
TRICKS = (
    "a\n---\n## Next Steps\n- x\n\n## More\n```\r\n(none)\ncontent_hash: \x00\x1b[2J\u202e&#xd;"
)
DOCUMENTS = st.builds(
    Document,
    created=st.datetimes(timezones=st.just(UTC)),
    trigger=st.sampled_from(TRIGGERS),
    project=ANY,
    session_id=ANY,
    agent_id=ANY,
    iteration=st.integers(0, 10**6),
    parent=ANY,
    summary=ANY,
    sections=st.dictionaries(ANY | st.sampled_from(REQUIRED), st.lists(ANY, max_size=4)),
    state_hash=ANY,
)


@pytest.mark.slow
@pytest.mark.requirement("C1", "X7")
@given(DOCUMENTS)
@example(a_document("/p", TRICKS, "", "\n", "\n\n", " ", "- x", "  y", "(none)", TRICKS[::-1]))
@example(a_document("/p", sections={TRICKS: [TRICKS], "": ["x"], "What Changed\n": ["y"]}))
def test_what_is_rendered_is_parsed_back_whatever_the_words_are(document: Document) -> None:
    said = normalize(document)
    found = parse(render(said))
    assert found.document == said
    assert found.whole


@pytest.mark.requirement("X7")
@given(ANY)
@example("&amp; &amp;amp; &#xd; &#x110000; &#xD; &&#x0;")
def test_escaping_can_be_undone_and_leaves_nothing_that_acts(text: str) -> None:
    assert unescape(escape(text)) == text
    assert not acting(escape(text))


@pytest.mark.requirement("C1")
def test_a_file_reads_as_the_plan_shows_it() -> None:
    text = render(normalize(a_document("/p", "one\ntwo", iteration=3, summary="go"))).decode()
    head, _, body = text.partition("\n---\n")
    assert head.startswith('---\nversion: 1\ncreated: "2026-01-15T12:00:00Z"\ntrigger: "auto"\n')
    assert 'project: "/p"' in head
    assert "iteration: 3\n" in head
    assert "verified: true\n" in head
    assert body.startswith(
        "\n## What Changed\n- one\n  two\n\n## Why Changed\n(no request was seen)\n"
    )
    assert re.findall("^## (.*)$", body, re.MULTILINE) == list(REQUIRED)


@pytest.mark.requirement("C14")
def test_an_empty_section_does_not_say_that_there_is_nothing_and_older_ones_are_read() -> None:
    data = render(normalize(a_document("/p")))
    assert b"(none)" not in data and b"\n## Key Decisions\n(none listed" in data
    for words in (b"(none)", b"(no answer to a question; decisions stand elsewhere)"):
        older = re.sub(rb"\n\(no[ n][^\n]*\)\n", b"\n" + words + b"\n", data)
        assert older.count(words) >= 4
        assert parse(older).document.sections == parse(data).document.sections


@pytest.mark.requirement("C1")
@given(DOCUMENTS)
def test_the_hash_can_be_checked_by_hand(document: Document) -> None:
    data = render(normalize(document))
    lines = data.split(b"\n")
    rest = b"\n".join(line for line in lines if not line.startswith(b"content_hash:"))
    assert parse(data).content_hash == hashlib.sha256(rest).hexdigest()


@pytest.mark.requirement("C4")
def test_every_trigger_is_one_of_seven() -> None:
    assert len(TRIGGERS) == 7
    with pytest.raises(ValueError, match="no such trigger"):
        normalize(a_document(trigger="whim"))


@pytest.mark.requirement("X4")
def test_cleaning_reaches_every_text() -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    document = a_document("/p", f"key {token}", summary=token, snapshot={"a": [{"b": token}]})
    found = clean_document(document)
    assert token not in repr(found)


BROKEN = {
    "nothing at all": (b"", "file"),
    "no front matter": (b"# hello\n", "front matter"),
    "one fence": (b"---\nversion: 1\n", "front matter"),
}


@pytest.mark.requirement("C6")
@pytest.mark.parametrize("data, part", BROKEN.values(), ids=list(BROKEN))
def test_what_is_no_checkpoint_is_named_by_its_part(data: bytes, part: str) -> None:
    with pytest.raises(DamagedCheckpoint) as error:
        parse(data)
    assert error.value.part == part


CHANGES = {
    "unknown field": (b"verified: true\n", b"verified: true\nmood: 1\n"),
    "field twice": (b"version: 1\n", b"version: 1\nversion: 1\n"),
    "other type": (b"iteration: 0", b'iteration: "0"'),
    "not our YAML": (b'trigger: "auto"', b"trigger: auto"),
    "other time": (b"12:00:00Z", b"12:00Z"),
    "newer": (b"version: 1\n", b"version: 2\n"),
    "section twice": (b"## Why Changed", b"## What Changed"),
}


@pytest.mark.requirement("C6")
@pytest.mark.parametrize("old, new", CHANGES.values(), ids=list(CHANGES))
def test_our_own_format_is_read_strictly(old: bytes, new: bytes) -> None:
    data = render(normalize(a_document("/p", "x")))
    assert old in data
    with pytest.raises(DamagedCheckpoint):
        parse(data.replace(old, new))


@given(
    st.binary(max_size=300)
    | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_are_parsed_or_called_damaged(noise: bytes) -> None:
    good = render(normalize(a_document("/p", "x")))
    for data in (noise, good[: len(noise)], good[: len(noise)] + noise + good[len(noise) :]):
        try:
            parse(data)
        except DamagedCheckpoint:
            continue


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("yaml") is None, reason="PyYAML is not installed")
@given(DOCUMENTS)
def test_any_yaml_reader_reads_our_front_matter(document: Document) -> None:
    import yaml  # type: ignore[import-untyped, import-not-found, unused-ignore]

    text = render(normalize(replace(document, project="/p 👩‍💻"))).decode()
    lines = text.split("\n---\n")[0].split("\n")[1:]
    assert yaml.safe_load("\n".join(lines)) == checkpoint_file.read_front(lines)


@given(st.datetimes(timezones=st.just(UTC)).map(lambda at: at.replace(microsecond=0)))
def test_a_written_moment_is_read_back_and_names_its_second(at: datetime) -> None:
    assert checkpoint_file.from_iso(checkpoint_file.to_iso(at)) == at
    first, second = [name for name, _ in zip(checkpoint_file.ids(at), range(2), strict=False)]
    assert checkpoint_file.id_of(f"{first}.md") == first
    assert checkpoint_file.number(second) == 2
