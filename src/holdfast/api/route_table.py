"""Finds the route of a request. A module of routes is imported at the first request for one of its
addresses: importing all of them took a third of the time in which `serve` starts.

An address is the first two parts of a path, `/api/tasks`. Only the routes at the address of a
request are tried, each of which takes 2 µs; there are a hundred in all.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence

from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from holdfast.api import routes
from holdfast.api.responses import Router


class Listed:
    """A router that is imported when it is needed. `name` is `module:name` within `routes/`."""

    def __init__(self, name: str, *addresses: str) -> None:
        self._name = name
        self.addresses = addresses

    @property
    def routes(self) -> list[BaseRoute]:
        router = pkgutil.resolve_name(f"{routes.__name__}.{self._name}")
        assert isinstance(router, Router)
        return router.routes


class RouteTable(BaseRoute):
    """One route for the framework, which hands each request to the route that it is for."""

    def __init__(self, routers: Sequence[Listed]) -> None:
        self._routers = routers
        self._loaded: dict[str, list[BaseRoute]] = {}
        self._addresses = {one for router in routers for one in router.addresses}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return the first route that fits, else the first that fits but for its method."""
        fitting: tuple[Match, Scope] = Match.NONE, {}
        for route in self.routes_at(scope["path"]):
            match, child_scope = route.matches(scope)
            if match is Match.FULL:
                return match, child_scope
            if fitting[0] is Match.NONE:
                fitting = match, child_scope
        return fitting

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`scope["route"]` is what `matches` found."""
        await scope["route"].handle(scope, receive, send)

    def routes_at(self, path: str) -> list[BaseRoute]:
        address = "/".join(path.split("/", 3)[:3])
        if address in self._addresses and address not in self._loaded:
            here = (router for router in self._routers if address in router.addresses)
            self._loaded[address] = [route for router in here for route in router.routes]
        return self._loaded.get(address, [])
