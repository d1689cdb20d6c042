"""Topics at the border: the built-in ones and those registered when the server started."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field

from holdfast.api.fields import Word
from holdfast.hub.board import topics


async def _known(request: Request) -> frozenset[str]:
    found: frozenset[str] = request.app.state.topics
    return found


Topic = Annotated[
    Word,
    Field(
        description="built in, or registered in the setting `topics`",
        examples=list(topics.BUILT_IN),
    ),
]
Topics = Annotated[frozenset[str], Depends(_known)]


def must_know(known: frozenset[str], topic: str, where: str = "body") -> None:
    """An unknown topic is told as any other field that does not fit."""
    if topic not in known:
        slip = {"type": "value_error", "loc": (where, "topic"), "msg": topics.unknown(topic)}
        raise RequestValidationError([slip])
