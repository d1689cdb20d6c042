"""What the model did: one function for each tool whose calls are recorded."""

from collections.abc import Callable
from typing import Any

from holdfast.record import agents, commands, files, plans, shell, turns
from holdfast.record.model import PLAN_ASKED, Agent, Call, Place, Record
from holdfast.text.sentences import clip

MOST_CALLS = 64
MOST_TOOLS = 64
MOST_RECENT = 6
LONGEST = 400
MOST_ASKED = 20
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
    name = files.use(record, files.path_argument(given), "reads")
    turns.note_read(record, name)
    return name


def _edit(record: Record, given: Given, place: Place, use_id: str) -> str:
    return files.use(record, files.path_argument(given), "edits")


def _write(record: Record, given: Given, place: Place, use_id: str) -> str:
    name = files.use(record, text_of(given, "file_path"), "edits")
    plans.set_plan_file(record, name, text_of(given, "content"), place)
    return name


def _foreign_edit(record: Record, given: Given, place: Place, use_id: str) -> str:
    """Record an edit by a server's tool, if it names a file."""
    path = text_of(given, "file_path") or text_of(given, "path")
    return files.use(record, path, "edits") or _other(record, given, place, use_id)


def _bash(record: Record, given: Given, place: Place, use_id: str) -> str:
    line = clip(text_of(given, "command"), shell.LONGEST_LINE)
    return commands.begin(record, line, place)


def _search(record: Record, given: Given, place: Place, use_id: str) -> str:
    path, pattern = text_of(given, "path"), text_of(given, "pattern")
    return f"{pattern} in {files.relative(record, path)}" if path else pattern


def _agent(record: Record, given: Given, place: Place, use_id: str) -> str:
    asked = text_of(given, "description") or text_of(given, "prompt")
    kind = text_of(given, "subagent_type")[:80]
    agents.add(record, use_id, Agent(kind, clip(asked, LONGEST), place))
    return clip(asked, LONGEST)


def _schedule(record: Record, given: Given, place: Place, use_id: str) -> str:
    when, prompt = text_of(given, "cron")[:80], text_of(given, "prompt").strip()
    agents.schedule(record, use_id, when, prompt, place)
    return clip(f"{when} {prompt}", LONGEST)


def _plan(record: Record, given: Given, place: Place, use_id: str) -> str:
    text = text_of(given, "plan")
    plans.set_plan(record, text, place)
    turns.add_question(record, f"{PLAN_ASKED}{_title(text)}", place)
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


def _monitor(record: Record, given: Given, place: Place, use_id: str) -> str:
    return text_of(given, "description") or text_of(given, "command")


def _todo(record: Record, given: Given, place: Place, use_id: str) -> str:
    plans.todo(record, given, place)
    return ""


def _task_update(record: Record, given: Given, place: Place, use_id: str) -> str:
    return plans.update_task(record, given, place)


def _task_create(record: Record, given: Given, place: Place, use_id: str) -> str:
    return text_of(given, "subject") or text_of(given, "description")


def _skill(record: Record, given: Given, place: Place, use_id: str) -> str:
    """Return a skill's name with its arguments: the name alone does not say what it works on."""
    return clip(f"{text_of(given, 'skill')} {text_of(given, 'args')}".strip(), LONGEST)


def _other(record: Record, given: Given, place: Place, use_id: str) -> str:
    """Return the first text among the arguments of any other tool."""
    return next((text for text in given.values() if isinstance(text, str) and text.strip()), "")


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
    "Skill": _skill,
    "TodoWrite": _todo,
    "TaskCreate": _task_create,
    "TaskUpdate": _task_update,
}


EDITS = files.EDITS
# What these were called with is found again by its exact words.
_EDITS_BY_NAME = ("edit", "write")  # in the name of a server's tool
AS_WRITTEN = EDITS | {"Bash", "AskUserQuestion", "Read", "NotebookRead"}


def edits(tool: str) -> bool:
    """Whether a tool edits files: one of the client's, or a server's with such a name."""
    is_servers = tool.startswith("mcp__")
    return tool in EDITS or (is_servers and any(name in tool for name in _EDITS_BY_NAME))


def _before(record: Record, tool: str, given: dict[str, Any]) -> list[str]:
    """Return the current state of what a call is about to change."""
    if tool == "TaskUpdate":
        task = record.tasks.get(f"task {given.get('taskId')}"[:80])
        return [task.text, task.status] if task else []
    if tool == "Bash":
        return files.find_written(record, files.text_of(given, "command"))
    return []


def undo(record: Record, call: Call) -> None:
    if edits(call.tool):
        undo_use(record, call.what, "edits")
    elif call.tool == "TaskUpdate" and call.before and call.what in record.tasks:
        task = record.tasks[call.what]
        task.text, task.status = call.before
    elif call.tool == "ExitPlanMode":
        plans.remove_plan(record, call.place)


def undo_use(record: Record, name: str, how: str) -> None:
    """Forget a use of a file by a call that failed: an edit, or reading what is not there."""
    if used := record.files.get(name):
        setattr(used, how, max(0, getattr(used, how) - 1))
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
        turn.questions = [question for question in turn.questions if question.place != call.place]
