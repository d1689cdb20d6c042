"""`/api/login`: exchange a link that works once for the token.

A page in a browser cannot read the file that holds the token. A program that can, such as `holdfast
ui`, requests a ticket and opens a link with it; the page sends the ticket and gets the token. The
ticket is in the fragment of the link, which no browser sends to a server.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Request, Response
from pydantic import Field

from holdfast.api.fields import Body
from holdfast.api.gate import NO_TOKEN
from holdfast.api.login_tickets import GOOD_SECONDS, Tickets, link
from holdfast.api.responses import ApiAnswer, Router, respond
from holdfast.hub import row_times

router = Router(prefix="/api/login", tags=["login"])
NOT_GOOD = "This link was used already, or is too old: holdfast ui makes another"


class LoginTicket(Body):
    ticket: Annotated[str, Field(min_length=1, max_length=200)]  # not `Text`: that would redact it


class LoginToken(ApiAnswer):
    """The token; empty if this server needs none."""

    token: str


class NewTicket(ApiAnswer):
    ticket: str
    expires_at: str
    link: str


@router.post("", response_model=LoginToken)
async def login(body: LoginTicket, request: Request) -> Response:
    """Exchange a ticket for the token. This request needs no token."""
    tickets: Tickets = request.app.state.tickets
    if tickets.token is None:
        return respond({"token": ""})
    if not tickets.take(body.ticket):
        return respond({"error": NOT_GOOD}, NO_TOKEN.status)
    return respond({"token": tickets.current_token()})


@router.post("/tickets", status_code=201, response_model=NewTicket)
async def ticket(request: Request) -> Response:
    """A ticket that works once, for five minutes, and the link to open in a browser."""
    tickets: Tickets = request.app.state.tickets
    made = tickets.new()
    until = row_times.now_ms() + int(GOOD_SECONDS * 1000)
    where = link(str(request.base_url), made)
    return respond({"ticket": made, "expires_at": row_times.to_iso(until), "link": where}, 201)
