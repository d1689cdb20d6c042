"""Tickets that log a browser in, and the link that carries one: `routes/login` exchanges them."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass, field

from holdfast.api.gate import Token
from holdfast.api.pages import PLACE

GOOD_SECONDS = 300.0
MOST_TICKETS = 100


@dataclass(slots=True)
class Tickets:
    """Valid tickets, by hash: each works once, for five minutes."""

    token: Token | None = None
    out: dict[bytes, float] = field(default_factory=dict)

    def new(self) -> str:
        ticket = secrets.token_urlsafe(24)
        self.out[_hashed(ticket)] = time.monotonic() + GOOD_SECONDS
        while len(self.out) > MOST_TICKETS:
            del self.out[next(iter(self.out))]
        return ticket

    def take(self, ticket: str) -> bool:
        until = self.out.pop(_hashed(ticket), 0.0)
        return time.monotonic() < until

    def current_token(self) -> str:
        """The token; empty if the server needs none."""
        return self.token() if callable(self.token) else self.token or ""


def _hashed(ticket: str) -> bytes:
    return hashlib.sha256(ticket.encode("utf-8", "replace")).digest()


def link(base: str, ticket: str) -> str:
    return f"{base.rstrip('/')}{PLACE}#/login?ticket={ticket}"
