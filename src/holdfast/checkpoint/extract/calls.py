"""What the model did: one function for each tool that leaves a trace worth keeping."""

from collections.abc import Callable
from typing import Any

from holdfast.checkpoint.extract import cues, manifests, names, paths, refused, said, shell, tasks
from holdfast.checkpoint.extract.heat import thin, warm
from holdfast.checkpoint.facts import Agent, Call, Command, Facts, Place
from holdfast.redact import redact

MOST_CALLS = 64
MOST_TOOLS = 64
MOST_RECENT = 6
MOST_COMMANDS = 200
MOST_AGENTS = 60
LONGEST = 400
WRITTEN_CHARS = 4000
COPIED = 0.2  # what a name is worth that an edit merely kept
MOST_LEFT = 4
_LEFT = ("TODO", "FIXME", "XXX:")

Given = dict[str, Any]
text_of = paths.text_of


def call(facts: Facts, tool: str, use_id: str, given: Given, place: Place) -> None:
    """The model called a tool."""
    if tool in facts.tools or len(facts.tools) < MOST_TOOLS:
        facts.tools[tool] = facts.tools.get(tool, 0) + 1
    before = refused.before(facts, tool, given)
    what = _BY_TOOL.get(tool, _other)(facts, given, place, use_id)
    made = Call(tool[:80], what[:LONGEST], place, before)
    facts.recent = [*facts.recent[1 - MOST_RECENT :], made]
    facts.calls[use_id[:80]] = made
    while len(facts.calls) > MOST_CALLS:
        del facts.calls[next(iter(facts.calls))]


def _read(facts: Facts, given: Given, place: Place, use_id: str) -> str:
    name = paths.use(facts, paths.told(given), "reads", 1.2)
    _restorable(facts, name)
    return name


def _restorable(facts: Facts, name: str) -> None:
    """The client reads the five files touched last back by itself."""
    if name:
        facts.restored.pop(name, None)
        facts.restored[name] = facts.op
        while len(facts.restored) > 5:
            del facts.restored[next(iter(facts.restored))]


def _edit(facts: Facts, given: Given, place: Place, use_id: str) -> str:
    name = paths.use(facts, paths.told(given), "edits", 2.0)
    _restorable(facts, name)
    edits = given.get("edits")
    for edit in edits[:50] if isinstance(edits, list) else [given]:
        if isinstance(edit, dict):
            new = text_of(edit, "new_string") or text_of(edit, "new_source")
            _wrote(facts, name, text_of(edit, "old_string"), new)
    _still_open(facts, name)
    return name


def _write(facts: Facts, given: Given, place: Place, use_id: str) -> str:
    name = paths.use(facts, text_of(given, "file_path"), "edits", 2.0)
    _restorable(facts, name)
    content = text_of(given, "content")
    if name:
        facts.files[name].left = []  # the whole file is new
    _wrote(facts, name, "", content)
    manifests.note(facts, name, content)
    _still_open(facts, name)
    return name


def _wrote(facts: Facts, name: str, old: str, new: str) -> None:
    if not facts.far:
        before, after = names.words(old), names.words(new[:WRITTEN_CHARS])
        names.note(facts, after - before, 1.0, name)
        names.note(facts, after & before, COPIED, name)
        if "http" in new:
            names.refer(facts, new, 0.5)
    used = facts.files.get(name)
    if used is not None and (cues.within(_LEFT, new) or cues.within(_LEFT, old)):
        gone = _left_in(old)
        used.left = [line for line in used.left if line not in gone]
        used.left += [line for line in _left_in(new) if line not in used.left]
        del used.left[:-MOST_LEFT]


def _left_in(text: str) -> list[str]:
    lines = [line.strip()[:160] for line in text[:20_000].splitlines()]
    return [line for line in lines if any(mark in line for mark in _LEFT)]


def _still_open(facts: Facts, name: str) -> None:
    """An edit may be the fix of whatever is broken now."""
    for failure in facts.failures:
        if failure.fixed is None and name and name not in failure.edited:
            failure.edited = [*failure.edited, name][-5:]


def _bash(facts: Facts, given: Given, place: Place, use_id: str) -> str:
    line = text_of(given, "command")[: shell.LONGEST_LINE]
    for path in shell.files(line):
        paths.use(facts, path, "runs", 0.6)
    for branch in shell.branches(line):
        names.point(facts, branch, "branch", 2.0)
    names.hear(facts, line, 1.0)
    key = shell.core(line)
    if key and (folder := paths.folder(facts, shell.enters(line))):
        key = f"cd {folder} && {key}"[:LONGEST]
    if facts.redacted:  # what was kept before has no secrets in its keys any more
        key = redact(key)
    if key:
        _ran(facts, key, line, place)
    return key or line


def _ran(facts: Facts, key: str, line: str, place: Place) -> None:
    command = facts.commands.get(key)
    if command is None:
        command = facts.commands[key] = Command(line, place, shell.kind(key))
        thin(facts.commands, facts.op, MOST_COMMANDS)
    command.line, command.place, command.ok, command.said = line, place, None, []
    command.count += 1
    warm(command, facts.op, 1.0)


def _search(facts: Facts, given: Given, place: Place, use_id: str) -> str:
    path, pattern = text_of(given, "path"), text_of(given, "pattern")
    if "." in path.rpartition("/")[2]:
        paths.use(facts, path, "runs", 0.6)
    names.hear(facts, pattern[:LONGEST], 1.0)
    return f"{pattern} in {paths.relative(facts, path)}" if path else pattern


def _agent(facts: Facts, given: Given, place: Place, use_id: str) -> str:
    asked = text_of(given, "description") or text_of(given, "prompt")[:LONGEST]
    facts.agents[use_id[:80]] = Agent(text_of(given, "subagent_type")[:80], asked[:LONGEST], place)
    while len(facts.agents) > MOST_AGENTS:
        del facts.agents[next(iter(facts.agents))]
    names.hear(facts, text_of(given, "prompt"), 0.7, 0.7)
    return asked


def _plan(facts: Facts, given: Given, place: Place, use_id: str) -> str:
    text = text_of(given, "plan")
    said.plan(facts, text, place)
    names.hear(facts, text, 1.0)
    return text.strip().partition("\n")[0]


def _todo(facts: Facts, given: Given, place: Place, use_id: str) -> str:
    tasks.todo(facts, given, place)
    return ""


def _task_update(facts: Facts, given: Given, place: Place, use_id: str) -> str:
    return tasks.updated(facts, given, place)


def _task_create(facts: Facts, given: Given, place: Place, use_id: str) -> str:
    for key in ("subject", "description"):
        names.hear(facts, text_of(given, key), 1.0)
    return text_of(given, "subject") or text_of(given, "description")


def _other(facts: Facts, given: Given, place: Place, use_id: str) -> str:
    """Any other tool: the names in its short arguments."""
    texts = [value for value in given.values() if isinstance(value, str)][:12]
    for text in texts:
        names.hear(facts, text[:WRITTEN_CHARS], 0.7, 0.7)
    return next((text for text in texts if text.strip()), "")


_BY_TOOL: dict[str, Callable[[Facts, Given, Place, str], str]] = {
    "Read": _read,
    "NotebookRead": _read,
    "Edit": _edit,
    "MultiEdit": _edit,
    "NotebookEdit": _edit,
    "Write": _write,
    "Bash": _bash,
    "Grep": _search,
    "Glob": _search,
    "Task": _agent,
    "Agent": _agent,
    "ExitPlanMode": _plan,
    "TodoWrite": _todo,
    "TaskCreate": _task_create,
    "TaskUpdate": _task_update,
}
