"""What tools returned: how commands went, which lines an edit touched, what the user answered.

Output of a tool is never taken for a rule. Only its head and tail are searched.
"""

from collections.abc import Iterator

import msgspec

from holdfast.record import (
    agents,
    calls,
    commands,
    files,
    git,
    plans,
    shell,
    turns,
)
from holdfast.record.model import PLAN_ASKED, Call, FileUse, Place, Record
from holdfast.record.turns import REFUSED
from holdfast.redact import redact_answer
from holdfast.text.sentences import Lazy, clip
from holdfast.transcript.blocks import ToolResult, attempt, decoded
from holdfast.transcript.entries import Result

REPORT_CHARS = 20_000  # of a subagent's answer
MOST_CHARS = 1_000_000
MOST_ANSWERS = 20
_ANSWERS = b'"answers"'
LONGEST_REFUSED = 200
ASKED = "AskUserQuestion"
_GOES_ON = b" in background with ID"
_RECORD = b'"toolUseResult":'
START_BYTES = 80
_REJECTED = b'"User rejected'  # errors begin with "Error: " instead
_STOPPED = b'"Error: The user doesn'
# Tools that ask for leave and whose errors are the client's own words. Of any other the error may
# be what a page, a server or a program said, and put any words into the user's mouth.
_ASK_FOR_LEAVE = calls.EDITS | {"Bash", ASKED, "ExitPlanMode"}
# Clients that write this begin the error of a command with its exit code; an older one leaves the
# beginning to the command.
_CALLER = b'"sourceToolAssistantUUID":'
_DENIED = b'"Error: Permission for this tool use was denied'
_REFUSALS = ("The user doesn't want to proceed", "Permission for this tool use was denied")
_USER_SAID = Lazy(r"[Tt]he user said:")
_CLARIFIES = "The user wants to clarify these questions."  # the client's words, with answers below
_GIVEN = ("Answer: ", "User notes: ")
_NOTE = "\n\nNote: The user's next message"
_NOTED, _PREVIEW = '" user notes: ', '" selected preview:\n'  # behind an answer
_NO_FILE = "File does not exist"
PREAMBLE_CHARS = 800


class _Hunk(msgspec.Struct, rename="camel"):
    new_start: int = 0
    lines: list[str] = []


class _Edit(msgspec.Struct, rename="camel"):
    """What the client says about an edit."""

    structured_patch: list[_Hunk] = []
    content: str = ""  # of a file that was written


_decode_edit = msgspec.json.Decoder(_Edit).decode


def take_result(record: Record, entry: Result, block: ToolResult, place: Place) -> Call | None:
    """Record one result according to its call; return the call."""
    use_id = agents.one_line(block.tool_use_id)
    call = record.calls.pop(use_id, None)
    if call is None:
        return None
    tool = call.tool
    is_refused = block.is_error and is_rejection(tool, entry.data)
    if block.is_error:
        _mark_failed(record, call)
        calls.undo(record, call)
        if tool == "Read" and _NO_FILE in block.text[:200]:
            calls.undo_use(record, call.what, "reads")
    else:
        plans.apply_success(record, tool, call.what)
        if calls.edits(tool) and call.what in record.files:
            commands.note_edit(record, call.what)
            git.note_edit(record)
    if tool == "Bash":
        _ran(record, call, block, place)
    elif tool in calls.EDITS and not block.is_error and call.what in record.files:
        _note_change(record.files[call.what], entry)
    elif tool in ("Task", "Agent"):
        _agent_answered(record, block, is_refused=is_refused)
    elif tool in ("TaskOutput", "AgentOutputTool"):
        agents.take_notification(record, block.text[:REPORT_CHARS], place)
    elif tool == "Monitor":
        agents.add_monitor(record, call, block.text[:400], place)
    elif tool == "CronCreate" and not block.is_error:
        agents.rename(record, use_id, block.text[:400].partition(" job ")[2])
    elif tool == "TaskCreate" and not block.is_error:
        plans.add_task(record, call.what, block.text[:80], place)
    elif tool == ASKED and not block.is_error:
        _answered(record, call, entry, block.text, place)
    elif tool.endswith(f"__{ASKED}") and not block.is_error:  # of a server, which may invent it
        turns.add_unsure(record, [block.text], place)
    elif tool == "ExitPlanMode" and not block.is_error:
        turns.add_answer(record, PLAN_ASKED + call.what, "approved", place)
    if is_refused:
        _rejected(record, call, block.text, place)
        calls.undo_command(record, call.what)
    elif block.is_error:
        if looks_rejected(entry.data):  # of a server, or in the words of a program
            turns.add_unsure(record, [refusal_words(block.text)], place)
        if tool in (ASKED, "ExitPlanMode"):
            calls.drop_questions(record, call)
    return call


def _mark_failed(record: Record, call: Call) -> None:
    """Mark the call as failed among the last calls. A saved and reloaded record holds another
    object for it, so it is found by its place."""
    for one in record.recent:
        if one.place == call.place and one.what == call.what:
            one.failed = True


def _ran(record: Record, call: Call, block: ToolResult, place: Place) -> None:
    line = call.what
    if _GOES_ON in bytes(memoryview(block.raw_content)[:80]):
        agents.add_command(record, call, block.text[:400], place)
        return  # how it went is not known yet
    is_old = record.far and not block.is_error and not shell.git_verbs(line)
    text = "" if is_old else block.text[:MOST_CHARS]  # of an old success only the mark counts
    if call.before and not block.is_error and not shell.git_verbs(line):
        git.note_edit(record)  # git itself writes what others have edited
    if not (block.is_error and text.startswith(commands.NOT_RUN)):
        git.note_answer(record, line, text, call.place, failed=block.is_error)
    commands.end(record, line, text, place, failed=block.is_error)
    if not block.is_error:
        files.remove(record, line)
        for name in call.before:
            files.change(record, name, "written")
            commands.note_edit(record, name)


def _note_change(used: FileUse, entry: Result) -> None:
    """Record where an edit was, and its size, from the client's own record."""
    edit = attempt(_decode_edit, bytes(entry.tool_use_result)) or _Edit()
    used.line = 0
    lines = [line for hunk in edit.structured_patch for line in hunk.lines]
    used.added += sum(line.startswith("+") for line in lines)
    used.removed += sum(line.startswith("-") for line in lines)
    if edit.structured_patch:
        used.line = edit.structured_patch[-1].new_start
    elif edit.content:
        used.added += len(edit.content.splitlines())


def _findings(text: str) -> str:
    """Return the text from its first heading on, if one comes soon: before it is only a
    preamble."""
    start = text.find("\n#", 0, PREAMBLE_CHARS)
    return text[start + 1 :] if start >= 0 else text


def _agent_answered(record: Record, block: ToolResult, *, is_refused: bool) -> None:
    use_id = agents.one_line(block.tool_use_id)
    agent = record.agents.get(use_id)
    if block.text.startswith(agents.LAUNCHED):
        told = block.text.partition("agentId: ")[2] or block.text.partition("agent_id: ")[2]
        agents.rename(record, use_id, told)
    elif agent is not None and is_refused:
        agent.status = "refused by the user"
    elif agent is not None:
        agent.status = "failed" if block.is_error else "done"
        agents.take_answer(record, agent, _findings(agents.report(block.text)))


def _answered(record: Record, call: Call, entry: Result, text: str, place: Place) -> None:
    """Record the user's choice among the model's options as words of the user. The client's own
    record says which answer belongs to which question; the text alone does not, because a question
    may contain quotes."""
    usable = answers(entry)
    for question, words in usable:
        turns.add_answer(record, question, redact_answer(question, words), place)
    if usable:
        return
    if words := _answer_to(call.what, text):
        turns.add_answer(record, call.what, redact_answer(call.what, words), place)
    else:
        calls.drop_questions(record, call)  # it was answered, and nobody can tell how


def _answer_to(question: str, text: str) -> str:
    """Return the answer to the only question of a form; empty if it cannot be told from the
    question, which is the model's."""
    told = text.partition(": ")[2].rpartition(". You can now")[0].strip()
    begins = f'"{question}"="'
    if not question or not told.startswith(begins):
        return ""
    given = told[len(begins) :]
    for behind in (_PREVIEW, _NOTED):  # a preview is the model's, and may imitate notes
        answer, found, notes = given.partition(behind)
        if found:
            return _with_notes(answer.strip(), notes.strip() if behind == _NOTED else "")
    return given[:-1].strip() if given.endswith('"') else ""


def answers(entry: Result) -> list[tuple[str, str]]:
    """Return each question of the model with the user's answer, from the client's own record."""
    if _ANSWERS not in entry.data:  # a search costs less than decoding
        return []
    found = decoded(entry.tool_use_result)
    told = found.get("answers") if isinstance(found, dict) else None
    if not isinstance(told, dict):
        return []
    notes = _notes(found.get("annotations"))
    pairs = [(one, _chosen(told.get(one))) for one in {**told, **notes}][:MOST_ANSWERS]
    both = [(one, _with_notes(words, notes.get(one, ""))) for one, words in pairs]
    return [(question, words) for question, words in both if words]


def _chosen(answer: object) -> str:
    """Return one answer, or several that were ticked."""
    some = answer if isinstance(answer, list) else [answer]
    return ", ".join(one.strip() for one in some if isinstance(one, str)).strip()


def _notes(annotations: object) -> dict[str, str]:
    """Return what the user typed beside the options of each question."""
    found = annotations.items() if isinstance(annotations, dict) else ()
    typed = ((one, beside.get("notes")) for one, beside in found if isinstance(beside, dict))
    return {one: notes.strip() for one, notes in typed if isinstance(notes, str) and notes.strip()}


def _with_notes(chosen: str, notes: str) -> str:
    """Return an answer with the user's notes. The client often repeats them as the answer."""
    if not notes or chosen == notes or chosen.endswith(f", {notes}"):
        return chosen
    return f"{chosen}; {notes}" if chosen else notes


def _clarified(text: str) -> Iterator[tuple[str, str]]:
    """Yield what the user had answered before asking to discuss the questions."""
    question = ""
    for line in map(str.strip, text.partition("Questions asked:")[2].splitlines()):
        if line.startswith('- "'):
            question = line[3:].removesuffix('"')
        elif line.startswith(_GIVEN) and question:
            yield question, line.partition(": ")[2]


def looks_rejected(data: bytes) -> bool:
    """Whether this is the result of a call that the user stopped, or imitates one."""
    told = _record_start(data)
    return told.startswith((_REJECTED, _STOPPED)) or (
        told.startswith(_DENIED) and b"The user said:" in data
    )


def _record_start(data: bytes) -> bytes:
    """Return how the client's own record of a result begins."""
    start = data.find(_RECORD) + len(_RECORD)
    return data[start : start + START_BYTES].lstrip(b" ") if start >= len(_RECORD) else b""


def is_rejection(tool: str, data: bytes) -> bool:
    """Whether the client's own record says that the user stopped the call."""
    if _record_start(data).startswith(_REJECTED):
        return not tool.startswith("mcp__")
    return tool in _ASK_FOR_LEAVE and _CALLER in data and looks_rejected(data)


def _rejected(record: Record, call: Call, text: str, place: Place) -> None:
    """Record that the user stopped a call. If the user typed words with it, they begin a turn."""
    refused = f"{REFUSED}{call.tool} {call.what}"
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
    """Return what the user typed on refusing a call."""
    found = _USER_SAID.pattern.search(text) if text.startswith(_REFUSALS) else None
    return text[found.end() :].partition(_NOTE)[0].strip() if found else ""
