"""`holdfast serve`: the HTTP interface, until a signal ends it; `holdfast ui`: the dashboard in a
browser; `holdfast mcp` and `holdfast statusline`: what Claude Code starts by itself."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from holdfast.cli.options import DATABASE, FILE, flag
from holdfast.cli.terminal import say
from holdfast.wire.errors import HoldfastError

PORT = 3847
A_PORT = click.IntRange(0, 65535)


@contextmanager
def _with_extra(what: str) -> Iterator[None]:
    """Name the extra that is missing, and how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        from holdfast.files.executable import install_command_for

        words = f"{what} needs the extra `serve` ({error.name} is not installed)"
        raise HoldfastError(words, install_command_for("serve"), 5) from error


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=PORT, show_default=True, type=A_PORT, help="Port to listen on.")
@DATABASE
@click.option("--tls-cert", type=FILE, help="Certificate with its chain (PEM).")
@click.option("--tls-key", type=FILE, help="Key of the certificate (PEM).")
@flag("--behind-proxy", help="A proxy in front does the encryption.")
@click.option(
    "--allow-host", "allowed", multiple=True, metavar="NAME", help="Another host name to accept."
)
@flag("--watch-only", help="Only watch and save sessions, without the server.")
def serve(database: str, watch_only: bool, **address: Any) -> None:
    """Start the HTTP server, for this machine or for a team.

    It also watches every live session and saves it in time. It listens on this machine only, unless
    you give it an address, a certificate and a token. `holdfast ui --no-open` prints a login link.
    """
    if watch_only:
        return _watch(database)
    gc.disable()  # during imports: collecting garbage took 0.1 s of 1
    with _with_extra("the HTTP interface"):
        from holdfast.api import server

    def say_link(link: str) -> None:
        say(f"the dashboard, for one login within five minutes: {link}", err=True)

    # on a terminal only: in the journal of a service others could read the link
    link = say_link if sys.stderr.isatty() else None
    plan = server.Plan(server.Address(**address), database, link)
    server.serve(plan, lambda words: say(words, err=True))


def _watch(database: str) -> None:
    """Watch until SIGINT or SIGTERM. If another process is watching, wait for its end first."""
    import signal

    from holdfast.cli.start import until_signalled
    from holdfast.hub.store.store import Store
    from holdfast.watcher import loop

    if other := loop.holder():
        say(f"{loop.describe_holder(other)} watches already; waiting for its end", err=True)

    def tell_started() -> None:
        say("watching every live session; Ctrl-C stops it", err=True)

    with until_signalled(signal.SIGINT, signal.SIGTERM) as ended:
        loop.run(ended, lambda: Store.open(database), tell_started=tell_started)
    say("ended; every checkpoint taken is verified", err=True)


@click.command()
def mcp() -> None:
    """Serve the tools for the model over stdin and stdout. Claude Code starts this by itself."""
    from holdfast.mcp.server import serve

    serve()


@click.command()
def statusline() -> None:
    """Print the status line for a payload on stdin. Claude Code starts this by itself."""
    from holdfast.events import status_line
    from holdfast.wire import scan

    data = sys.stdin.buffer.read()
    click.echo(status_line.show(scan.parse_object(data), data), nl=False, color=True)


@click.command()
@click.option("--port", type=A_PORT, help="Port (default: the running server's, else 3847).")
@flag("--no-open", help="Print the link and do not open a browser.")
def ui(port: int | None, no_open: bool) -> None:
    """Open the dashboard: every session, and what compactions left out.

    The link logs one browser in, once, within five minutes. If no server of yours runs on this
    machine, it starts one, which ends with Ctrl-C.
    """
    with _with_extra("the dashboard"):
        from holdfast.api import login, server

    def show(link: str) -> None:
        click.echo(link)
        if not (no_open or _opened(link)):
            say("open this link in a browser; it works once, for five minutes", err=True)

    def start() -> None:
        plan = server.Plan(server.Address("127.0.0.1", port or PORT), "", show)
        server.serve(plan, lambda words: say(words, err=True))

    if link := login.link_or_serve(port or PORT, start, on_any_port=port is None):
        show(link)


def _opened(link: str) -> bool:
    """Open a browser if there is a screen: a text browser would take over the terminal."""
    if sys.platform != "darwin" and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        return False
    import webbrowser

    return webbrowser.open(link)
