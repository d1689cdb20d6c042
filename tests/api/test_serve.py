"""`holdfast serve` as a process: how it starts, what it refuses, how it ends."""

import shutil
import signal
import socket
import ssl
import stat
import subprocess
from pathlib import Path

import pytest

from holdfast.api.server import Address, CannotListen, NotSafe, assert_safe, bind
from holdfast.settings import secret_file
from tests.api.live import TOKEN, a_url, as_process, run, until


@pytest.mark.requirement("X5")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1"])
def test_an_address_others_reach_needs_tls_or_a_proxy(host: str) -> None:
    with pytest.raises(NotSafe) as error:
        assert_safe(Address(host, 1), needs_token=True)
    assert error.value.exit_code == 3
    assert "--behind-proxy" in error.value.hint
    assert_safe(Address(host, 1, behind_proxy=True), needs_token=True)


@pytest.mark.requirement("X5")
def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        with pytest.raises(CannotListen, match="is taken") as error:
            bind(Address("127.0.0.1", other.getsockname()[1]))
        assert "--port" in error.value.hint
    with pytest.raises(CannotListen, match="cannot listen on 192"):
        bind(Address("192.0.2.1", 0))
    with pytest.raises(CannotListen, match="no address"):
        bind(Address("no.such.name.invalid", 0))


@pytest.mark.requirement("S1", "X5")
def test_it_serves_until_it_is_told_to_end_and_exits_with_0(own_home: Path, tmp_path: Path) -> None:
    """Started with nothing but a home: the database and the token come into being."""
    with as_process("", given_token=False) as live:
        kept = own_home / ".holdfast"
        live.token = secret_file.read(kept / "token")
        assert live.get("/api/projects", Authorization="").status == 401
        made = live.post("/api/projects", {"path": "/w"})
        assert made.status == 201
        with live.listening() as heard:
            assert heard.block()
            assert live.kill(signal.SIGTERM) == 0
            while heard.block():
                pass
        assert live.log[-1] == "stopped; everything it confirmed is on disk"
        assert "it also watches every live session; Ctrl-C stops it" in live.log
    names = [one.name for one in kept.iterdir() if not one.name.startswith("holdfast.db.")]
    assert sorted(names) == [*("guard.log", "holdfast.db", "token", "watcher.lock")]
    assert stat.S_IMODE((kept / "holdfast.db").stat().st_mode) == 0o600
    checked = run("db", "check")
    assert (checked.returncode, checked.stderr) == (0, "")


REFUSED = "POST / HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n{}zz\r\n"


@pytest.mark.requirement("X5", "X7")
def test_a_body_that_is_no_http_is_refused_once_and_nothing_is_logged(tmp_path: Path) -> None:
    with as_process(a_url(tmp_path / "h.db")) as live:
        for host in ("evil", "127.0.0.1"):
            for first in ("", "2\r\n{}\r\n"):
                answer = live.raw(REFUSED.format(host, first).encode())
                assert answer.count(b"HTTP/1.1") <= 1
        with socket.create_connection(("127.0.0.1", live.port), timeout=30) as wire:
            wire.sendall(REFUSED.format("evil", "").removesuffix("zz\r\n").encode())
            assert wire.recv(65536).startswith(b"HTTP/1.1 403 ")
            wire.sendall(b"zz\r\n")
            while wire.recv(65536):
                pass
        live.kill(signal.SIGTERM)
        assert [line for line in live.log if "Error" in line or "Traceback" in line] == []


@pytest.mark.slow
@pytest.mark.requirement("X5")
def test_what_it_refuses_is_said_with_the_next_thing_to_try(tmp_path: Path, own_home: Path) -> None:
    url = a_url(tmp_path / "h.db")
    off = run("serve", "--host", "0.0.0.0", "--behind-proxy", environ={"HOLDFAST_API_AUTH": "off"})
    assert (off.returncode, "this machine alone" in off.stderr) == (3, True)
    short = run("serve", "--port", "0", environ={"HOLDFAST_API_TOKEN": "short"})
    assert (short.returncode, "HOLDFAST_API_TOKEN does not hold" in short.stderr) == (3, True)
    path = own_home / ".holdfast" / "token"
    secret_file.read_or_create(path)
    path.chmod(0o644)
    seen = run("serve", "--port", "0", "--database", url)
    assert (seen.returncode, "chmod 600" in seen.stderr) == (3, True)
    wrong = run("serve", "--port", "0", "--database", "mysql://u:secret@h/d", environ=GIVEN)
    assert (wrong.returncode, "secret" in wrong.stderr) == (2, False)
    assert not (tmp_path / "h.db").exists(), "nothing was made by a start that was refused"


GIVEN = {"HOLDFAST_API_TOKEN": TOKEN}


@pytest.mark.slow
@pytest.mark.requirement("X5")
def test_auth_off_is_said_loudly_and_still_checks_host_and_origin(tmp_path: Path) -> None:
    with as_process(a_url(tmp_path / "h.db"), environ={"HOLDFAST_API_AUTH": "off"}) as live:
        until(lambda: any("WARNING: HOLDFAST_API_AUTH=off" in line for line in live.log))
        assert live.get("/api/projects", Authorization="").status == 200
        assert live.get("/api/projects", Origin="http://evil.example").status == 403
        assert live.get("/api/projects", Host="evil.example").status == 403
        assert live.get("/api/projects", Sec_Fetch_Site="cross-site").status == 403


@pytest.mark.slow
@pytest.mark.requirement("X5")
@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_tls_is_spoken_where_its_files_are_given(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    a_certificate(cert, key)
    tls = ("--tls-cert", str(cert), "--tls-key", str(key))
    with as_process(a_url(tmp_path / "h.db"), "--host", "0.0.0.0", *tls) as live:
        context = ssl.create_default_context(cafile=str(cert))
        wire = socket.create_connection(("127.0.0.1", live.port))
        with wire, context.wrap_socket(wire, server_hostname="localhost") as safe:
            assert (safe.version() or "") >= "TLSv1.2"
            head = f"Host: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
            safe.sendall(f"GET /api/projects HTTP/1.0\r\n{head}\r\n".encode())
            assert safe.recv(100).startswith(b"HTTP/1.1 200")
        assert live.raw(b"GET / HTTP/1.0\r\n\r\n") == b""


def a_certificate(cert: Path, key: Path) -> None:
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=t -addext"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    command = [*words.split(), names, "-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.requirement("X6")
def test_a_damaged_database_is_set_aside_and_said_and_served_anew(tmp_path: Path) -> None:
    path = tmp_path / "holdfast.db"
    path.write_bytes(b"no database at all\n" * 100)
    with as_process(a_url(path)) as live:
        assert any("the database was damaged; it is saved as" in line for line in live.log)
        assert live.post("/api/projects", {"path": "/w"}).status == 201
    assert len(list(tmp_path.glob("holdfast.db.damaged-*"))) == 1


@pytest.mark.slow
@pytest.mark.requirement("X6", "S1")
def test_a_newer_database_is_refused_by_every_command(sqlite_url: str, tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "holdfast.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = (tmp_path / "holdfast.db").read_bytes()
    for command in (["serve", "--port", "0"], ["db", "migrate"], ["db", "backup", "b.gz"]):
        said = run(*command, "--database", sqlite_url, environ=GIVEN)
        assert (said.returncode, "upgrade holdfast" in said.stderr) == (3, True), command
    assert run("db", "check", "--database", sqlite_url).returncode == 1
    assert (tmp_path / "holdfast.db").read_bytes() == before
