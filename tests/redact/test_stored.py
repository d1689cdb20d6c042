"""What is stored is cleaned before it is cut, in its keys and ids too."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.checkpoint.checkpoint_file import clean_document
from holdfast.wire import spool
from tests.checkpoint.documents import a_document
from tests.checkpoint.sessions import Session
from tests.hot.hooks import fire, window
from tests.record.test_secrets import kept

pytestmark = pytest.mark.requirement("X4")
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_keys_and_ids_of_a_checkpoint_are_cleaned_too(tmp_path: Path) -> None:
    given: dict[str, Any] = {"tools_used": {TOKEN: 1}, "agent_states": {TOKEN: {"status": TOKEN}}}
    document = a_document(tmp_path, "a", snapshot=given, session_id=TOKEN, agent_id=TOKEN)
    found = clean_document(document)
    assert TOKEN not in json.dumps([found.snapshot, found.session_id, found.agent_id])


def test_an_id_that_is_not_the_client_s_is_summed_up_in_the_spool() -> None:
    fire("PostToolUse", tool_use_id=TOKEN, tool_name="Bash", tool_response={"stdout": "1"})
    assert TOKEN not in (window() / "spool").read_text()
    assert spool.ident("toolu_01A2b3C4d5E6f7G8h9J0k1L2") == "toolu_01A2b3C4d5E6f7G8h9J0k1L2"


@pytest.mark.parametrize(
    "text",
    ["DB_\x1b[01;31m\x1b[KPASSWORD\x1b[m\x1b[K={}", '\x1b[34m"db_password"\x1b[0m: \x1b[32m"{}"'],
)
def test_a_coloured_secret_is_known_when_quoted_bare(text: str, tmp_path: Path) -> None:
    word = "Tulip9Kettle47x"
    session = Session().user(text.format(word)).says(f"I use {word} there.")
    assert word not in kept(session, tmp_path)
