"""Write the parts of the pages that are made from the code: commands, settings, tools, routes.

    python docs/reference.py            write them
    python docs/reference.py --check    end with 1 if a page is not up to date

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`, which no reader sees.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from holdfast.api.app import ROUTERS
from holdfast.cli.help import HEADINGS, PLUMBING, TOPICS, listed
from holdfast.cli.main import holdfast_command
from holdfast.mcp.tool_table import TOOLS
from holdfast.settings.table import TABLE, USER, Setting

DOCS = Path(__file__).parent
PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SETTING_PAGES = {  # by how the name of a setting begins
    "batch_": "plan",
    "watch_": "watcher",
    "stop_guard": "stop-guard",
    "status_line": "status",
    "segment_": "segments",
    "topics": "agents",
    "brief_tokens": "briefs",
    "checkpoint_": "checkpoints",
    "archive_transcripts": "transcripts",
    "archive_": "archive",
    "embedder": "search",
    "server": "serve",
}


def commands() -> Iterator[str]:
    """Every command under its heading, then what Claude Code itself starts."""
    for heading in HEADINGS:
        yield f"## {heading}"
        for name in listed(heading):
            yield from _topic(name)
    yield "## Commands that you do not type"
    hidden = listed(PLUMBING).items()
    yield "\n".join(f"- `holdfast {name}`: {said} {TOPICS[name].details}" for name, said in hidden)


def _topic(name: str) -> Iterator[str]:
    topic = TOPICS[name]
    context = click.Context(holdfast_command, info_name="holdfast")
    command = holdfast_command.get_command(context, name)
    assert command is not None
    yield f"### holdfast {name}"
    more = f" More: [{topic.page.replace('-', ' ')}]({topic.page}.md)."
    yield f"{topic.sentence} {topic.details}".rstrip() + more
    yield from _command(command, click.Context(command, info_name=name, parent=context))
    if topic.examples:
        width = max(len(one.line) for one in topic.examples)
        lines = [f"{one.line:<{width}}  # {one.meaning}" for one in topic.examples]
        yield "\n".join(("```sh", *lines, "```"))


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    """How it is typed, its options, and the same of the commands below it."""
    usage = [context.command_path, *command.collect_usage_pieces(context)]
    yield f"`{' '.join(usage)}`"
    options = [_option(one, context) for one in command.params if isinstance(one, click.Option)]
    if options:
        yield "\n".join(("| option | meaning |", "|---|---|", *options))
    below = command.commands if isinstance(command, click.Group) else {}
    for name, one in below.items():
        if not one.hidden:
            yield f"**{context.command_path} {name}**: {_flat(one.help)}"
            yield from _command(one, click.Context(one, info_name=name, parent=context))


def _option(option: click.Option, context: click.Context) -> str:
    names = ", ".join(f"`{one}`" for one in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {option.make_metavar(context)}"
    extra = option.get_help_extra(context)
    notes = [f"default: {extra['default']}"] if "default" in extra else []
    if isinstance(option.type, (click.IntRange, click.FloatRange)):
        notes += [_range(option.type.min or 0, option.type.max)]
    meaning = _flat(option.help).removesuffix(".")
    return _row(f"{names}{value}", f"{meaning} ({'; '.join(notes)})." if notes else f"{meaning}.")


def _range(low: float, high: float | None) -> str:
    return f"{low:g} or more" if high is None else f"{low:g} to {high:,g}"


def settings() -> Iterator[str]:
    rows = [_setting(one) for one in TABLE]
    heads = ("| setting | default | set by | variable | meaning |", "|---|---|---|---|---|")
    yield "\n".join((*heads, *rows))


def _setting(one: Setting) -> str:
    variables = ", ".join(f"`{name}`" for name in (one.variable, one.also) if name)
    page = next((page for start, page in SETTING_PAGES.items() if one.name.startswith(start)), "")
    more = f" ([{page}]({page}.md))" if page else ""
    who = "you only" if one.set_by == USER else "project too"
    allowed = ", ".join(f"`{word}`" for word in one.choices)
    if not (allowed or one.is_text or one.is_names):
        allowed = _range(one.low, one.high)
    values = f" One of {allowed}." if one.choices else f" {allowed}." if allowed else ""
    return _row(f"`{one.name}`", str(one.default), who, variables, f"{one.meaning}.{values}{more}")


def tools() -> Iterator[str]:
    heads = ("| tool | what the model reads about it | fields | changes |", "|---|---|---|---|")
    yield "\n".join((*heads, *(_tool(one.listed) for one in TOOLS.values())))


def _tool(listed: dict[str, Any]) -> str:
    schema = listed["inputSchema"]
    needed = schema.get("required", [])
    fields = [
        f"`{name}`{' (required)' if name in needed else ''}: {_type(field)}"
        for name, field in schema["properties"].items()
    ]
    changes = "no" if listed.get("annotations", {}).get("readOnlyHint") else "yes"
    words = _flat(listed["description"])
    return _row(f"`{listed['name']}`", words, "; ".join(fields) or "none", changes)


def _type(field: dict[str, object]) -> str:
    choices = field.get("enum")
    if isinstance(choices, list):
        return "one of " + ", ".join(f"`{one}`" for one in choices if one)
    return str(field.get("type", "any"))


def routes() -> Iterator[str]:
    known = [one for router in ROUTERS for one in router.routes if isinstance(one, APIRoute)]
    rows = [_route(one) for one in sorted(known, key=lambda one: one.path_format)]
    yield "\n".join(("| route | query | fields of the body |", "|---|---|---|", *rows))


def _route(one: APIRoute) -> str:
    methods = " ".join(sorted(one.methods or ()))
    return _row(f"`{methods} {one.path_format}`", _query(one.dependant), _body(one))


def _query(asked: Dependant) -> str:
    return ", ".join(_named(one.alias, one.field_info.is_required()) for one in asked.query_params)


def _body(one: APIRoute) -> str:
    model = one.body_field.field_info.annotation if one.body_field else None
    fields = getattr(model, "model_fields", {})
    return ", ".join(
        _named(field.alias or name, field.is_required()) for name, field in fields.items()
    )


def _named(name: str, is_required: bool) -> str:
    return f"**`{name}`**" if is_required else f"`{name}`"


def _row(*cells: str) -> str:
    return "| " + " | ".join(one.replace("|", "\\|") for one in cells) + " |"


def _flat(text: str | None) -> str:
    return " ".join((text or "").split())


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "commands": commands,
    "settings": settings,
    "tools": tools,
    "routes": routes,
}


def _made(found: re.Match[str]) -> str:
    return f"{found[1]}\n" + "\n\n".join(PARTS[found[2]]()) + f"\n\n{found[3]}"


def main(words: list[str]) -> int:
    stale = []
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        made = PART.sub(_made, text)
        if made != text:
            stale.append(page.name)
            if "--check" not in words:
                page.write_text(made, encoding="utf-8")
    if "--check" in words and stale:
        print(f"not up to date: {', '.join(stale)}; run python docs/reference.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
