"""Write the parts of the pages that are made from the code: commands, settings, tools, routes,
the texts of alerts and of the stop guard, the shares of a brief, and what other projects publish.

    python docs/reference.py            write them
    python docs/reference.py --check    end with 1 if a page is not up to date

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`, which no reader sees.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from holdfast.api.app import ROUTES
from holdfast.brief.item import compartment_weights
from holdfast.brief.roles import ROLES, sections_of
from holdfast.budget.compartments import NAMES, compartments
from holdfast.cli.main import EVERYDAY, GROUPS, OTHERS, holdfast_command
from holdfast.client.agents import ABILITIES, AGENTS
from holdfast.client.compaction_limit import CompactionLimit
from holdfast.events import stop_guard
from holdfast.events.stop_guard import StopFacts
from holdfast.mcp.tool_table import TOOLS
from holdfast.settings.table import TABLE, USER, Setting
from holdfast.window import alert_texts
from holdfast.window.guard import Alert, Crossing, Reading, Verdict, Zone
from holdfast.window.velocity import forecast

DOCS = Path(__file__).parent
ALTERNATIVES = DOCS.parent / "benchmarks" / "alternatives.toml"
PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
OF_LISTS = ("limit", "offset")  # the page says once that lists take them
SETTING_PAGES = {  # by how the name of a setting begins
    "batch_": "plan",
    "watch_": "status",
    "stop_guard": "status",
    "status_line": "status",
    "segment_": "search",
    "topics": "team",
    "brief_tokens": "compactions",
    "checkpoint_": "checkpoints",
    "archive_": "search",
    "embedder": "search",
    "server": "team",
    "prices": "dashboard",
    "secret_patterns": "privacy",
    "notes_": "checkpoints",
}

# Defaults that are no single value
DEFAULTS = {"brief_tokens": "2000; at a compaction 3% of the limit"}


def commands() -> Iterator[str]:
    """Who takes `--json`, the everyday commands, the groups, then what is not listed."""
    listed = (*EVERYDAY, *(name for names in GROUPS.values() for name in names))
    takers = [taker for name in listed for taker in _with_json(*_find(name))]
    yield f"`--json` prints JSON. These commands take it: {', '.join(takers)}."
    yield "## Every day"
    for name in EVERYDAY:
        yield from _named_command(name)
    for group, names in GROUPS.items():
        yield f"## {group.capitalize()}"
        for name in names:
            yield from _named_command(name)
    yield "## Commands that are not listed"
    for name in sorted({*OTHERS} - {*listed}):
        first, _, _ = (_find(name)[0].help or "").partition("\n\n")
        yield f"`holdfast {name}`: {_flat(first)}"


def agents() -> Iterator[str]:
    """What works with each agent."""
    rows = [["", *(agent.title for agent in AGENTS)], ["---"] * (1 + len(AGENTS))]
    for ability in ABILITIES:
        reasons = [agent.lacks.get(ability) for agent in AGENTS]
        cells = ["yes" if why is None else f"no: {why}" if why else "no" for why in reasons]
        rows.append([ability, *cells])
    yield "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _find(name: str) -> tuple[click.Command, click.Context]:
    context = click.Context(holdfast_command, info_name="holdfast")
    command = holdfast_command.get_command(context, name)
    assert command is not None
    return command, click.Context(command, info_name=name, parent=context)


def _named_command(name: str) -> Iterator[str]:
    command, context = _find(name)
    yield f"### holdfast {name}"
    words, _, examples = (command.help or "").partition("\b\n")
    yield "\n\n".join(_flat(paragraph) for paragraph in words.strip().split("\n\n"))
    yield from _command(command, context)
    if lines := [
        re.split("  +", line.strip()) for line in examples.splitlines()[1:] if line.strip()
    ]:
        width = max(len(line) for line, *_ in lines)
        rows = (f"{line:<{width}}  # {' '.join(said)}" if said else line for line, *said in lines)
        yield "\n".join(("```sh", *rows, "```"))


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    """How it is typed, its options, and the same of the commands below it."""
    usage = [word for word in command.collect_usage_pieces(context) if word != "[OPTIONS]"]
    if usage:
        yield f"`{' '.join((context.command_path, *usage))}`"
    shown = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    options = [_option(one, context) for one in shown if "--json" not in one.opts]
    if options:
        yield "\n".join(options)
    below = command.commands if isinstance(command, click.Group) else {}
    for name, one in below.items():
        if not one.hidden:
            yield f"**{context.command_path} {name}**: {_flat(one.help)}"
            yield from _command(one, click.Context(one, info_name=name, parent=context))


def _with_json(command: click.Command, context: click.Context) -> Iterator[str]:
    if any("--json" in one.opts for one in command.params):
        yield f"`{context.command_path.removeprefix('holdfast ')}`"
    below = command.commands if isinstance(command, click.Group) else {}
    for name, one in below.items():
        yield from _with_json(one, click.Context(one, info_name=name, parent=context))


def _option(option: click.Option, context: click.Context) -> str:
    names = ", ".join((*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {option.make_metavar(context)}"
    extra = option.get_help_extra(context)
    notes = [f"default: {extra['default']}"] if "default" in extra else []
    if isinstance(option.type, (click.IntRange, click.FloatRange)):
        notes += [_range(option.type.min or 0, option.type.max)]
    meaning = _flat(option.help).removesuffix(".")
    if notes and meaning.endswith(")"):
        meaning = f"{meaning[:-1]}; {'; '.join(notes)})"
    elif notes:
        meaning = f"{meaning} ({'; '.join(notes)})"
    return f"- `{names}{value}`: {meaning}."


def _range(low: float, high: float | None) -> str:
    return f"{_number(low)} or more" if high is None else f"{_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


def settings() -> Iterator[str]:
    rows = [_setting(one) for one in TABLE]
    heads = ("| setting | default | set by | meaning |", "|---|---|---|---|")
    yield "\n".join((*heads, *rows))


def _setting(one: Setting) -> str:
    page = next((page for start, page in SETTING_PAGES.items() if one.name.startswith(start)), "")
    more = f" ([{page}]({page}.md))" if page else ""
    who = "you only" if one.set_by == USER else "project too"
    allowed = ", ".join(f"`{word}`" for word in one.choices)
    if not (allowed or one.is_text or one.is_names):
        allowed = _range(one.low, one.high)
    values = f" One of {allowed}." if one.choices else f" {allowed}." if allowed else ""
    default = DEFAULTS.get(one.name, str(one.default))
    return _row(f"`{one.name}`", default, who, f"{one.meaning}.{values}{more}")


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
    known = [one for one in ROUTES if isinstance(one, APIRoute)]
    rows = [_route(one) for one in sorted(known, key=lambda one: one.path_format)]
    yield "\n".join(rows)


def _route(one: APIRoute) -> str:
    """No route takes both a query and a body."""
    methods = " ".join(sorted(one.methods or ()))
    taken = _query(one.dependant) or _body(one)
    return f"- `{methods} {one.path_format}`{taken and f': {taken}'}"


def _query(asked: Dependant) -> str:
    """A parameter may be a model, whose fields are the parameters then."""
    known: dict[str, bool] = {}
    for one in asked.query_params:
        fields = getattr(one.field_info.annotation, "model_fields", {one.alias: one.field_info})
        known |= {name: field.is_required() for name, field in fields.items()}
    known = {name: required for name, required in known.items() if name not in OF_LISTS}
    return ", ".join(_named(name, required) for name, required in known.items())


def _body(one: APIRoute) -> str:
    model = one.body_field.field_info.annotation if one.body_field else None
    fields = getattr(model, "model_fields", {})
    return ", ".join(
        _named(field.alias or name, field.is_required()) for name, field in fields.items()
    )


def _named(name: str, is_required: bool) -> str:
    return f"**`{name}`**" if is_required else f"`{name}`"


LEVELS = {  # what is reached, and the share of the limit that is used then
    "orange": (Crossing(zone=Zone.ORANGE), 0.75),
    "red": (Crossing(zone=Zone.RED), 0.90),
    "critical": (Crossing(alert=Alert.CRITICAL), 0.97),
}


def alerts() -> Iterator[str]:
    """Both texts of three levels."""
    heads = ("| level | the model reads | you read |", "|---|---|---|")
    yield "\n".join((*heads, *(_row(level, *_alert_texts(level)) for level in LEVELS)))


def _alert_texts(level: str) -> tuple[str, str]:
    """In a window of 200,000 tokens that grows by 3,000 with every step."""
    crossing, used_ratio = LEVELS[level]
    edge = CompactionLimit(200_000, 167_000, "early", "")
    used = round(used_ratio * edge.edge_tokens)
    before = [used - 3_000 * steps for steps in range(20, -1, -1)]
    verdict = Verdict(Zone.GREEN, Alert.NONE, used_ratio, 0.3, False)
    ahead = forecast(before, [], used, edge.edge_tokens)
    told = (crossing, verdict, ahead, Reading(used, 0), edge)
    return alert_texts.compose(*told, saved=True)


def stops() -> Iterator[str]:
    agents = ("explore", "test-runner")
    commands = ("`make test`", "`npm run build`")
    facts = {
        "subtasks run": StopFacts(running=agents),
        "commands failed": StopFacts(errors=commands),
        "much is unsaved": StopFacts(unsaved_ratio=0.27, has_checkpoint=True),
        "nothing is saved": StopFacts(unsaved_ratio=0.27),
    }
    rows = [
        _row(when, stop_guard.judge(one, "holdfast").removesuffix(stop_guard.ANYWAY).strip())
        for when, one in facts.items()
    ]
    yield "\n".join(("| when | the model reads |", "|---|---|", *rows))
    yield "Several reasons follow each other in one text. Every text ends with:"
    yield f"```\n{stop_guard.ANYWAY}\n```"


def shares() -> Iterator[str]:
    by_role = {role: compartments(compartment_weights(sections_of(role)), {}) for role in ROLES}
    rows = [
        _row(f"`{name}`", *(f"{one[at].share / 10:.0f} %" for one in by_role.values()))
        for at, name in enumerate(NAMES)
    ]
    heads = (_row("compartment", *by_role), "|---" * (len(by_role) + 1) + "|")
    yield "\n".join((*heads, *rows))


def published() -> Iterator[str]:
    """Each figure of another project, linked to the text that states it."""
    rows = []
    for measure in tomllib.loads(ALTERNATIVES.read_text("utf-8"))["measure"]:
        for number, one in enumerate(measure["published"]):
            title = measure["title"] if number == 0 else ""
            source = f"[{one['name']}]({one['source']})"
            rows.append(_row(title, source, one["figure"], str(one["read"])))
    heads = ("| measure | project and source | figure | read |", "|---|---|---|---|")
    yield "\n".join((*heads, *rows))


def _row(*cells: str) -> str:
    return "| " + " | ".join(one.replace("|", "\\|") for one in cells) + " |"


def _flat(text: str | None) -> str:
    return " ".join((text or "").split())


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "agents": agents,
    "commands": commands,
    "settings": settings,
    "tools": tools,
    "routes": routes,
    "alerts": alerts,
    "stops": stops,
    "shares": shares,
    "published": published,
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
