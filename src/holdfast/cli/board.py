"""`holdfast board`: messages between the agents of a project, listed, posted, read."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from holdfast.cli.options import AS_JSON, flag
from holdfast.cli.terminal import print_json, say
from holdfast.hub import clean_text, ids, row_times
from holdfast.hub.board import messages
from holdfast.hub.board import outboxes as on_board
from holdfast.hub.board.local_agents import Listener, resolve_address
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store
from holdfast.hub.team import message_client
from holdfast.hub.team.connection import server
from holdfast.hub.tree.sessions import meet_project
from holdfast.redact.find import redact
from holdfast.text.fence import agent_name, shown
from holdfast.text.numbers import counted

MOST_SHOWN_CHARS = 300
WORDS = {"said": "delivered"}  # for people; in JSON the state keeps its name
MOST_PATH_CHARS, MOST_READ, MOST_LISTED = 4_096, 100, 20
CARRIED = "each agent it is for gets it from a hook, within a minute while it works"


ALL_PROJECTS = flag("--everywhere", help="In every project.")


@click.group()
def board() -> None:
    """Read and write messages between agents.

    Agents get their messages with their next hook. `--team` sends a message to agents on other
    machines, over the team server.

    \b
    Examples:
      holdfast board list                                      of this project
      holdfast board post task.created 'The schema is ready.'  to all agents
    """


@board.command("list")
@ALL_PROJECTS
@AS_JSON
def list_(everywhere: bool, as_json: bool) -> None:
    """List the newest messages. Nothing is marked as read."""
    where, now = _project_id(everywhere), row_times.now_ms()
    with closing(Store.open()) as store:
        on_board.settle(store, now)
        page = store.read(lambda c: messages.list_page(c, MOST_LISTED, 0, where))
        states = store.read(lambda c: messages.states(c, now, where))
        total = store.read(lambda c: messages.list_page(c, 1, 0).total)
    if as_json:
        rows = [{**_plain(row), "state": messages.state_of(row, now)} for row in page.rows]
        return print_json({"messages": rows, "total": page.total, "states": states})
    for row in reversed(page.rows):
        read = f", read by {', '.join(row['read_by'])}" if row["read_by"] else ""
        state = messages.state_of(row, now)
        say(f"{_line(row)} ({WORDS.get(state, state)}){shown(read)}")
    if page.total:
        counts = ", ".join(f"{count} {WORDS.get(state, state)}" for state, count in states.items())
        say(f"{len(page.rows)} of {counted(page.total, 'message')}: {counts}", err=True)
    else:
        say("No message yet. Send one: holdfast board post TOPIC 'WORDS'", err=True)
    if total > page.total:
        say(f"  and {total - page.total:,} of other projects, or of none: --everywhere", err=True)


@board.command()
@click.argument("topic")
@click.argument("words")
@click.option("--from", "from_agent", default="user", show_default=True, help="Who sends it.")
@click.option("--to", "to_agent", help="One agent, by id (default: all agents).")
@flag("--team", help="Over the team server, to agents on any machine.")
@ALL_PROJECTS
@AS_JSON
def post(topic: str, words: str, from_agent: str, to_agent: str | None, **how: bool) -> None:
    """Send WORDS about TOPIC to one agent, or to all agents of a project.

    TOPIC is task.created, task.completed, task.failed, context.request, context.response,
    alert.blocking, agent.heartbeat, agent.started, agent.completed, workflow.progress,
    checkpoint_trigger, or one that the setting `topics` adds."""
    messages.check_topic(topic)
    everywhere, team = how["everywhere"], how["team"]
    where, now = _project_id(everywhere), row_times.now_ms()
    listeners: list[Listener] = []
    if to_agent is not None:
        to_agent = clean_text.check_agent(to_agent, "--to")
        if not team:
            to_agent, listeners = resolve_address(now, to_agent)
    sender = clean_text.check_agent(from_agent, "--from")
    text = redact(clean_text.check_text(words, "WORDS"))
    row = messages.draft(sender, topic, text, now, to_agent=to_agent, project_id=where)
    place = None if everywhere else _path()
    if team:
        row, delivery = {**row, "id": message_client.post(server(), row, place)}, CARRIED
    else:
        with closing(Store.open()) as store:
            if place is not None:
                store.write(lambda c: meet_project(c, place, now))
            on_board.post(store, row)
            delivery = on_board.delivery_words(row, listeners)
    if how["as_json"]:
        return print_json(_plain(row) | {"heard": delivery})
    name = to_agent or ("every agent" if everywhere else "every agent of this project")
    say(f"posted to {shown(name)}; expires at {_at(row['expires_ms'])}\n  {delivery}")


@board.command()
@click.argument("agent")
@flag("--peek", help="Do not mark them as read.")
@AS_JSON
def read(agent: str, peek: bool, as_json: bool) -> None:
    """Print what AGENT has not read yet, and mark it as read."""
    name = clean_text.check_agent(agent, "AGENT")
    ask = messages.Ask(name, row_times.now_ms(), MOST_READ, _project_id(False))
    with closing(Store.open()) as store:
        delivery = store.read(lambda c: messages.look(c, ask))
        if not peek and delivery.unread_ids:
            looked = on_board.withdraw_read(delivery, ask)
            delivery = store.write(lambda c: messages.mark(c, ask, looked))
    unread = [row for row in delivery.rows if not row["already_read"]]
    if as_json:
        rows = [_plain(row) for row in unread]
        return print_json({"messages": rows, "unread_remaining": delivery.unread_remaining})
    for row in unread:
        say(_line(row))
    if not unread:
        say(f"nothing unread for {shown(agent)}", err=True)


def _plain(row: Row) -> dict[str, Any]:
    names = ("created_ms", "expires_ms")
    times = {name.replace("_ms", "_at"): row_times.to_iso(row[name]) for name in names}
    return {name: value for name, value in row.items() if not name.endswith("_ms")} | times


def _line(row: Row) -> str:
    content = row["content"]
    message = content.get("message")  # --json has the rest
    words = message if isinstance(message, str) else json.dumps(content, ensure_ascii=False)
    at, whom = _at(row["created_ms"]), row["to_agent"] or "all"
    who = agent_name(row["from_agent"])
    text = f"{row['topic']}  {who} to {whom}: {str(words)[:MOST_SHOWN_CHARS]}"
    urgent = f" (priority {row['priority']})" if row["priority"] else ""
    return f"{at}  {shown(text)}{urgent}"


def _at(ms: int) -> str:
    return f"{str(row_times.to_iso(ms))[:19]}Z"


def _path() -> str:
    return clean_text.check_text(str(Path.cwd()), "the project's path", MOST_PATH_CHARS)


def _project_id(everywhere: bool) -> str | None:
    return None if everywhere else ids.project_id(_path())
