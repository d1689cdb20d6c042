"""What came back: how commands went, which lines an edit touched, what the user answered.

What a tool printed is nobody's rule. Only heads and tails of what ran are looked at.
"""

from re import MULTILINE

import msgspec

from holdfast.checkpoint.extract import cues, names, paths, prompts, shell, tasks
from holdfast.checkpoint.extract.lazy import Lazy
from holdfast.checkpoint.facts import Call, Command, Facts, Failure, Place
from holdfast.transcript import Result, ToolResult

HEAD_CHARS = 6000
REPORT_CHARS = 20_000  # of a subagent's answer
LISTED_CHARS = 1500
LONGEST_LINE = 240
MOST_CHARS = 1_000_000
MOST_LINES = 6
MOST_FAILURES = 30
LONGEST_ANSWER = 600
SEEN = 0.25
COPY_BYTES = 400_000  # of a line that tells an edit; a longer one tells no ranges
_EDITS = frozenset({"Edit", "MultiEdit", "Write"})
_ASKED = "AskUserQuestion"
_START, _COUNT = b'"newStart":', b',"newLines":'
_WRONG = (
    *("error", "exception", "panic", "fail", "cannot", "undefined", "traceback", "not found"),
    *("denied", "refused", "mismatch", "invalid", "unresolved", "✗", "✖", "❌", "✕"),
)
# Said by a runner whose exit code a pipe has hidden. "0 failed" is no failure.
_FAILED = (
    "FAIL",
    "--- FAIL",
    "panic:",
    "Traceback",
    "error:",
    "error[",
    "E   ",
    "npm ERR!",
    "✗",
    "✖",
)
_FAILING = (" FAILED", "error TS", "❌", "✕ ")
_HINTS = ("FAIL", "rror", "fail", "panic", "Traceback", "E   ", "ERR!", "✗", "✖", "❌", "✕")
_COUNTED = Lazy(r"\b[1-9]\d* (?:failed|failing|failures?|errors?)\b")
_NOT_RUN = (
    "doesn't want to proceed",
    "doesn't want to take",
    "[Request interrupted",
    "<tool_use_error>",
)
_COMMITTED = Lazy(r"^\[([^\s\]]+)(?: \([^)]*\))? ([0-9a-f]{7,40})\] (.{1,120})", MULTILINE)
_decode = msgspec.json.Decoder(str).decode
_USER_SAID = "the user said:"


def come_back(facts: Facts, entry: Result, block: ToolResult, place: Place) -> Call | None:
    """One result, judged by the call it answers, which is given back."""
    call = facts.calls.pop(block.tool_use_id[:80], None)
    if call is None:
        return None
    tool = call.tool
    if tool == "Bash":
        _ran(facts, call, block, place)
    elif tool in _EDITS and not facts.far:
        _edited(facts, call, entry.data)
    elif tool in ("Task", "Agent", "TaskOutput"):
        _agent_answered(facts, block)
    elif tool in ("Grep", "Glob") and not facts.far:
        _found(facts, block.text[:HEAD_CHARS])
    elif tool == "TaskCreate":
        tasks.created(facts, call.what, block.text[:80], place)
    elif tool == _ASKED and not block.is_error:
        _answered(facts, block.text[:2000], place)
    if block.is_error and tool[:5] != "mcp__":
        _rejected(facts, entry, block.text[:4000], place)
    return call


def _ran(facts: Facts, call: Call, block: ToolResult, place: Place) -> None:
    command = facts.commands.get(call.what)
    if facts.far and not block.is_error and not (command and command.kind):
        if command is not None:
            command.ok = True  # long past, and nothing to judge it by but its exit
            _pass(facts, call.what, place)
        return
    text = _text(block)
    if "[" in text[:200] and "] " in text[:400]:
        _committed(facts, text[:1000])
    mention(facts, text[:LISTED_CHARS], 0.15)
    if command is not None and not cues.within(_NOT_RUN, text[:200]):
        _judge(facts, call.what, command, text, place, failed=block.is_error)


def _text(block: ToolResult) -> str:
    """Its words, by one decoder for all; the block knows how to mend and join the rest."""
    try:
        found = _decode(block.raw_content)
    except (msgspec.DecodeError, ValueError, RecursionError):
        found = None
    return (found if isinstance(found, str) else block.text)[:MOST_CHARS]


def _judge(
    facts: Facts, key: str, command: Command, text: str, place: Place, *, failed: bool
) -> None:
    edge = HEAD_CHARS // 4 if facts.far else HEAD_CHARS
    edges = text if len(text) <= 2 * edge else text[:edge] + "\n" + text[-edge:]
    failed = failed or (bool(command.kind) and _says_failed(edges))
    command.ok = not failed
    if failed:
        command.said = wrong_lines(edges) or _last_lines(edges)
        _fail(facts, key, command, place)
    else:
        command.said = _last_lines(edges[-600:])[-1:]
        _pass(facts, key, place)


def _says_failed(text: str) -> bool:
    if not cues.within(_HINTS, text):
        return False
    for line in text.splitlines():
        if line.startswith(_FAILED) or cues.within(_FAILING, line):
            return True
    return ("fail" in text or "error" in text) and bool(_COUNTED.pattern.search(text))


def wrong_lines(text: str) -> list[str]:
    """The lines that name an error, each once, the first few."""
    found: dict[str, None] = {}
    for line in text.splitlines():
        low = line.lower()
        if cues.within(_WRONG, low):
            line = line.strip()
            if 12 <= len(line) <= 400 and "Exit code" not in line:
                found[line[:LONGEST_LINE]] = None
                if len(found) >= MOST_LINES:
                    break
    return list(found)


def _last_lines(text: str) -> list[str]:
    lines = [line.strip() for line in text[-2000:].splitlines()]
    return [line[:LONGEST_LINE] for line in lines if line and "Exit code" not in line][-2:]


def _fail(facts: Facts, key: str, command: Command, place: Place) -> None:
    """The newest failure of a command stands for those before it."""
    again = next((one for one in facts.failures if one.command == key and not one.fixed), None)
    if again is not None:
        again.lines, again.place, again.passes = command.said, place, 0
        return
    facts.failures.append(Failure(key, command.said, place))
    if len(facts.failures) > MOST_FAILURES:
        fixed = [one for one in facts.failures if one.fixed]
        facts.failures.remove((fixed or facts.failures)[0])


def _pass(facts: Facts, key: str, place: Place) -> None:
    for failure in facts.failures:
        if failure.fixed is not None:
            continue
        if _covers(key, failure.command):
            failure.fixed, failure.fix, failure.edited = place, failure.edited, []
        elif facts.commands[key].kind:
            failure.passes += 1


def _covers(passed: str, failed: str) -> bool:
    """The same command, or the same run on everything."""
    if passed == failed:
        return True
    whole = passed.removesuffix(" ./...")
    return " " in whole and failed.startswith(f"{whole} ")


def _edited(facts: Facts, call: Call, data: bytes) -> None:
    start = data.rfind(b'"structuredPatch":[') if len(data) <= COPY_BYTES else -1
    if start < 0:
        return
    paths.edited_at(facts, call.what, _spans(data, start))


def _spans(data: bytes, start: int) -> list[tuple[int, int]]:
    """First and last line of each hunk of the client's own record."""
    found: list[tuple[int, int]] = []
    while len(found) < 6 and (start := data.find(_START, start)) >= 0:
        start += len(_START)
        first, comma, rest = data[start : start + 40].partition(_COUNT)
        count = rest.partition(b",")[0].partition(b"}")[0]
        if comma and first.isdigit() and count.isdigit():
            found.append((int(first), int(first) + max(int(count), 1) - 1))
    return found


def _committed(facts: Facts, text: str) -> None:
    for branch, commit, subject in _COMMITTED.pattern.findall(text)[:3]:
        names.point(facts, commit, "commit", 1.0, subject)
        if branch not in ("main", "master", "detached"):
            names.point(facts, branch, "branch", 1.0)


def _found(facts: Facts, text: str) -> None:
    """Files a search came upon, a little warmer each time."""
    heads = (line.partition(":")[0] for line in text.splitlines())
    for name in list(dict.fromkeys(head for head in heads if "." in head and " " not in head))[:30]:
        paths.use(facts, name, "seen", SEEN)


def mention(facts: Facts, text: str, weight: float = SEEN) -> None:
    """Files a text names."""
    if facts.far:
        return
    for name in shell.named(text)[:30]:
        if "/" in name:
            paths.use(facts, name, "seen", weight)


def _agent_answered(facts: Facts, block: ToolResult) -> None:
    mention(facts, block.text[:REPORT_CHARS])
    agent = facts.agents.get(block.tool_use_id[:80])
    if agent is not None:
        agent.answer = block.text[:LONGEST_ANSWER].strip()
        agent.status = "failed" if block.is_error else "done"


def _answered(facts: Facts, text: str, place: Place) -> None:
    """The user chose among what the model offered: these are the user's words too."""
    from holdfast.checkpoint.facts import Rule

    words = text.partition(":")[2].partition(". You can now")[0].strip() or text.strip()
    if words:
        facts.rules.append(Rule(words[: prompts.LONGEST_RULE], place, "choice"))
        del facts.rules[: -prompts.MOST_RULES]


def _rejected(facts: Facts, entry: Result, text: str, place: Place) -> None:
    """The user stopped a call, and said why. The client's own record must say so as well."""
    if _USER_SAID not in text or not text.startswith("The user doesn't want to proceed"):
        return
    if b'"toolUseResult":"User rejected' in entry.data or b"Error: The user doesn" in entry.data:
        prompts.hear(facts, text.partition(_USER_SAID)[2], place)
