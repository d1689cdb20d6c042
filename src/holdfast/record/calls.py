"""Calls of tools and what they returned: what the model used and ran, how commands went, which
lines an edit touched, what the user answered.

Output of a tool is never taken for a rule. Only its head and tail are searched.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from holdfast.record import agents, commands, files, git, plans, shell, turns
from holdfast.record.model import PLAN_ASKED, Agent, Call, FileUse, Place, Record
from holdfast.redact.find import redact_answer
from holdfast.text.sentences import clip
from holdfast.transcript.blocks import ToolResult, attempt, decoded
from holdfast.transcript.entries import Result

MOST_CALLS, MOST_TOOLS, MOST_RECENT = 64, 64, 6
LONGEST = 400
MOST_ASKED = MOST_ANSWERS = 20
REPORT_CHARS = 20_000  # of a subagent's answer
MOST_CHARS = 1_000_000
LONGEST_REFUSED = 200
START_BYTES = 80
PREAMBLE_CHARS = 800
ASKED = "AskUserQuestion"
Fields = dict[str, Any]
text_of = files.text_of
# What these were called with is found again by its exact words.
_AS_WRITTEN = files.EDITS | {"Bash", ASKED, "Read", "NotebookRead"}
_SUBJECTS = ("subject", "description", "command")
_EDITS_BY_NAME = ("edit", "write")  # in the name of a server's tool
_ANSWERS = b'"answers"'
_GOES_ON = b" in background with ID"
_RECORD = b'"toolUseResult":'
_REJECTED = b'"User rejected'  # errors begin with "Error: " instead
_STOPPED = b'"Error: The user doesn'
# Tools that ask for leave and whose errors are the client's own words. Of any other the error may
# be what a page, a server or a program said, and put any words into the user's mouth.
_ASK_FOR_LEAVE = files.EDITS | {"Bash", ASKED, "ExitPlanMode"}
# Clients that write this begin the error of a command with its exit code; an older one leaves the
# beginning to the command.
_CALLER = b'"sourceToolAssistantUUID":'
_DENIED = b'"Error: Permission for this tool use was denied'
_REFUSALS = ("The user doesn't want to proceed", "Permission for this tool use was denied")
_USER_SAID = re.compile(r"[Tt]he user said:")
_CLARIFIES = "The user wants to clarify these questions."  # the client's words, with answers below
_GIVEN = ("Answer: ", "User notes: ")
_NOTE = "\n\nNote: The user's next message"
_NO_FILE = "File does not exist"


def take_call(record: Record, tool: str, use_id: str, fields: Fields, place: Place) -> None:
    tool, use_id = agents.one_line(tool), agents.one_line(use_id)
    if tool in record.tools or len(record.tools) < MOST_TOOLS:
        record.tools[tool] = record.tools.get(tool, 0) + 1
    earlier = _before(record, tool, fields)
    describe = _BY_TOOL.get(tool, _foreign_edit if edits(tool) else _other)
    what = describe(record, fields, place, use_id)
    if tool not in _AS_WRITTEN:
        what = agents.one_line(what, LONGEST)
    most = shell.LONGEST_LINE if tool == "Bash" else LONGEST
    call = Call(tool, clip(what, most), place, earlier)
    record.recent = [*record.recent[1 - MOST_RECENT :], call]
    record.calls[use_id] = call
    turns.current(record).works_on = True
    while len(record.calls) > MOST_CALLS:
        del record.calls[next(iter(record.calls))]


def edits(tool: str) -> bool:
    """Whether a tool edits files: one of the client's, or a server's with such a name."""
    is_servers = tool.startswith("mcp__")
    return tool in files.EDITS or (is_servers and any(name in tool for name in _EDITS_BY_NAME))


def _before(record: Record, tool: str, fields: Fields) -> list[str]:
    """Return the state of what a call is about to change, or the files that a command writes."""
    if tool == "TaskUpdate":
        task = record.tasks.get(f"task {fields.get('taskId')}"[:80])
        return [task.text, task.status] if task else []
    return files.find_written(record, text_of(fields, "command")) if tool == "Bash" else []


def _read(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    name = files.use(record, files.path_argument(fields), "reads")
    turns.note_read(record, name)
    return name


def _edit(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    name = files.use(record, files.path_argument(fields), "edits")
    plans.set_plan_file(record, name, text_of(fields, "content"), place)
    return name


def _foreign_edit(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    path = text_of(fields, "file_path") or text_of(fields, "path")
    return files.use(record, path, "edits") or _other(record, fields, place, use_id)


def _bash(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    line = clip(text_of(fields, "command"), shell.LONGEST_LINE)
    return commands.begin(record, line, place)


def _agent(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    task = clip(text_of(fields, "description") or text_of(fields, "prompt"), LONGEST)
    agents.add(record, use_id, Agent(text_of(fields, "subagent_type")[:80], task, place))
    return task


def _schedule(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    """Add a schedule: the client will send this prompt by itself, in the user's name."""
    when, prompt = text_of(fields, "cron")[:80], text_of(fields, "prompt").strip()
    agents.add(record, use_id, Agent(agents.SCHEDULE, f"{when}: {prompt}", place))
    return f"{when} {prompt}"


def _plan(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    text = text_of(fields, "plan")
    title = clip(text.strip().partition("\n")[0].lstrip("# "), LONGEST)
    plans.set_plan(record, text, place)
    turns.add_question(record, f"{PLAN_ASKED}{title}", place)
    return title


def _ask(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    listed = fields.get("questions")
    rows = listed if isinstance(listed, list) else []
    questions = (text_of(row, "question") for row in rows if isinstance(row, dict))
    texts = [text for text in questions if text.strip()][:MOST_ASKED]
    for text in texts:
        turns.add_question(record, text, place)
    return " / ".join(texts)


def _stop(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    name = text_of(fields, "task_id") or text_of(fields, "shell_id") or text_of(fields, "id")
    agents.mark_stopped(record, name)
    return name


def _todo(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    plans.todo(record, fields, place)
    return ""


def _task_update(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    return plans.update_task(record, fields, place)


def _subject(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    return next(filter(None, (text_of(fields, key) for key in _SUBJECTS)), "")


def _other(record: Record, fields: Fields, place: Place, use_id: str) -> str:
    return ", ".join(text for text in fields.values() if isinstance(text, str) and text.strip())


_BY_TOOL: dict[str, Callable[[Record, Fields, Place, str], str]] = {
    **dict.fromkeys(("Read", "NotebookRead"), _read),
    **dict.fromkeys(files.EDITS, _edit),
    **dict.fromkeys(("Task", "Agent"), _agent),
    **dict.fromkeys(("CronDelete", "TaskStop", "KillShell", "KillBash"), _stop),
    **dict.fromkeys(("Monitor", "TaskCreate"), _subject),
    "Bash": _bash,
    "ExitPlanMode": _plan,
    ASKED: _ask,
    "CronCreate": _schedule,
    "TodoWrite": _todo,
    "TaskUpdate": _task_update,
}


class _Hunk(msgspec.Struct, rename="camel"):
    lines: list[str] = []


class _Edit(msgspec.Struct, rename="camel"):
    structured_patch: list[_Hunk] = []
    content: str = ""  # of a file that was written


_decode_edit = msgspec.json.Decoder(_Edit).decode


def take_result(record: Record, entry: Result, block: ToolResult, place: Place) -> Call | None:
    use_id = agents.one_line(block.tool_use_id)
    call = record.calls.pop(use_id, None)
    if call is None:
        return None
    tool = call.tool
    is_refused = block.is_error and _is_rejection(tool, entry.data)
    if block.is_error:
        _undo(record, call, block)
    elif edits(tool) and call.what in record.files:
        commands.note_edit(record, [call.what])
        _note_change(record, record.files[call.what], entry)
    if tool == "Bash":
        _ran(record, call, block, place)
    elif tool in ("Task", "Agent"):
        _agent_answered(record, block, is_refused=is_refused)
    elif tool in ("TaskOutput", "AgentOutputTool"):
        agents.take_notification(record, block.text[:REPORT_CHARS], place)
    elif tool == agents.MONITOR:
        agents.add_command(record, call, block.text[:400], place)
    elif not block.is_error:
        _succeeded(record, call, entry, block, place)
    if is_refused:
        _rejected(record, call, block.text, place)
        commands.forget(record, call.what)
    elif block.is_error:
        if looks_rejected(entry.data):  # of a server, or in the words of a program
            turns.add_unsure(record, [refusal_words(block.text)], place)
        if tool in (ASKED, "ExitPlanMode"):
            _drop_questions(record, call)
    return call


def _succeeded(record: Record, call: Call, entry: Result, block: ToolResult, place: Place) -> None:
    if call.tool == "CronCreate":
        printed = block.text[:400].partition(" job ")[2]
        agents.rename(record, agents.one_line(block.tool_use_id), printed)
    elif call.tool == "TaskCreate":
        plans.add_task(record, call.what, block.text[:80], place)
    elif call.tool == ASKED:
        _answered(record, call, entry, block.text, place)
    elif call.tool.endswith(f"__{ASKED}"):  # of a server, which may invent it
        turns.add_unsure(record, [block.text], place)
    elif call.tool == "ExitPlanMode":
        turns.add_answer(record, PLAN_ASKED + call.what, "approved", place)


def _undo(record: Record, call: Call, block: ToolResult) -> None:
    """Take back what was recorded for a call that failed; it is found by its place."""
    for other in record.recent:
        other.failed |= other.place == call.place and other.what == call.what
    if edits(call.tool):
        files.undo_use(record, call.what, "edits")
    elif call.tool == "Read" and _NO_FILE in block.text[:200]:
        files.undo_use(record, call.what, "reads")
    elif call.tool == "TaskUpdate" and call.before and call.what in record.tasks:
        task = record.tasks[call.what]
        task.text, task.status = call.before
    elif call.tool == "ExitPlanMode":
        plans.remove_plan(record, call.place)


def _drop_questions(record: Record, call: Call) -> None:
    """Remove the questions of a call: nobody saw them, or their answer cannot be told."""
    for turn in record.turns:
        turn.questions = [question for question in turn.questions if question.place != call.place]


def _ran(record: Record, call: Call, block: ToolResult, place: Place) -> None:
    line = call.what
    if _GOES_ON in bytes(memoryview(block.raw_content)[:80]):
        agents.add_command(record, call, block.text[:400], place)
        return  # how it went is not known yet
    is_old = record.far and not block.is_error and not shell.git_verbs(line)
    text = "" if is_old else block.text[:MOST_CHARS]  # of an old success only the mark counts
    if not block.is_error:
        files.remove(record, line)
        written = filter(None, (files.use(record, name, "written") for name in call.before))
        if names := list(written):
            commands.note_edit(record, names)
    if not (block.is_error and text.startswith(commands.NOT_RUN)):
        git.note_answer(record, line, text, call.place, failed=block.is_error)
        commands.end(record, line, text, place, failed=block.is_error)


def _note_change(record: Record, used: FileUse, entry: Result) -> None:
    """Record the size of an edit from the client's own record, and what was said at the largest."""
    edit = attempt(_decode_edit, bytes(entry.tool_use_result)) or _Edit()
    lines = [line for hunk in edit.structured_patch for line in hunk.lines]
    added = sum(line.startswith("+") for line in lines)
    added += 0 if edit.structured_patch else len(edit.content.splitlines())
    removed = sum(line.startswith("-") for line in lines)
    used.added, used.removed = used.added + added, used.removed + removed
    if added + removed >= max(1, used.largest):
        used.largest, used.said = added + removed, turns.words_before(record)


def _agent_answered(record: Record, block: ToolResult, *, is_refused: bool) -> None:
    use_id = agents.one_line(block.tool_use_id)
    agent = record.agents.get(use_id)
    if block.text.startswith(agents.LAUNCHED):
        name = block.text.partition("agentId: ")[2] or block.text.partition("agent_id: ")[2]
        agents.rename(record, use_id, name)
    elif agent is not None and is_refused:
        agent.status = "refused by the user"
    elif agent is not None:
        agent.status = "failed" if block.is_error else "done"
        text = agents.report(block.text)
        start = text.find("\n#", 0, PREAMBLE_CHARS) + 1  # before a heading is only a preamble
        agents.take_answer(record, agent, text[start:])


def _answered(record: Record, call: Call, entry: Result, text: str, place: Place) -> None:
    """Record the user's choice among the model's options as words of the user. The client's own
    record says which answer belongs to which question; the text alone does not."""
    usable = answers(entry)
    for question, words in usable:
        turns.add_answer(record, question, redact_answer(question, words), place)
    if not usable:
        _drop_questions(record, call)
        turns.add_unsure(record, [text], place)


def answers(entry: Result) -> list[tuple[str, str]]:
    """Return each question of the model with the user's answer, from the client's own record."""
    if _ANSWERS not in entry.data:  # a search costs less than decoding
        return []
    result = decoded(entry.tool_use_result)
    form = result.get("answers") if isinstance(result, dict) else None
    if not isinstance(form, dict):
        return []
    notes = _notes(result.get("annotations"))
    pairs = [(text, _chosen(form.get(text))) for text in {**form, **notes}][:MOST_ANSWERS]
    both = [(text, _with_notes(words, notes.get(text, ""))) for text, words in pairs]
    return [(question, words) for question, words in both if words]


def _chosen(answer: object) -> str:
    some = answer if isinstance(answer, list) else [answer]
    return ", ".join(text.strip() for text in some if isinstance(text, str)).strip()


def _notes(annotations: object) -> dict[str, str]:
    rows = annotations.items() if isinstance(annotations, dict) else ()
    typed = ((text, row.get("notes")) for text, row in rows if isinstance(row, dict))
    return {text: note.strip() for text, note in typed if isinstance(note, str) and note.strip()}


def _with_notes(chosen: str, notes: str) -> str:
    """Return an answer with the user's notes. The client often repeats them as the answer."""
    if not notes or chosen == notes or chosen.endswith(f", {notes}"):
        return chosen
    return f"{chosen}; {notes}" if chosen else notes


def _clarified(text: str) -> Iterator[tuple[str, str]]:
    question = ""
    for line in map(str.strip, text.partition("Questions asked:")[2].splitlines()):
        if line.startswith('- "'):
            question = line[3:].removesuffix('"')
        elif line.startswith(_GIVEN) and question:
            yield question, line.partition(": ")[2]


def looks_rejected(data: bytes) -> bool:
    """Whether this is the result of a call that the user stopped, or imitates one."""
    start = _record_start(data)
    return start.startswith((_REJECTED, _STOPPED)) or (
        start.startswith(_DENIED) and b"The user said:" in data
    )


def _record_start(data: bytes) -> bytes:
    start = data.find(_RECORD) + len(_RECORD)
    return data[start : start + START_BYTES].lstrip(b" ") if start >= len(_RECORD) else b""


def _is_rejection(tool: str, data: bytes) -> bool:
    if _record_start(data).startswith(_REJECTED):
        return not tool.startswith("mcp__")
    return tool in _ASK_FOR_LEAVE and _CALLER in data and looks_rejected(data)


def _rejected(record: Record, call: Call, text: str, place: Place) -> None:
    """Record that the user stopped a call. If the user typed words with it, they begin a turn."""
    refused = f"{turns.REFUSED}{call.tool} {call.what}"
    said = refusal_words(text)
    if said.startswith(_CLARIFIES):
        for question, words in _clarified(said):
            turns.add_answer(record, question, redact_answer(question, words), place)
        said = ""
    if call.tool == "ExitPlanMode":
        turns.add_answer(record, PLAN_ASKED + call.what, "refused", place)
    turns.current(record).interrupted = True
    turns.begin(record, said, place, reply_to=clip(refused, LONGEST_REFUSED))


def refusal_words(text: str) -> str:
    match = _USER_SAID.search(text) if text.startswith(_REFUSALS) else None
    return text[match.end() :].partition(_NOTE)[0].strip() if match else ""
