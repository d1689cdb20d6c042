"""`holdfast mcp`: tools for the model, over stdio. The client starts it, and ends it."""

from __future__ import annotations

import click


@click.command()
def mcp() -> None:
    """Serve Holdfast's tools to an MCP client over stdin and stdout."""
    from holdfast.mcp.server import serve

    serve()
