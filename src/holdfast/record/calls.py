"""What the model did: one function for each tool whose calls are recorded."""

from collections.abc import Callable
from typing import Any

from holdfast.record import agents, commands, files, manifests, names, plans, shell, tasks, turns
from holdfast.record.model import PLAN_ASKED, Agent, Call, Place, Record
from holdfast.text.sentences import Lazy, clip, within

MOST_CALLS = 64
MOST_TOOLS = 64
MOST_RECENT = 6
LONGEST = 400
WRITTEN_CHARS = 4000
MENTIONS_CHARS = 20_000  # of a document that are searched for names of files
COPIED = 0.2  # the weight of a name that an edit left as it was
MOST_LEFT = 4
MOST_ASKED = 20
_LEFT = ("TODO", "FIXME", "XXX:")
_DATA = (*files.PROSE, ".json", ".jsonl", ".csv", ".html")
# A mark in a comment: at its beginning, or followed by a colon.
_LEFT_IN_COMMENT = Lazy(
    r"(?:#|//|/\*|^\s*\*|--|<!--|^\s*;|%)"
    r"(?:\W*(?:TODO|FIXME|XXX)\b|.*(?<![\w-])(?:TODO|FIXME|XXX) ?[:(])"
)

Given = dict[str, Any]
text_of = files.text_of


def call(record: Record, tool: str, use_id: str, given: Given, place: Place) -> None:
    """Record a tool call of the model."""
    tool, use_id = agents.one_line(tool), agents.one_line(use_id)
    if tool in record.tools or len(record.tools) < MOST_TOOLS:
        record.tools[tool] = record.tools.get(tool, 0) + 1
    earlier = _before(record, tool, given)
    what = _BY_TOOL.get(tool, _foreign_edit if edits(tool) else _other)(
        record, given, place, use_id
    )
    if tool not in AS_WRITTEN:
        what = agents.one_line(what, LONGEST)
    most = shell.LONGEST_LINE if tool == "Bash" else LONGEST
    made = Call(tool, clip(what, most), place, earlier)
    record.recent = [*record.recent[1 - MOST_RECENT :], made]
    record.calls[use_id] = made
    turns.current(record).works_on = True
    while len(record.calls) > MOST_CALLS:
        del record.calls[next(iter(record.calls))]


def _read(record: Record, given: Given, place: Place, use_id: str) -> str:
    return files.use(record, files.path_argument(given), "reads", 1.2)


def _edit(record: Record, given: Given, place: Place, use_id: str) -> str:
    name = files.use(record, files.path_argument(given), "edits", 2.0)
    edits = given.get("edits")
    for edit in edits[:50] if isinstance(edits, list) else [given]:
        if isinstance(edit, dict):
            new = text_of(edit, "new_string") or text_of(edit, "new_source")
            _wrote(record, name, text_of(edit, "old_string"), new)
    return name


def _write(record: Record, given: Given, place: Place, use_id: str) -> str:
    name = files.use(record, text_of(given, "file_path"), "edits", 2.0)
    content = text_of(given, "content")
    if name:
        record.files[name].left = []  # the whole file is new
    _wrote(record, name, "", content)
    if name.endswith(files.PROSE):
        files.mention(record, content[:MENTIONS_CHARS])
    manifests.note(record, name, content)
    plans.set_plan_file(record, name, content, place)
    return name


def _foreign_edit(record: Record, given: Given, place: Place, use_id: str) -> str:
    """Record an edit by a server's tool, if it names a file."""
    path = text_of(given, "file_path") or text_of(given, "path")
    return files.use(record, path, "edits", 2.0) or _other(record, given, place, use_id)


def _wrote(record: Record, name: str, old: str, new: str) -> None:
    if not record.far:
        before, after = names.words(old), names.words(clip(new, WRITTEN_CHARS))
        names.note(record, after - before, 1.0, name)
        names.note(record, after & before, COPIED, name)
        if "http" in new:
            names.refer(record, new, 0.5)
    used = record.files.get(name)
    if used is not None and (within(_LEFT, new) or within(_LEFT, old)):
        gone, made = _left_in(name, old), _left_in(name, new)
        used.left = [line for line in used.left if line not in gone or line in made]
        used.left += [line for line in made if line not in gone and line not in used.left]
        del used.left[:-MOST_LEFT]


def _left_in(name: str, text: str) -> list[str]:
    """Return the TODO and FIXME lines in comments. Documents are skipped: they only talk about such
    marks."""
    if name.endswith(_DATA):
        return []
    lines = [line for line in clip(text, 20_000).splitlines() if within(_LEFT, line)]
    return [clip(line.strip(), 160) for line in lines if _LEFT_IN_COMMENT.pattern.search(line)]


def _bash(record: Record, given: Given, place: Place, use_id: str) -> str:
    line = clip(text_of(given, "command"), shell.LONGEST_LINE)
    for path in shell.files(line):
        files.use(record, path, "runs", 0.6)
    for branch in shell.branches(line):
        names.point(record, branch, "hash" if names.is_commit(branch) else "branch", 2.0)
    names.hear(record, line, 1.0)
    return commands.begin(record, line, place)


def _search(record: Record, given: Given, place: Place, use_id: str) -> str:
    path, pattern = text_of(given, "path"), text_of(given, "pattern")
    if "." in path.rpartition("/")[2]:
        files.use(record, path, "runs", 0.6)
    names.hear(record, clip(pattern, LONGEST), 1.0)
    return f"{pattern} in {files.relative(record, path)}" if path else pattern


def _agent(record: Record, given: Given, place: Place, use_id: str) -> str:
    asked = text_of(given, "description") or text_of(given, "prompt")
    kind = text_of(given, "subagent_type")[:80]
    agents.add(record, use_id, Agent(kind, clip(asked, LONGEST), place))
    names.hear(record, text_of(given, "prompt"), 0.7, 0.7)
    files.mention(record, text_of(given, "prompt"))
    return clip(asked, LONGEST)


def _schedule(record: Record, given: Given, place: Place, use_id: str) -> str:
    when, prompt = text_of(given, "cron")[:80], text_of(given, "prompt").strip()
    agents.schedule(record, use_id, when, prompt, place)
    return clip(f"{when} {prompt}", LONGEST)


def _plan(record: Record, given: Given, place: Place, use_id: str) -> str:
    text = text_of(given, "plan")
    plans.set_plan(record, text, place)
    turns.add_question(record, f"{PLAN_ASKED}{_title(text)}", place)
    names.hear(record, text, 1.0)
    files.mention(record, text)
    return _title(text)


def _title(plan: str) -> str:
    return clip(plan.strip().partition("\n")[0].lstrip("# "), LONGEST)


def _ask(record: Record, given: Given, place: Place, use_id: str) -> str:
    found = given.get("questions")
    listed = found if isinstance(found, list) else []
    asked = [one.get("question") for one in listed if isinstance(one, dict)]
    texts = [text for text in asked if isinstance(text, str) and text.strip()][:MOST_ASKED]
    for text in texts:
        turns.add_question(record, text, place)
    return " / ".join(texts)


def _stop(record: Record, given: Given, place: Place, use_id: str) -> str:
    name = text_of(given, "task_id") or text_of(given, "shell_id") or text_of(given, "id")
    agents.mark_stopped(record, name)
    return name


def _look(record: Record, given: Given, place: Place, use_id: str) -> str:
    """Record a look at a background task. Its id refers to nothing outside the session."""
    return text_of(given, "task_id") or text_of(given, "bash_id") or text_of(given, "agentId")


def _monitor(record: Record, given: Given, place: Place, use_id: str) -> str:
    return text_of(given, "description") or text_of(given, "command")


def _todo(record: Record, given: Given, place: Place, use_id: str) -> str:
    tasks.todo(record, given, place)
    return ""


def _task_update(record: Record, given: Given, place: Place, use_id: str) -> str:
    return tasks.update_task(record, given, place)


def _task_create(record: Record, given: Given, place: Place, use_id: str) -> str:
    for key in ("subject", "description"):
        names.hear(record, text_of(given, key), 1.0)
    return text_of(given, "subject") or text_of(given, "description")


def _skill(record: Record, given: Given, place: Place, use_id: str) -> str:
    """Return a skill's name with its arguments: the name alone does not say what it works on."""
    _other(record, given, place, use_id)
    return clip(f"{text_of(given, 'skill')} {text_of(given, 'args')}".strip(), LONGEST)


def _other(record: Record, given: Given, place: Place, use_id: str) -> str:
    """Record the names in the short arguments of any other tool."""
    texts = [value for value in given.values() if isinstance(value, str)][:12]
    for text in texts:
        names.hear(record, clip(text, WRITTEN_CHARS), 0.7, 0.7)
    return next((text for text in texts if text.strip()), "")


_BY_TOOL: dict[str, Callable[[Record, Given, Place, str], str]] = {
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
    "AskUserQuestion": _ask,
    "CronCreate": _schedule,
    "CronDelete": _stop,
    "TaskStop": _stop,
    "KillShell": _stop,
    "KillBash": _stop,
    "Monitor": _monitor,
    "TaskOutput": _look,
    "BashOutput": _look,
    "AgentOutputTool": _look,
    "Skill": _skill,
    "TodoWrite": _todo,
    "TaskCreate": _task_create,
    "TaskUpdate": _task_update,
}


EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
# What these were called with is found again by its exact words.
_EDITS_BY_NAME = ("edit", "write")  # in the name of a server's tool
AS_WRITTEN = EDITS | {"Bash", "AskUserQuestion", "Read", "NotebookRead"}


def edits(tool: str) -> bool:
    """Whether a tool edits files: one of the client's, or a server's with such a name."""
    is_servers = tool.startswith("mcp__")
    return tool in EDITS or (is_servers and within(_EDITS_BY_NAME, tool.rpartition("__")[2]))


def _before(record: Record, tool: str, given: dict[str, Any]) -> list[str]:
    """Return the current state of what a call is about to change."""
    if tool in EDITS:
        used = record.files.get(files.relative(record, files.path_argument(given).strip()))
        return list(used.left) if used else []
    if tool == "TaskUpdate":
        task = record.tasks.get(f"task {given.get('taskId')}"[:80])
        return [task.text, task.status] if task else []
    if tool == "Bash":
        return files.find_written(record, files.text_of(given, "command"))
    return []


def undo(record: Record, call: Call) -> None:
    if edits(call.tool):
        names.take_back(record, call.what, call.place.op)
        _undo_edit(record, call)
    elif call.tool == "TaskUpdate" and call.before and call.what in record.tasks:
        task = record.tasks[call.what]
        task.text, task.status = call.before
    elif call.tool == "ExitPlanMode":
        plans.remove_plan(record, call.place)


def _undo_edit(record: Record, call: Call) -> None:
    used = record.files.get(call.what)
    if used is None:
        return
    used.edits, used.left = max(0, used.edits - 1), call.before
    if used.edits:
        return
    if not used.count:
        del record.files[call.what]
        record.dependencies.pop(call.what, None)


def undo_read(record: Record, name: str) -> None:
    """Forget a file that the session tried to read and that is not there."""
    used = record.files.get(name)
    if used is None:
        return
    used.reads = max(0, used.reads - 1)
    if not used.count:
        del record.files[name]


def undo_command(record: Record, key: str) -> None:
    """Remove a command that the user refused, unless it was run before."""
    if (known := record.commands.get(key)) and known.count == 1:
        del record.commands[key]


def drop_questions(record: Record, call: Call) -> None:
    """Remove the questions of a call that failed, because the user never saw them, or whose answer
    cannot be told."""
    for turn in record.turns:
        turn.questions = [one for one in turn.questions if one.place != call.place]
