"""Answers: encoded here, described by models that the tests hold every answer to."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import Response
from pydantic import BaseModel, ConfigDict

from holdfast.api.errors import Slip
from holdfast.hub.store.rows import Page

NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": Slip, "description": "Not found"}}
CONFLICT: dict[int | str, dict[str, Any]] = {409: {"model": Slip, "description": "There already"}}


class ApiAnswer(BaseModel):
    """Only a description: nothing is validated on the way out, `said` encodes it as it is. Its
    schema is made when `/openapi.json` is asked for, not at every start."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


def said(content: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(content), status, media_type="application/json")


def nothing() -> Response:
    return Response(status_code=204)


def paging(page: Page) -> dict[str, int]:
    """`count` is this page's, `total` all there are."""
    return {
        "count": len(page.rows),
        "total": page.total,
        "limit": page.limit,
        "offset": page.offset,
    }


class Paged(ApiAnswer):
    count: int
    total: int
    limit: int
    offset: int
