"""`/api/budget`: what the brief of a session would hold now; pin, unpin, evict."""

from __future__ import annotations

from dataclasses import asdict
from types import GenericAlias
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from fastapi import Path, Query, Response
from pydantic import Field

from holdfast.api.fields import MOST_ID, Body, Word, WordQuery, Words
from holdfast.api.responses import Router, answer, respond
from holdfast.api.routes.machine.files import local_window, read_files
from holdfast.budget import ledger
from holdfast.budget.compartments import NAMES, PREFERENCES
from holdfast.budget.ledger import API, InvalidPin, NoSuchPin, Pin, TooManyPins
from holdfast.hub import row_times
from holdfast.hub.errors import NotThere, Refused
from holdfast.session import window_budget
from holdfast.transcript import Unreadable
from holdfast.window.state import State

router = Router(prefix="/api/budget", tags=["budget"])
SessionQuery = Annotated[str, Query(min_length=1, max_length=MOST_ID)]
ItemPath = Annotated[str, Path(pattern=r"^[0-9a-f]{1,8}$")]


Compartment = Annotated[str, Field(pattern=f"^({'|'.join(NAMES)})$")]


def _answer_of(name: str, source: type, **nested: Any) -> Any:
    """Make the model of an answer that shows each field of a class; JSON has lists, no tuples.
    `nested`: the models of the items, for fields that are lists."""
    kinds = get_type_hints(source)
    for key, kind in kinds.items():
        if get_origin(kind) is tuple:
            kinds[key] = GenericAlias(list, nested.get(key) or get_args(kind)[0])
    return answer(name, **kinds)


BudgetItem = _answer_of("BudgetItem", window_budget.BriefEntry)
BudgetPart = _answer_of("BudgetPart", window_budget.CompartmentUse, items=BudgetItem)
BudgetPin = _answer_of("BudgetPin", Pin)
BudgetShown = _answer_of(
    "BudgetShown", window_budget.BudgetStatus, parts=BudgetPart, pins=BudgetPin
)


EvictedItem = answer("EvictedItem", "id:str")


class NewPin(Body):
    """`scope`: the project of the session, or this session alone."""

    text: Words
    session_id: Word
    scope: Literal["project", "session"] = "project"
    compartment: Compartment = PREFERENCES


class Eviction(Body):
    session_id: Word
    item_id: Word


@router.get("", response_model=BudgetShown)
async def get(session_id: SessionQuery, agent: WordQuery = None) -> Response:
    """The five compartments of the brief as it would be now, and what is in each."""
    state, folder = await local_window(session_id, agent or "")
    found = await _call(window_budget.status, state, folder, row_times.now_ms())
    return respond({**asdict(found), "pins": [one.plain() for one in found.pins]})


@router.post("/pins", status_code=201, response_model=BudgetPin)
async def pin(body: NewPin) -> Response:
    """Put a text into every brief of its scope, until it is unpinned. The brief says that it was
    pinned over the API."""
    state, _ = await local_window(body.session_id)
    made = await _call(_pin, body, state)
    return respond(made.plain(), 201)


@router.delete("/pins/{pin_id}", response_model=BudgetPin)
async def unpin(pin_id: ItemPath, session_id: SessionQuery) -> Response:
    state, _ = await local_window(session_id)
    gone = await _call(ledger.unpin, pin_id, project=state.project, session_id=state.session_id)
    return respond(gone.plain())


@router.post("/evictions", status_code=201, response_model=BudgetItem)
async def evict(body: Eviction) -> Response:
    """Leave an item out of the briefs of this session, unless it changes."""
    state, folder = await local_window(body.session_id)
    return respond(asdict(await _call(window_budget.evict, body.item_id, state, folder)), 201)


@router.delete("/evictions/{item_id}", response_model=EvictedItem)
async def readmit(item_id: ItemPath, session_id: SessionQuery) -> Response:
    """Take an eviction back."""
    state, _ = await local_window(session_id)
    back = await _call(ledger.readmit, item_id, session_id=state.session_id)
    return respond({"id": back})


def _pin(body: NewPin, state: State) -> Pin:
    return ledger.pin(
        body.text,
        now_ms=row_times.now_ms(),
        compartment=body.compartment,
        scope=body.scope,
        project=state.project,
        session_id=state.session_id,
        by=API,
    )


async def _call(act: Any, *args: Any, **more: Any) -> Any:
    try:
        return await read_files(act, *args, **more)
    except NoSuchPin as error:
        raise NotThere("Pin or item", str(error)) from error
    except (InvalidPin, TooManyPins) as error:
        raise Refused(str(error), "text") from error
    except (OSError, Unreadable) as error:
        raise NotThere("Transcript of the session") from error
