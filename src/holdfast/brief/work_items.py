"""Items about the work: what somebody pinned, how it stood at the end of the session, what is open,
what subagents returned, what the model said, and which files and commands were used: these have a
small part of the brief, because lists take room from words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec.structs import replace

from holdfast.brief.item import (
    EDITED,
    LAST_FAILED,
    MOST_ARCHIVED,
    STILL_RUNNING,
    Archived,
    BriefItem,
    quote_ends,
    times,
)
from holdfast.brief.quotes import is_answered, is_replaced
from holdfast.budget.compartments import BACKGROUND, units
from holdfast.budget.ledger import USER, Pin
from holdfast.record import commands, open_items
from holdfast.record.files import relative
from holdfast.record.git import answers, describe_answer, describe_branch
from holdfast.record.model import Call, Place, Record, rank
from holdfast.record.shell import simple_commands
from holdfast.record.turns import began, turn_number
from holdfast.redact.find import redact
from holdfast.text.fence import agent_name, both_ends, code, flat, plain_name, quoted

LONGEST_PINNED, SHORTEST_PINNED = 300, 30
PIN = "pin "  # how the reason of a pin begins; its id follows
FRESH_OPS = 3
PRINTED_CHARS, SHOWN_CHARS = 240, 200
MOST_PRINTED, MOST_ENDED, MOST_ADDED = 12, 8, 4
LAST_CHARS = 800  # of the model's last words
ROOMY_CHARS = 3500  # a brief of this size always has the last calls
REMARK_CHARS, REMARK_WORTH = 800, 0.0001  # of a character
REMARKS_SHARE = 0.1  # of the brief
MOST_FAILING = 12
OFTEN_RUN_SINCE = 0.3  # the worth of a failure after which the same program was run otherwise
MOST_PLAN_LINES, OLD_PLAN_LINES = 40, 5
REPORT_CHARS, OLD_REPORT_CHARS = 600, 200  # of a report: of this turn, and older
LEAST_NEWS = 200  # of each new report, before more of it is shown
RUNNING_CHARS, LEAST_ASKED = 1600, 40  # of all requests to what runs, and of each
DONE = "done"  # the reason for the line that counts the tasks that are done
FILES_SHARE, EDITED_PART = 0.08, 0.75  # of the brief; of that, for edited ones
MOST_COMMANDS, MOST_OTHERS, MOST_ALIKE, LONGEST_COMMAND = 5, 8, 2, 200
MOST_UNCHECKED, UNCHECKED_WORTH = 30, 0.004
# Items with this share of the heat are used again in half of all cases: files and commands alike,
# in 401 simulated cuts of real sessions as in 47 real compactions.
EVEN_SHARE = 0.08
COMMAND_WORTH, FILE_WORTH = 0.06, 0.06
ASIDE = 0.5  # the worth of a file that is not the project's own text
RUN_ONCE = 4  # so much less likely to be run again
MOST_KINDS, ABOUT_CHARS, LEAST_WORTH = 5, 300, 1e-6  # of tools, and of endings of files
NO_SHARES: Mapping[str, float] = {}
_MARKS = {True: "", False: "failed at ", None: ""}


def pinned(marked: Iterable[str], pins: Iterable[Pin], room: int) -> list[BriefItem]:
    """Return rules of instruction files that the client does not restore, and what was pinned by
    hand, each in its compartment: the more there are, the shorter each is quoted. A pin that is not
    the user's stands among the model's notes, and says whose it is."""
    items = [
        BriefItem("marked", text, 1.0, "a marked rule", pinned=True, order=number)
        for number, text in enumerate(marked)
    ]
    for pin in pins:
        is_users = pin.by == USER
        item = BriefItem(
            "pinned" if is_users else "decisions",
            pin.text if is_users else f"{pin.author}: {pin.text}",
            1.0,
            f"{PIN}{pin.id}",
            pinned=True,
            order=0.0 if is_users else -1e3,
            compartment=pin.compartment,
        )
        items.append(item)
    most = max(SHORTEST_PINNED, min(LONGEST_PINNED, room // max(len(items), 1) - 5))
    return [replace(item, text=_shown(item, most)) for item in items]


def _shown(item: BriefItem, most: int) -> str:
    """Only words of the user and of the user's files are quoted."""
    text = flat(item.text, most)
    return text if item.section == "decisions" else quoted(text)


def pin_id(item: BriefItem) -> str:
    """Return the id of the pin; empty for an item that is not a pin, even if it is never cut."""
    return item.reason.removeprefix(PIN) if item.reason.startswith(PIN) else ""


def flight(record: Record, room: int) -> Iterator[BriefItem]:
    """Yield what the model said last, and of unfinished work the last calls."""
    place = record.recent[-1].place if record.recent else None
    answers = {turn.said_op for turn in record.turns[:-1] if is_answered(turn)}
    if record.last_texts and record.last_said_op not in answers:
        age = record.op - record.last_said_op
        when = "last said" if age <= FRESH_OPS else f"said {age} steps ago, nothing since"
        if record.turns and record.last_said_op <= began(record):
            when = "said before the user's last words"
        begins, whole = f"{when}: ", redact(record.last_texts[-1])
        text = quote_ends(begins, whole, max(140, min(LAST_CHARS, int(room * 0.07))))
        why = "the model's last words"
        item = BriefItem("flight", text, 0.05, why, pinned=True, begins=begins, whole=whole)
        yield item
    running = open_items.calls(record)[-3:]
    for call in running:
        text = f"no result yet: {open_items.describe_call(call, 160)}"
        why = "a call without a result"
        yield BriefItem("flight", text, 0.04, why, call.place, True, order=0.5)
    calls = [call for call in record.recent if call not in running and call.what]
    is_over = bool(record.turns) and open_items.is_over(record, record.turns[-1])
    if calls and place is not None and not is_over:
        steps = dict.fromkeys(map(_step, reversed(calls)))  # each at its last place
        text = "last calls: " + "; ".join(reversed(list(steps)[:3]))
        yield BriefItem("flight", text, 0.02, "the last steps", place, room >= ROOMY_CHARS, order=1)


def printed(record: Record) -> Iterator[BriefItem]:
    """Yield the end of the newest output of each command that ran since the current request, newest
    first. Where files were edited since, only the newest checks are shown: what else was printed
    before an edit is old. What failed stands elsewhere, and so does what git said."""
    failed = {line for line, _ in commands.failing(record)}
    checks = [run.line for run in commands.newest_checks(record)]
    ran = [
        (run.line, run.command)
        for run in commands.newest_runs(record)
        if run.command.op > began(record) and run.command.printed
        if run.line in checks
        or (run.command.edits_before == record.edits and run.line not in failed)
    ]
    for age, (line, command) in enumerate(ran):
        if age >= MOST_PRINTED and command.ok is not False:
            continue
        edits = commands.describe_edits(record, command)
        end = commands.end_of_output(command, PRINTED_CHARS)
        how = f"{'failed' if command.ok is False else 'printed'} at step {command.op}"
        text = f"{code(line, SHOWN_CHARS)} {how}{edits and ', '}{edits}: {end}"
        worth = 0.02 / (1 + age / 2) / (1 + record.edits - command.edits_before)
        what = ("flight", text, worth, "one of the newest outputs", command.place)
        yield BriefItem(*what, key=line, order=1.1 + age / 99, is_spare=age >= MOST_PRINTED)


def git(record: Record, room: int) -> Iterator[BriefItem]:
    """Yield what git said; the branch and the newest answer always, if there is room."""
    is_roomy, why = room >= ROOMY_CHARS, "what git said"
    if branch := describe_branch(record):
        place = record.git_log.place if record.git_log else Place()
        yield BriefItem("flight", branch, 0.012, why, place, is_roomy, order=2)
    for age, answer in enumerate(answers(record), 1):
        is_older = answer.place.op <= began(record)
        if is_older and age > 1:
            break
        text = describe_answer(answer, f"at step {answer.place.op}", is_short=is_older)
        pinned = is_roomy and age == 1
        order, worth = 2 + age / 9, 0.012 / (1 + age)
        yield BriefItem("flight", text, worth, why, answer.place, pinned, order=order)


def _step(call: Call) -> str:
    return open_items.describe_call(call, 80) + " (failed)" * call.failed


def tasks(record: Record) -> Iterator[BriefItem]:
    todo = open_items.tasks(record)
    for number, task in enumerate(todo):
        worth, why = 0.08 / (1 + number / 6), f"{task.source}, {flat(task.status, 40)}"
        text = open_items.describe_task(record, task)
        yield BriefItem("tasks", text, worth, why, task.place, key=task.text, order=number)
    if todo and (done := open_items.describe_done(record)):
        yield BriefItem("tasks", done, 0.01, DONE, order=1e6)


def plan(record: Record) -> Iterator[BriefItem]:
    if record.plan is None:
        return
    place = record.plan.place
    is_current = bool(record.turns) and place.op >= began(record)
    if not is_current and any(turn.place == place for turn in record.turns):
        return  # it stands among the user's words
    is_open = is_current and not open_items.is_over(record, record.turns[-1])
    lines = open_items.plan_lines(record, MOST_PLAN_LINES if is_open else OLD_PLAN_LINES)
    for number, line in enumerate(lines):
        text, worth = f"{'    ' * bool(number)}{line}", 0.02 / (1 + number / 10)
        whole = record.plan.text
        yield BriefItem("plan", text, worth, "the newest plan", place, key=whole, order=number)


def failures(record: Record, most: int, ran_by: Mapping[str, str]) -> Iterator[BriefItem]:
    """Yield what failed and has not succeeded since, newest first; after the reader's own what
    another agent ran, with its name."""
    failing = sorted(commands.failing(record), key=lambda pair: pair[0] in ran_by)
    for age, (line, failure) in enumerate(failing):
        who = f"{agent_name(name)}: " if (name := ran_by.get(line)) else ""
        text = who + commands.describe(record, line, failure, most).replace("\n", "\n    ")
        worth = 0.1 / (1 + age / 3) * (OFTEN_RUN_SINCE if failure.later else 1.0)
        what = ("failing", text, worth, LAST_FAILED, failure.place)
        yield BriefItem(*what, key=line, order=age, is_spare=age >= MOST_FAILING)


def questions(record: Record) -> Iterator[BriefItem]:
    for number, question in enumerate(open_items.questions(record)):
        text = quoted(flat(question.text, 240))
        yield BriefItem("questions", text, 0.05, "not answered yet", question.place, order=number)


def agents(record: Record, room: int) -> Iterator[BriefItem]:
    """Yield what runs in the background, always; then what others have returned, newest first."""
    running, is_roomy = open_items.running(record), room >= ROOMY_CHARS
    most = max(LEAST_ASKED, min(160, RUNNING_CHARS // max(1, len(running))))
    for age, (name, agent) in enumerate(running):
        text = open_items.describe_running(record, name, agent, most)
        yield BriefItem("agents", text, 0.06, STILL_RUNNING, agent.place, pinned=True, order=age)
    for age, (agent, text, report) in enumerate(islice(open_items.ended(record), MOST_ENDED)):
        why, worth, order = f"a subagent, {agent.status}", 0.012 / (1 + age), 100 + age
        is_older = agent.place.op < began(record)
        if is_older and (not report or is_replaced(record, report, Place(op=agent.ended_op))):
            continue
        if not report and agent.status == "done":
            continue
        most = OLD_REPORT_CHARS if is_older or not is_roomy else REPORT_CHARS
        if is_roomy and agent.report and agent.ended_op >= record.last_said_op:
            # The model has not mentioned it yet: the next step begins with it.
            begins = f"{text} → "
            text = quote_ends(begins, report, LEAST_NEWS)
            what = ("agents", text, 1.0, why, agent.place, True)
            yield BriefItem(*what, order=order, begins=begins, whole=report)
            continue
        text = quote_ends(f"{text} → ", report, most) if report else text
        yield BriefItem("agents", text, worth, why, agent.place, order=order, is_spare=is_older)


def remarks(record: Record, room: int) -> Iterator[BriefItem]:
    """Yield what the model said at work with its place, equal words once, the newest first: later
    words may refute earlier ones, so all of them get little room. A longer answer to the request
    replaces them, and the last words stand where the work stood."""
    left = int(room * REMARKS_SHARE)
    newest = {both_ends(remark.text, REMARK_CHARS): remark.place for remark in record.remarks}
    remarks = [
        (text, place)
        for text, place in newest.items()
        if place.op != record.last_said_op and not is_replaced(record, text, place)
    ]
    remarks.sort(key=lambda pair: -pair[1].op)
    for age, (text, place) in enumerate(remarks):
        is_older = place.op <= began(record)
        left -= len(text)
        if left < 0:
            return
        worth = REMARK_WORTH * len(text) / (1 + age / 4)
        text = f"turn {turn_number(record, place)}, step {place.op}: {text}"
        yield BriefItem(
            "decisions", text, worth, "said while it worked", place, order=age, is_spare=is_older
        )


def added(items: Sequence[str]) -> Iterator[BriefItem]:
    for age, item in enumerate(reversed(items[-MOST_ADDED:])):
        text = flat(item, REMARK_CHARS)
        yield BriefItem(
            "decisions", text, 0.03 / (1 + age), "added to a checkpoint", order=-1 + age / 9
        )


def archived_topics(archived: Sequence[Archived]) -> Iterator[BriefItem]:
    """Yield segments that can be recalled: all that the summariser may drop."""
    for age, (name, topic, _) in enumerate(reversed(archived[-MOST_ARCHIVED:])):
        text = f"{flat(topic, 90)}: {plain_name(name)}"
        yield BriefItem(
            "archived", text, 0.004 / (1 + age), "compressed, saved", pinned=True, order=age
        )
    if len(archived) > MOST_ARCHIVED:
        text = f"{len(archived) - MOST_ARCHIVED} older: the tool `recall` finds them"
        yield BriefItem("archived", text, 0.002, "compressed, saved", pinned=True, order=1e3)


def chances(heats: Mapping[str, float]) -> dict[str, float]:
    """Return how likely each is to be used again, the likeliest first."""
    total = sum(heats.values()) or 1.0
    shares = {key: heat / (heat + EVEN_SHARE * total) for key, heat in heats.items() if heat > 0}
    return dict(sorted(shares.items(), key=lambda pair: (-pair[1], pair[0])))


def used_files(
    record: Record, limit: int, shares: Mapping[str, float] = NO_SHARES
) -> Iterator[BriefItem]:
    """Yield the files that were read or edited, each under its folder, edited ones first and then
    by how likely each is to be used again: as many as fit into their share of the brief, or into
    the share that the user set. The others are only counted; what was only named may be no file."""
    room = int(limit * max(FILES_SHARE, shares.get(BACKGROUND, 0.0)))
    most = {True: int(room * EDITED_PART), False: room}
    folders: set[str] = set()
    for item in sorted(_files(record), key=lambda file: not file.text.endswith(EDITED)):
        size = units(item.text) + 2
        size += units(item.under) if item.under not in folders else 0
        is_edited = item.text.endswith(EDITED)
        if size > min(room, most[is_edited]):
            yield replace(item, worth=0.0)
            continue
        folders.add(item.under)
        room, most[is_edited] = room - size, most[is_edited] - size
        yield item


def _files(record: Record) -> Iterator[BriefItem]:
    heats = {
        path: rank(used, record.op) * (ASIDE if path[0] in "/.~" else 1)
        for path, used in record.files.items()
        if (used.reads or used.is_changed) and not (used.gone or _is_clients(path))
    }
    for order, (path, chance) in enumerate(chances(heats).items()):
        used = record.files[path]
        folder, slash, name = path.rpartition("/")
        yield BriefItem(
            "files",
            plain_name(name) + (EDITED if used.is_changed else ""),
            FILE_WORTH * chance,
            f"used {times(used.count)}, last at step {used.op}",
            under=plain_name(folder + slash),
            key=path,
            order=order,
        )


def _is_clients(path: str) -> bool:
    """Whether the client saved a tool's answer here; such a file is not worth restoring."""
    return "/tool-results/" in path and "/.claude/" in path


def used_commands(record: Record) -> Iterator[BriefItem]:
    """Yield commands with the folder they ran in if it is not the project's: checks, the likeliest
    first; then, in what room is left, the newest others. A program that ran in many ways was used
    to look around: two of its lines stand for all."""
    runs = [run for run in commands.newest_runs(record) if len(run.line) <= LONGEST_COMMAND]
    ran = {run.line: run.command for run in runs}
    checks = {run.line for run in runs if run.is_check}
    odds = chances({line: rank(ran[line], record.op) for line in checks})
    programs = Counter[str]()
    others: dict[str, float] = {}
    for line in ran:
        program = simple_commands(line)[-1][1][0]
        if line not in checks and programs[program] < MOST_ALIKE:
            programs[program] += 1
            others[line] = 0.0
    listed = [*[*odds.items()][:MOST_COMMANDS], *[*others.items()][:MOST_OTHERS]]
    for order, (line, chance) in enumerate(listed):
        command = ran[line]
        folder = relative(record, command.cwd)
        where = f"in {plain_name(folder)}, " * (folder[:1] not in ("", "/"))
        text = f"{code(line, LONGEST_COMMAND)} ({where}{_MARKS[command.ok]}step {command.op})"
        reason = f"run {times(command.count)}, last at step {command.op}"
        worth = COMMAND_WORTH * chance / (1 if command.count > 1 else RUN_ONCE) or LEAST_WORTH
        spare = line in others
        yield BriefItem(
            "commands", text, worth, reason, command.place, key=line, order=order, is_spare=spare
        )


def about(record: Record, room: int) -> Iterator[BriefItem]:
    """Yield the endings of the files and the tools, last of all, and only in a roomy brief."""
    names = (
        path.rpartition("/")[2] for path, file in record.files.items() if file.reads or file.edits
    )
    endings = Counter(name.rpartition(".")[2] for name in names if "." in name)
    counts = (f"{name} {count}" for name, count in [*_most(record.tools), *_most(endings)])
    if room >= ROOMY_CHARS and (told := ", ".join(counts)):
        yield BriefItem("about", flat(told, ABOUT_CHARS), LEAST_WORTH, "the kind of work")


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: -pair[1])[:MOST_KINDS]


def unchecked(record: Record) -> Iterator[BriefItem]:
    passed = next(
        (run for run in commands.newest_runs(record) if run.command.ok and run.is_check), None
    )
    since = passed.command.op if passed else -1
    changed = [
        (path, file) for path, file in record.files.items() if file.is_changed and not file.gone
    ]
    changed = [(path, file) for path, file in changed if file.edited.op > since]
    changed.sort(key=lambda pair: -pair[1].edited.op)
    under = f"since {code(passed.line, LONGEST_COMMAND)} passed at step {since}: " if passed else ""
    for age, (path, file) in enumerate(changed[:MOST_UNCHECKED]):
        text, worth = f"{plain_name(path)} (step {file.edited.op})", UNCHECKED_WORTH / (1 + age / 8)
        what = ("unchecked", text, worth, "no run has passed since")
        yield BriefItem(*what, under=under, key=path, order=age)
