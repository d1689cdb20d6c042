"""`holdfast serve`: the HTTP interface, until it is told to end."""

from __future__ import annotations

from pathlib import Path

import click

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="address to listen on")
@click.option("--port", default=3847, show_default=True, type=click.IntRange(0, 65535))
@click.option("--database", default="", metavar="URL", help="sqlite:///… or postgresql://…")
@click.option("--tls-cert", type=FILE, help="certificate with its chain, PEM")
@click.option("--tls-key", type=FILE, help="its key, PEM")
@click.option("--behind-proxy", is_flag=True, help="a proxy in front has the TLS")
@click.option("--allow-host", multiple=True, metavar="NAME", help="a name requests may use")
def serve(
    host: str,
    port: int,
    database: str,
    tls_cert: Path | None,
    tls_key: Path | None,
    behind_proxy: bool,
    allow_host: tuple[str, ...],
) -> None:
    """Serve what sessions and agents know together, over HTTP."""
    from holdfast.api import serving
    from holdfast.api.address import Address

    address = Address(host, port, tls_cert, tls_key, behind_proxy, allow_host)
    serving.serve(serving.Plan(address, database), lambda words: click.echo(words, err=True))
