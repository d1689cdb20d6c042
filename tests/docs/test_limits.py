"""The limits of the interface are written down as they are, and so is every filter."""

from pathlib import Path

import pytest
from fastapi.routing import APIRoute

from holdfast.api import fields, gate
from holdfast.api.app import ROUTES
from holdfast.api.routes import events
from holdfast.brief import item
from holdfast.hub.store import rows
from holdfast.wire.mark import CHARS_PER_TOKEN

PAGE = (Path(__file__).parents[2] / "docs/api.md").read_text()
GETS = [route for route in ROUTES if isinstance(route, APIRoute) and "GET" in (route.methods or ())]


@pytest.mark.requirement("S2")
@pytest.mark.parametrize(
    "words",
    [
        f"{gate.MOST_BODY >> 20} MB",
        f"| {fields.MOST_TEXT:,} characters",
        f"{fields.MOST_JSON:,} characters as JSON, nested {fields.MOST_DEPTH} deep",
        f"| {fields.MOST_ID} characters",
        f"{events.MOST_RECORDS:,} deeds",
        f"counted as far as {rows.MOST_COUNTED:,}",
        f"characters / {CHARS_PER_TOKEN}",
        f"{item.MOST_BRIEF_UNITS:,} UTF-16 units",
        "must not hold a secret",
    ],
)
def test_a_limit_is_written_down_as_it_is(words: str) -> None:
    assert words in PAGE


@pytest.mark.requirement("S2")
@pytest.mark.parametrize("route", GETS, ids=lambda route: str(route.path))
def test_every_filter_of_a_list_is_written_down(route: APIRoute) -> None:
    path = route.path.replace(":text", "").removesuffix("/all")
    lines = [line for line in PAGE.splitlines() if f"{path}`" in line]
    asked = [one for one in route.dependant.query_params if not one.field_info.is_required()]
    names = {one.alias for one in asked} - {"limit", "offset"}
    assert [name for name in names if f"`{name}" not in "".join(lines)] == []
