"""What must be true after every fault."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from holdfast.checkpoint import index
from holdfast.checkpoint import verify as index_rebuild
from holdfast.checkpoint.verify import verify
from holdfast.hub import cleanup, ids, row_times
from holdfast.hub.ingest import gather, set_aside
from holdfast.hub.ingest.sync import sync
from holdfast.hub.ingest.windows import past_sources
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import actions, compactions, metadata, requests, sessions
from holdfast.run.supervisor import CONDUCTED
from holdfast.setup.rehearsal import read_output
from holdfast.window import state as states
from holdfast.wire import places
from torture.board import must
from torture.place import Place, fingerprint
from torture.processes import FAILED_CALL, INTERRUPTED, Ended
from torture.script import ScriptedSession

DERIVED = (
    *("projects", "sessions", "requests", "tasks", "subtasks", "actions"),
    *("agent_contexts", "windows", "audit", "readings", "compactions"),
)
BY_WHOM = ("created_ms", "updated_ms")  # of a project: a message may have told of it first
END_SECONDS = 20
CLIENT_SECONDS = 60
SMALLEST = 20  # bytes of a secret that are looked for
TRACEBACK = re.compile(r"^Traceback \(most recent call last\):", re.MULTILINE)
NO_PYTHON = re.compile(r"^Fatal Python error: (init_\w+: |error evaluating path)", re.MULTILINE)
IN_MAIN = re.compile(r"holdfast/cli/start\.py\", line \d+, in main$", re.MULTILINE)


def hook(event: str, ended: Ended, secrets: Iterable[str]) -> None:
    """Exit 0, and valid output or none; a killed one is only asked for secrets, and so is one
    that never began."""
    no_secret(ended.out + ended.err, secrets, f"{event} printed")
    if ended.was_killed or did_not_begin(ended):
        return
    must(ended.code == 0, f"{event} ended with {ended.code}: {ended.err[-400:]}")
    trouble = read_output(event, ended.out.strip())[2]
    blocks = event == "PreCompact" and ended.out.startswith('{"decision": "block"')
    must(not trouble or blocks, f"{event}: {trouble}")


def command(name: str, ended: Ended, secrets: Iterable[str]) -> None:
    """It may fail, in plain words."""
    no_secret(ended.out + ended.err, secrets, f"{name} printed")
    is_ours = _is_traceback(ended.err) and not did_not_begin(ended)
    must(not is_ours, f"{name}: {ended.err[-1500:]}")


def did_not_begin(ended: Ended) -> bool:
    """Whether Python itself could not start: a system call failed, or Ctrl-C came, while it
    initialised, for example when it imported `site`. Nothing of Holdfast had run, and nothing of it
    could have caught this. No other end of a process is exempt."""
    may_hit_python = ended.fault in (FAILED_CALL, INTERRUPTED)
    return may_hit_python and ended.code == 1 and bool(NO_PYTHON.search(ended.err))


def _is_traceback(err: str) -> bool:
    """One of the process itself. What a program that it started printed is quoted within a line;
    and Python alone answers a Ctrl-C that comes before `main`."""
    before_main = err.endswith("\nKeyboardInterrupt\n") and not IN_MAIN.search(err)
    return bool(TRACEBACK.search(err)) and not before_main


def no_secret(text: str, secrets: Iterable[str], where: str) -> None:
    for secret in secrets:
        must(secret[:SMALLEST] not in text, f"{where} a secret: {secret[:8]}…")


def checkpoints(place: Place, reported: set[str], spoiled: frozenset[str] = frozenset()) -> int:
    """All that was reported, and all that has a final name, verifies; how many there are. One of a
    transcript that a fault kept from being read to its end says so, and nothing else is wrong."""
    found = set(_final_files(place))
    gone = reported - found
    must(not gone, f"reported and gone: {sorted(gone)[:3]}")
    for path in found - spoiled:
        report = verify(path)
        is_partial = bool(report.document and not report.document.is_complete)
        must(len(report.findings) == is_partial, f"{path} does not verify: {report.findings}")
    return len(found)


def _final_files(place: Place) -> list[str]:
    return [str(path) for folder in _checkpoint_folders(place) for path in folder.rglob("*.md")]


def _checkpoint_folders(place: Place) -> list[Path]:
    folders = [project / ".claude" / "checkpoints" for project in place.projects]
    return [*folders, place.holdfast / "checkpoints"]


def reported_by(session: ScriptedSession) -> set[str]:
    """What `status` and the status line name as the last checkpoint of this session."""
    state = states.load(places.window(session.id))
    path = state.checkpoint_path or state.checkpoint_removed  # also if its file was lost
    return {path} if path else set()


def is_known(session: ScriptedSession) -> bool:
    """A hook that lived has noted where the transcript is."""
    return bool(states.load(places.window(session.id)).transcript)


def rows(store: Store, played: Sequence[ScriptedSession]) -> None:
    """Every call, prompt and compaction of these sessions is there, once. Windows of subagents that
    the watcher opens meanwhile are read the next time."""
    of_agents = [_agent_calls(session) for session in played]
    set_aside.forget()  # what a fault has set aside is tried again at once, not in a minute
    sync(store)
    for session, calls in zip(played, of_agents, strict=True):
        _check_session(store, session, *calls)


def _check_session(
    store: Store, session: ScriptedSession, of_agents: list[str], unknown: list[str]
) -> None:
    open_calls = [session.under_way] if session.under_way else []
    action_id, request_id = partial(ids.action_id, session.id), partial(ids.request_id, session.id)
    done = map(action_id, [*session.calls, *of_agents])
    count = _ids_are(store, actions, session, done, map(action_id, [*open_calls, *unknown]))
    _ids_are(store, requests, session, map(request_id, session.prompts))
    query = sa.select(sessions.c.total_tools_used).where(sessions.c.id == session.id)
    counted = store.read(lambda c: c.scalar(query)) or 0
    must(counted == count, f"{counted} tools are counted, {count} were used")
    query = sa.select(sa.func.count()).where(compactions.c.session_id == session.id)
    found = store.read(lambda c: c.scalar(query))
    must(found == session.compactions, f"{found} of {session.compactions} compactions")


def _agent_calls(session: ScriptedSession) -> tuple[list[str], list[str]]:
    """The calls of subagents whose window a hook has opened; and the others, which nobody knows."""
    opened: list[str] = []
    unknown: list[str] = []
    for agent_id, calls in session.agent_calls.items():
        is_known = Path(places.window(session.id, agent_id)).is_dir()
        (opened if is_known else unknown).extend(calls)
    return opened, unknown


def _ids_are(
    store: Store,
    table: sa.Table,
    session: ScriptedSession,
    wanted: Iterable[str],
    possible: Iterable[str] = (),
) -> int:
    """How many rows there are: all that are wanted, and none that cannot be."""
    query = sa.select(table.c.id).where(table.c.session_id == session.id)
    found, wanted = set(store.read(lambda c: list(c.scalars(query)))), {*wanted}
    lost, more = wanted - found, found - wanted - {*possible}
    must(not lost, f"{len(lost)} of {len(wanted)} {table.name} of {session.id} are lost")
    must(not more, f"{len(more)} {table.name} of {session.id} that never happened")
    return len(found)


def messages_unheard(tags: dict[str, list[str]], played: Sequence[ScriptedSession]) -> list[str]:
    """Those that the model of their session was not given yet. None is given twice."""
    unheard = []
    for session in played:
        for tag in tags.get(session.id, []):
            times = sum(text.count(tag) for text in session.heard)
            must(times <= 1, f"message {tag} was given {times} times")
            unheard += [tag] if times == 0 else []
    return unheard


def same_when_rebuilt(place: Place, store: Store) -> None:
    """An empty database that reads the same files gets the same rows; so does the index. A server
    also reads sessions whose hooks were killed before they could tell of them."""
    path = place.root / "again.db"
    again = Store.open(f"sqlite:///{path}")
    try:
        set_aside.forget()
        now_ms = row_times.now_ms()
        for one in (store, again):
            sync(one, [*gather.sources(), *past_sources()], refreshes=False)
            one.write(lambda connection: cleanup.run(connection, now_ms))  # a server may have
        for name in DERIVED:
            ours, theirs = _rows_of(store, name), _rows_of(again, name)
            must(
                ours == theirs,
                f"{name} rebuild to something else:{_first_difference(ours, theirs)}",
            )
    finally:
        again.close()
        path.unlink()
    _same_index()


def _rows_of(store: Store, name: str) -> list[dict[str, Any]]:
    table = metadata.tables[name]
    query = sa.select(table).order_by(*table.primary_key.columns)
    found = store.read(lambda c: [dict(row) for row in c.execute(query).mappings()])
    for row in found if name == "projects" else ():
        for column in BY_WHOM:
            del row[column]
    for row in found if name == "windows" else ():
        at_ms = (row["health"] or {}).get("at_ms") or 0  # in the future, it counts as now
        row["updated_ms"] = max(row["updated_ms"], at_ms)
    return sorted(found, key=lambda row: [str(row[column.name]) for column in table.primary_key])


def _first_difference(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> str:
    for one, other in zip(ours, theirs, strict=False):
        if one != other:
            names = [name for name in one if one[name] != other[name]]
            return "".join(f" {name}: {one[name]!r}, then {other[name]!r};" for name in names)
    return f" {len(ours)} rows, then {len(theirs)}"


def _same_index() -> None:
    """Without those that could not be noted as made here, because the disk was full: their files
    verify, but only `rebuild` lists what may have come with the repository."""
    before = {one.path: one for one in index.load_or_empty()}
    found = index_rebuild.rebuild()
    after = {one.path: one for one in found.entries if one.path not in found.foreign}
    before = {path: one for path, one in before.items() if path not in found.foreign}
    must(before == after, f"the index rebuilds to something else: {set(before) ^ set(after)}")


def nothing_outside(place: Place, before: dict[str, str]) -> None:
    """Files that are not ours are as they were, and no temporary file is left."""
    after = fingerprint(place)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    must(not changed, f"changed outside our folders: {sorted(changed)[:5]}")


def nothing_stored(place: Place, secrets: Iterable[str], store: Store) -> None:
    """No secret in any file of ours, nor in any row."""
    wanted = [secret[:SMALLEST].encode() for secret in secrets]
    for path in place.owned.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            must(not any(one in data for one in wanted), f"a secret stands in {path}")
    for name in metadata.tables:
        text = repr(_rows_of(store, name)).encode()
        must(not any(one in text for one in wanted), f"a secret stands in the table {name}")


def no_process_left(place: Place, but: Iterable[int] = ()) -> None:
    """Nobody runs in this place any more. What a hook starts for later may take a moment."""
    end = time.monotonic() + END_SECONDS
    while left := _running(place) - {*but}:
        must(time.monotonic() < end, f"processes are left: {[_words_of(pid) for pid in left]}")
        time.sleep(0.02)


def no_client_left(place: Place, *, at_once: bool = False) -> None:
    """No Claude that a run started is left, no supervisor, and nothing that either started. Those
    of a killed run have time to end; a run that ends by itself ends them before."""
    end = time.monotonic() + (0 if at_once else CLIENT_SECONDS)
    while left := _running(place, CONDUCTED):
        must(time.monotonic() < end, f"clients are left: {[_words_of(pid) for pid in left]}")
        time.sleep(0.05)


def end_clients(place: Place) -> None:
    """End what was left when a run and a supervisor of its sessions were killed together."""
    for pid in _running(place, CONDUCTED):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _running(place: Place, variable: str = "HOLDFAST_HOME") -> set[int]:
    """The processes whose environment leads into this place and has this variable."""
    home = f"HOLDFAST_HOME={place.holdfast}".encode()
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                environ = (entry / "environ").read_bytes().split(b"\0")
                named = (word.startswith(f"{variable}=".encode()) for word in environ)
                if home in environ and any(named):
                    found.add(int(entry.name))
            except OSError:
                continue
    return found


def _words_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return str(pid)


def no_drafts(place: Place) -> None:
    """The next save removes what a killed one left. In the folder of a window, drafts are removed
    after an hour."""
    folders = _checkpoint_folders(place)
    left = [str(path) for folder in folders for path in folder.rglob("*.draft")]
    must(not left, f"drafts are left: {left[:3]}")
