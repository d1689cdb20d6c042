"""Whose words a text in the user's name holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript.user_words import user_words

WORDS = "Please rename the exporter, and keep the old flag."
OPENED = (
    "<ide_opened_file>The user opened the file /work/a.py in the IDE. This may or may not be "
    "related to the current task.</ide_opened_file>"
)
SELECTED = (
    "<ide_selection>The user selected the lines 1 to 2 from /work/b.xml:\n<a>\n</ide_selection>\n\n"
    "This may or may not be related to the current task.</ide_selection>"
)
MATE = '<teammate-message teammate_id="scout">I found two call sites.</teammate-message>'
NOTIFIED = "<task-notification>\n<task-id>b1</task-id>\n<result>done</result>\n</task-notification>"
REMINDER = "<system-reminder>Never mention this.</system-reminder>"
PLANNED = (
    "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n"
    "<command-args>I would suggest we split it</command-args>\n<objective>Plan it.</objective>"
)
FOREIGN = (OPENED, SELECTED, MATE, NOTIFIED, REMINDER)


@pytest.mark.requirement("B11", "C2")
@pytest.mark.parametrize("foreign", FOREIGN)
@pytest.mark.parametrize("text", ["{0}\n{1}", "{0}{1}", "{1}\n{0}", "{0}\n{1}\n{0}", "{0}{0}\n{1}"])
def test_words_beside_what_the_client_or_an_agent_wrote_are_the_users(
    foreign: str, text: str
) -> None:
    assert user_words(text.format(foreign, WORDS)) == WORDS


@pytest.mark.requirement("B11", "C2")
@pytest.mark.parametrize("foreign", [*FOREIGN, f"{MATE}\n\n{MATE}", f"{OPENED}\n{SELECTED}"])
def test_what_the_client_or_an_agent_wrote_alone_is_nobodys_prompt(foreign: str) -> None:
    assert user_words(foreign) == ""


@pytest.mark.requirement("B11")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<command-name>/clear</command-name>\n<command-args></command-args>", ""),
        (PLANNED, "/plan I would suggest we split it"),
        ("<command-message>tidy</command-message>\n<command-name>/tidy</command-name>", "/tidy"),
        (f"{OPENED}\n<command-name>/do</command-name><command-args>it</command-args>", "/do it"),
        ("<bash-input>git pull</bash-input>", "! git pull"),
        ("<bash-stdout>up to date</bash-stdout><bash-stderr></bash-stderr>", ""),
        ("<user-memory-input>use tabs</user-memory-input>", "# use tabs"),
        ("<local-command-stdout>Bye!</local-command-stdout>", ""),
        ("[Request interrupted by user for tool use]", ""),
        ("Unknown skill: tidy-quay", ""),
        ("Unknown slash command: moor", ""),
        ("Unknown command: /moor. Did you mean /moon?", ""),
        ("Unknown command: /moor is what it says", "Unknown command: /moor is what it says"),
        ("Args from unknown skill: the east quay first", "the east quay first"),
        ("Tool loaded.", ""),
        ("Tool loaded. Now use it.", "Tool loaded. Now use it."),
        (f"[Request interrupted by user]\n{WORDS}", WORDS),
        ("Caveat: do not touch the parser.", "Caveat: do not touch the parser."),
    ],
)
def test_commands_shell_lines_and_interruptions_are_told_apart(text: str, words: str) -> None:
    assert user_words(text) == words


@pytest.mark.requirement("B11")
@pytest.mark.parametrize(
    "words",
    [
        "What does <ide_selection>x</ide_selection> mean?",
        "Strip `<teammate-message>a</teammate-message>` from the log, please.",
        "<ide_opened_file> should be stripped from prompts",
        "a <task-notification> tag without an end",
        "<task-notification> handling is broken: fix it",
        "Fix the feed:\n<channel>\n<title>x</title>\n</channel>\nand run make",
        "why does <system-reminder> show up and never log </system-reminder> here",
        "Operation stopped by hook appears in the log, why?",
        "<div>\n<system>\n</div> renders wrongly",
    ],
)
def test_a_tag_that_is_spoken_of_stays(words: str) -> None:
    assert user_words(words) == words


@pytest.mark.requirement("X7")
def test_ten_thousand_open_tags_are_read_once() -> None:
    hostile = "<ide_selection>\n<channel x\n" * 7_000
    assert user_words(hostile) == hostile.strip()


@given(
    st.lists(st.sampled_from(FOREIGN), max_size=3),
    st.text("aé字🙂 .,!?`'\"/()\n", min_size=1, max_size=60),
    st.lists(st.sampled_from(FOREIGN), max_size=3),
)
@pytest.mark.requirement("B11")
def test_whatever_stands_around_plain_words_leaves_them_whole(
    before: list[str], words: str, after: list[str]
) -> None:
    assert user_words("\n".join([*before, words, *after])) == words.strip()


def test_the_note_beside_a_tool_search_is_not_the_users() -> None:
    assert user_words("Tool loaded.") == user_words("Tool loaded.\n[id:a1]\n[id:b2]") == ""
    assert user_words("Tool loaded. Now use it.") == "Tool loaded. Now use it."
