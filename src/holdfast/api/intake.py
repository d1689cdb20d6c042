"""`/api/intake`: what the sessions of another machine tell (S4), in order and exactly once."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import AfterValidator, Field

from holdfast.api.answers import Answer, said
from holdfast.api.database import Db
from holdfast.api.fields import Body, Word, storable

router = APIRouter(prefix="/api/intake", tags=["intake"])
MOST_DEEDS = 10_000


Json = Annotated[Any, AfterValidator(storable)]


class Batch(Body):
    """What one window has told between two positions. A position is the sender's own matter."""

    source: Word
    from_: Json = Field(alias="from", default=None)
    to: Json
    deeds: Annotated[list[Any], Field(max_length=MOST_DEEDS), AfterValidator(storable)]


class Taken(Answer):
    """Everything up to this position is kept: go on from here."""

    position: Any


class Elsewhere(Answer):
    error: str
    position: Any


@router.post("", response_model=Taken, responses={409: {"model": Elsewhere}})
async def post(batch: Batch, db: Db) -> Response:
    """Apply a batch whole. 409: this source stands elsewhere, at the position answered."""
    taking = _taking()
    plain = batch.model_dump(by_alias=True)
    try:
        await db.write(lambda c: taking.take(c, plain))
    except taking.Behind as elsewhere:
        return said({"error": "This source stands elsewhere", "position": elsewhere.position}, 409)
    return said({"position": plain["to"]})


def _taking() -> Any:
    return import_module("holdfast.work.take_in")
