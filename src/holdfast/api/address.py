"""Where a server may listen: on loopback, or on another address with TLS or behind a proxy that has
it.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

from holdfast.api.gate import LOOPBACK
from holdfast.wire.errors import HoldfastError

WILDCARDS = ("0.0.0.0", "::", "")


class NotSafe(HoldfastError):
    """Others could reach the server without encryption."""

    exit_code = 3


class CannotListen(HoldfastError):
    exit_code = 5


class PortTaken(CannotListen):
    """Something else listens there."""


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int
    tls_cert: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False
    allowed: tuple[str, ...] = ()  # further host names we answer to

    @property
    def scheme(self) -> str:
        return "https" if self.tls_cert else "http"

    @property
    def is_loopback(self) -> bool:
        return all(ipaddress.ip_address(one).is_loopback for one in _resolve(self.host))

    @property
    def names(self) -> frozenset[str]:
        own = {self.host.strip("[]").lower()} - set(WILDCARDS)
        here = {socket.gethostname().lower()} if not own else set()
        return LOOPBACK | own | here | {name.lower() for name in self.allowed}


def assert_safe(address: Address, *, needs_token: bool) -> None:
    """Refuse an address that would leave the machine unprotected."""
    if bool(address.tls_cert) != bool(address.tls_key):
        raise NotSafe("--tls-cert and --tls-key belong together")
    if not needs_token and (address.behind_proxy or not address.is_loopback):
        error = NotSafe("HOLDFAST_API_AUTH=off is for this machine alone")
        error.hint = "unset it, or serve on 127.0.0.1 without --behind-proxy"
        raise error
    if not (address.is_loopback or address.tls_cert or address.behind_proxy):
        error = NotSafe(f"{address.host} can be reached by others, and nothing would be encrypted")
        error.hint = "--tls-cert FILE --tls-key FILE; or --behind-proxy, where a proxy has the TLS"
        raise error
    if address.tls_cert:
        load_tls(address)


def bind(address: Address) -> socket.socket:
    """Bind the port first, so that nothing else is touched if it is taken."""
    family, kind, proto, _, where = _look_up(address.host, address.port)[0]
    found = socket.socket(family, kind, proto)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        found.bind(where)
        found.listen()  # binding alone lets a second server bind too; who comes early waits here
        return found
    except OSError as error:
        found.close()
        raise _in_words(address, error) from error


def _in_words(address: Address, error: OSError) -> CannotListen:
    if error.errno == errno.EADDRINUSE:
        taken = PortTaken(f"port {address.port} on {address.host} is taken")
        taken.hint = f"is a server running already? else another port: --port {address.port + 1}"
        return taken
    found = CannotListen(f"cannot listen on {address.host}:{address.port}: {error.strerror}")
    found.hint = "a port from 1024 on, and an address of this machine"
    return found


def _resolve(host: str) -> list[str]:
    return [str(one[4][0]).partition("%")[0] for one in _look_up(host, 0)]


def _look_up(host: str, port: int) -> list[tuple[int, int, int, str, tuple[object, ...]]]:
    name = host.strip("[]") or None
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise CannotListen(f"{host} is no address of this machine") from error
    return list(found)


def load_tls(address: Address) -> ssl.SSLContext:
    """Load the certificate and its key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(address.tls_cert or "", address.tls_key, password=lambda: "")
    except (OSError, ValueError) as error:
        found = CannotListen(f"the TLS files cannot be used: {error}")
        found.hint = "PEM files: the certificate with its chain, and its key without a passphrase"
        raise found from error
    return context
