"""`holdfast ui`: the dashboard in a browser, with a server for as long as it runs."""

from __future__ import annotations

import os
import sys

import click

from holdfast.cli.team.serve import NotInstalled
from holdfast.cli.terminal import say

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


@click.command()
@click.option(
    "--port",
    default=3847,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="Port of the server.",
)
@click.option("--database", default="", metavar="URL", help="sqlite:///… or postgresql://…")
@click.option("--no-open", is_flag=True, help="Print the link and do not open a browser.")
def ui(port: int, database: str, no_open: bool) -> None:
    """Open the dashboard."""
    try:
        from holdfast.api import link_client, server
    except ModuleNotFoundError as error:
        raise NotInstalled(f"the dashboard needs {error.name}, which is not installed") from error
    from holdfast.api.address import Address

    def show(link: str) -> None:
        click.echo(link)
        if not (no_open or _opened(link)):
            say("open this link in a browser; it works once, for five minutes", err=True)

    found = link_client.running_link(port)
    if found:
        return show(found)
    plan = server.Plan(Address("127.0.0.1", port), database, show)
    server.serve(plan, lambda words: say(words, err=True))


def _opened(link: str) -> bool:
    """Only where there is a screen: a browser of the terminal would take it over."""
    if sys.platform != "darwin" and not any(os.environ.get(name) for name in SCREENS):
        return False
    import webbrowser

    return webbrowser.open(link)
