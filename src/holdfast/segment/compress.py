"""Cut a session into segments, runs of turns about the same thing, and compress each to a tenth to
a fifth of its tokens, without a model.

A turn continues the segment before it, unless it works in other folders and in other words; after
30 steps new words are enough. Replies and small turns always continue it. Cuts are not stored: the
same record gives the same segments.

Requests and answers come first. Then decisions, failures, tasks, subagents, files and commands;
then, where there is room, the model's other words and the lines it wrote. Tool output is dropped.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from holdfast.checkpoint import sections
from holdfast.files.folders import digest
from holdfast.record import commands, model, open_items
from holdfast.record.open_items import find_decisions
from holdfast.record.secrets import ToldSecrets
from holdfast.record.stream import read_turns
from holdfast.record.turns import TERSE_CHARS, is_answer, width
from holdfast.redact.find import redact
from holdfast.segment import formats, library
from holdfast.segment.formats import Compressed, Metadata
from holdfast.text.fence import clean, flat
from holdfast.text.sentences import is_prose, split, telling
from holdfast.wire import places
from holdfast.wire.mark import CHARS_PER_TOKEN

SAID = 0.5  # a request in other folders, of whose words less were said before, begins a segment
SAID_HERE, LONG_STEPS = 0.25, 30  # the same in any folder, after so many steps
LEAST_TELLING_WORDS = 4  # telling ones; fewer name no topic
LEAST_STEPS = 5  # fewer are no topic of their own
MOST_NAMED_FILES = 30
CLIENTS = "/.claude/"
LONGEST_TOPIC, ENOUGH_TOPIC = 140, 60
MOST_LINES = 20
ID_DIGITS, ID_CHARS = 12, 40
_SIGNS = " \t#*->•|`"


class Segment(msgspec.Struct):
    """A run of turns that is over; what the formats on disk call turns are steps, from 1."""

    segment_id: str
    turns: list[model.Turn]
    start_turn: int
    end_turn: int
    start_byte: int
    end_byte: int
    files: list[str]  # that were changed; if there are none, those that were read
    last_mention: int  # the last step that touched one of them, or its own last one

    @property
    def message_count(self) -> int:
        """Prompts, answers and results: a turn ends with an answer that has no result."""
        return 2 * (self.end_turn - self.start_turn + 1)


def segments(record: model.Record, session_id: str) -> list[Segment]:
    """Return the segments that are over, oldest first: all but the last run of turns."""
    turns = [turn for turn in record.turns if not turn.waits]
    starts = list(_starts(turns, record.op))
    segments = []
    for start, end in pairwise(starts):
        run, following = turns[start:end], turns[end].place
        files = _named_files(run)
        last_mention = _last_mention(set(files), turns[end:], record.op)
        segments.append(
            Segment(
                *(_segment_id(session_id, run), run, run[0].place.op + 1, following.op),
                *(run[0].place.offset, following.offset, files, max(following.op, last_mention)),
            )
        )
    return segments


def _starts(turns: Sequence[model.Turn], last_step: int) -> Iterator[int]:
    """Yield where each run of turns begins."""
    start, files, words = -1, set[str](), set[str]()
    ends = [*(turn.place.op for turn in turns[1:]), last_step]
    for at, (turn, end) in enumerate(zip(turns, ends, strict=True)):
        before, steps = turn.place.op - turns[start].place.op, end - turn.place.op
        is_large = min(before, steps) >= LEAST_STEPS
        if start < 0 or (is_large and _begins(turn, files, words, is_long=before > LONG_STEPS)):
            yield at
            start, files, words = at, set(), set()
        files |= _touched(turn)
        words |= telling(f"{turn.asked} {turn.said}")


def _begins(turn: model.Turn, files: set[str], words: set[str], *, is_long: bool) -> bool:
    """Return whether a turn begins a segment, after work on these files in these words."""
    touched, telling_words = _touched(turn), telling(turn.asked)
    if is_answer(turn.reply_to) or len(telling_words) < LEAST_TELLING_WORDS:
        return False
    turns_away = bool(touched and files) and _places(touched).isdisjoint(_places(files))
    share = SAID if turns_away else SAID_HERE
    return (turns_away or is_long) and len(telling_words & words) < share * len(telling_words)


def _touched(turn: model.Turn) -> set[str]:
    """Return the files of a turn, without the client's own: every topic has notes and plans."""
    names = (*turn.edited, *turn.read)
    return {name for name in names if not (name[:1] == "/" and CLIENTS in name)}


def _places(files: set[str]) -> set[str]:
    """Return their folders; files at the top of the project stand for themselves."""
    return {name.rpartition("/")[0] or name for name in files}


def _named_files(turns: Sequence[model.Turn]) -> list[str]:
    """List the files, those of most turns first."""
    counts = Counter(name for turn in turns for name in turn.edited)
    counts = counts or Counter(name for turn in turns for name in turn.read)
    return [name for name, _ in counts.most_common(MOST_NAMED_FILES)]


def _last_mention(files: set[str], turns: Sequence[model.Turn], last_step: int) -> int:
    """Return the end of the last of these turns that touched one of the files."""
    ends = [*(turn.place.op for turn in turns[1:]), last_step]
    touching = (
        end for turn, end in zip(turns, ends, strict=True) if not files.isdisjoint(_touched(turn))
    )
    return max(touching, default=0)


def _segment_id(session_id: str, turns: Sequence[model.Turn]) -> str:
    """Return an id that begins with its session's, so that no two sessions share one. It is
    made of the times and first words of its turns, so turns that only moved are found again."""
    head = places.plain(session_id)[:8].strip("%-_.") or "x"
    session = digest(session_id.encode("utf-8", "surrogatepass"))[:8]
    lines = "\n".join(f"{turn.place.at} {turn.chars} {turn.asked[:ID_CHARS]}" for turn in turns)
    return f"{head}-{session}_seg_{digest(lines.encode())[:ID_DIGITS]}"


def holds(segment: Segment, place: model.Place) -> bool:
    return segment.start_byte <= place.offset < segment.end_byte


def topic(record: model.Record, segment: Segment) -> str:
    """Return what was asked: the first request that says something, or what the first answers."""
    request = next((turn.asked for turn in segment.turns if width(turn.asked) > TERSE_CHARS), "")
    return name_of(request or sections.title(record, record.turns.index(segment.turns[0])))


def name_of(request: str) -> str:
    """Return the first sentences until they say enough. Commands and printed lines, of which less
    than half are plain words, are used only if there is nothing else."""
    rows = (row.strip(_SIGNS) for row in request.splitlines()[:MOST_LINES])
    sentences = [sentence for row in rows for sentence in split(row)]
    name = ""
    for sentence in [sentence for sentence in sentences if is_prose(sentence)] or sentences:
        name = f"{name} {sentence}".strip()
        if len(name) >= ENOUGH_TOPIC:
            break
    return flat(name, LONGEST_TOPIC)


def is_done(record: model.Record, segment: Segment) -> bool:
    """Return whether the tasks that began in it are closed, or, if there was none, its last request
    was answered; and whether nothing that failed in it has failed since."""
    if open_tasks(record, segment) or _fails_since(record, segment):
        return False
    listed = any(holds(segment, task.place) for task in record.tasks.values())
    last = segment.turns[-1]
    return listed or (bool(last.said) and not last.interrupted and not last.works_on)


def open_tasks(record: model.Record, segment: Segment) -> list[model.Task]:
    return [task for task in open_items.tasks(record) if holds(segment, task.place)]


def failures(record: model.Record, segment: Segment) -> list[tuple[str, model.FailedRun]]:
    """List the commands that failed in the segment, each with its newest failure there."""
    runs = ((key, command.failed) for key, command in record.commands.items())
    return [
        (key, failed)
        for key, failed in runs
        if failed is not None and failed.lines and holds(segment, failed.place)
    ]


def _fails_since(record: model.Record, segment: Segment) -> bool:
    answered = segment.turns[-1].said_op
    return any(
        holds(segment, failed.first) and failed.place.op > answered
        for _, failed in commands.unsettled(record)
    )


MOST_TOKENS = 10_000  # a longer text is not read in one go
SHARE = 0.19  # of the segment; redaction may lengthen the text, which must stay under a fifth
FIRST_SHARE = 0.6  # of that, for requests and answers
MOST_DECISIONS, MOST_FILES = 12, 40
TURNS, WORDS, CHANGES = "Turns", "On the way", "Changed"
FILES = "Files"
SECTIONS = TURNS, "Decided", "Failed", "Left to do", "Subagents", FILES, "Commands", WORDS, CHANGES
SEPARATORS = {TURNS: "\n", FILES: ", "}  # of the items of a section; all others are lists
CHANGED = "*"  # after the name of a changed file
ASKED_CHARS, REPLY_CHARS, LINE_CHARS = 800, 240, 200
REPORT_CHARS, COMMAND_CHARS, CHANGE_CHARS = 600, 160, 800
WORDS_CHARS, LEAST_WORDS = 2400, 60  # of the model between requests: shorter ones only announce
LAST = (WORDS, CHANGES)


class SegmentItem(msgspec.Struct, gc=False):
    """One thing that a compressed segment may keep; `order` is its place in its section."""

    section: str
    text: str
    order: float


class SegmentSource:
    """What a segment is compressed from: turns, record, and what the model did and said."""

    def __init__(self, segment: Segment, record: model.Record, parts: list[model.TurnPart]) -> None:
        self.segment, self.record, self.parts = segment, record, parts
        self.texts: list[model.TurnText] = [text for part in parts for text in part.texts]
        self.calls: list[model.TurnCall] = [call for part in parts for call in part.calls]

    @property
    def tokens(self) -> int:
        """Characters / 3.5 of prompts, answers, tool inputs and results."""
        chars = sum(turn.chars for turn in self.segment.turns)
        chars += sum(step.chars for part in self.parts for step in part.steps)
        return int((chars + sum(call.output_chars for call in self.calls)) / CHARS_PER_TOKEN)

    @property
    def edited(self) -> list[str]:
        """The changed files, those that were changed most often first."""
        counts = Counter(name for call in self.calls for name in call.edited)
        return [name for name, _ in counts.most_common()]

    @property
    def read(self) -> list[str]:
        return list(dict.fromkeys(name for call in self.calls for name in call.read))


def read_source(segment: Segment, record: model.Record, transcript: str) -> SegmentSource:
    """Read the segment's lines; Unreadable if the transcript is gone."""
    begun = model.Record(
        far=True, offset=segment.start_byte, cwd=record.cwd, roots=record.roots, told=record.told
    )
    parts = list(read_turns(transcript, model.StreamState(begun), until=segment.end_byte))
    return SegmentSource(segment, record, parts)


def compress(
    source: SegmentSource, *, session_id: str, project: str, transcript: str, now_ms: int
) -> Compressed:
    segment, record = source.segment, source.record
    text, now = content(source), formats.stamp(now_ms)
    decisions = [redact(words) for words in list_decisions(source)[:MOST_DECISIONS]]
    edited, failed = source.edited, any(call.is_error for call in source.calls)
    result = Compressed(
        segment_id=segment.segment_id,
        topic=redact(topic(record, segment)),
        session_id=session_id,
        start_turn=segment.start_turn,
        end_turn=segment.end_turn,
        original_tokens=source.tokens,
        compressed_tokens=formats.tokens(text),
        compression_ratio=formats.ratio(source.tokens, formats.tokens(text)),
        compressed_at=now,
        last_accessed=now,
        compressed_content=text,
        key_decisions=decisions,
        key_files=[redact(name) for name in (edited or source.read)[:MOST_FILES]],
        metadata=Metadata(
            contains_code=bool(edited),
            contains_errors=failed,
            task_completed=is_done(record, segment),
            project=project,
            transcript=transcript,
            first_uuid=source.parts[0].first_uuid if source.parts else "",
            last_uuid=source.parts[-1].last_uuid if source.parts else "",
            start_byte=segment.start_byte,
            end_byte=segment.end_byte,
            started_at=source.parts[0].at if source.parts else "",
            ended_at=source.parts[-1].ended_at if source.parts else "",
            message_count=segment.message_count,
            substance=formats.substance(
                decisions=bool(decisions),
                changes=bool(edited),
                fixes=any(run.closed for _, run in failures(record, segment)),
                rules=any(turn.reply_to or turn.questions for turn in segment.turns),
            ),
        ),
    )
    result.relevance_score = formats.score(result, now_ms)
    return _without_secrets(result, record)


def _without_secrets(segment: Compressed, record: model.Record) -> Compressed:
    """Remove secrets that the session named, also where they are quoted without their names."""
    known = ToldSecrets()
    known.hear_again(segment.metadata.transcript, record.told)
    if not known.bare:
        return segment
    data = known.without(msgspec.json.encode(segment), fits=True)
    return msgspec.json.decode(data, type=Compressed)


def budget(original_tokens: int) -> int:
    """Return how many tokens the compressed text may have."""
    return max(library.FLOOR_TOKENS, min(MOST_TOKENS, int(original_tokens * SHARE)))


def content(source: SegmentSource) -> str:
    """Render what fits into the budget, section by section."""
    most = budget(source.tokens)
    items, room = list_items(source), int(most * CHARS_PER_TOKEN)
    while True:
        text = redact(_render(_choose(items, room)))
        if formats.tokens(text) <= most or room < CHARS_PER_TOKEN:
            return text
        room -= len(text) - int(most * CHARS_PER_TOKEN) + 1


def _choose(items: list[SegmentItem], room: int) -> list[SegmentItem]:
    """Choose requests and answers, cut where they are too long; of the rest what fits, with other
    words and changed lines last. Answers are cut only as far as the rest needs the room."""
    turns = [item for item in items if item.section == TURNS]
    usual = [item for item in items if item.section not in (TURNS, *LAST)]
    usual = _fit(usual, room - _size(_cut(turns, int(room * FIRST_SHARE))))
    taken = _cut(turns, room - _size(usual)) + usual
    last = (item for item in items if item.section in LAST)
    return taken + _fit(last, room - _size(taken))


def _fit(items: Iterable[SegmentItem], room: int) -> list[SegmentItem]:
    """Take the items that fit, the first ones first; each heading is written once."""
    taken: list[SegmentItem] = []
    for item in items:
        if _size([*taken, item]) <= room:
            taken.append(item)
    return taken


def _cut(items: Iterable[SegmentItem], room: int) -> list[SegmentItem]:
    taken: list[SegmentItem] = []
    for item in items:
        if len(item.text) > room:
            item = msgspec.structs.replace(item, text=item.text[: max(0, room - 2)].rstrip() + " …")
        if len(item.text) <= room:
            taken.append(item)
            room -= len(item.text) + 2
    return taken


def _size(taken: list[SegmentItem]) -> int:
    headings = {item.section for item in taken}
    return sum(len(item.text) + 2 for item in taken) + sum(len(name) + 3 for name in headings)


def _render(taken: list[SegmentItem]) -> str:
    lines: list[str] = []
    for section in SECTIONS:
        mine = sorted((row for row in taken if row.section == section), key=lambda row: row.order)
        text = SEPARATORS.get(section, "\n- ").join(item.text for item in mine)
        if text:
            lines.append(text if section == TURNS else f"{section}: {text}")
    return "\n".join(lines)


def list_items(source: SegmentSource) -> list[SegmentItem]:
    """List what may be kept, the most useful of each section first."""
    answers = _answers(source)
    open_ones = open_tasks(source.record, source.segment)
    return [
        *_turns(source.segment.turns, answers),
        *_numbered("Decided", reversed(list_decisions(source))),
        *_numbered("Failed", reversed(list(_failures(source)))),
        *_numbered("Left to do", (flat(task.text, 120) for task in open_ones)),
        *_numbered("Subagents", _subagents(source)),
        *_numbered(FILES, _files(source)),
        *_numbered("Commands", _commands(source)),
        *_on_the_way(source.texts, {answer.offset for answer in answers.values()}),
        *_changes(source),
    ]


def list_decisions(source: SegmentSource) -> list[str]:
    return [
        flat(
            f"{decision.question} → {decision.text}" if decision.question else decision.text,
            REPLY_CHARS,
        )
        for decision in find_decisions(source.record)
        if holds(source.segment, decision.place)
    ]


def _numbered(section: str, texts: Iterable[str]) -> Iterator[SegmentItem]:
    return (SegmentItem(section, text, number) for number, text in enumerate(texts))


def _answers(source: SegmentSource) -> dict[int, model.TurnText]:
    """Return the model's last words of each turn, by the turn's number in the segment."""
    starts = [turn.place.offset for turn in source.segment.turns]
    return {
        sum(start <= text.offset for start in starts) - 1: text
        for text in source.texts
        if text.offset >= starts[0]
    }


def _turns(turns: list[model.Turn], answers: dict[int, model.TurnText]) -> Iterator[SegmentItem]:
    """Yield the first request and the last answer, then the others, the newest first."""
    newest_first = list(range(len(turns)))[::-1]
    for at in [*newest_first[-1:], *newest_first[:-1]]:
        if turns[at].asked:
            to = f" (to: {flat(turns[at].reply_to, REPLY_CHARS)})" if turns[at].reply_to else ""
            yield SegmentItem(TURNS, f"Asked: {flat(turns[at].asked, ASKED_CHARS)}{to}", at)
        shown = newest_first[0] if at == 0 else at - 1
        if answer := answers.get(shown):
            yield SegmentItem(TURNS, f"Answer: {_indented(answer.text)}", shown + 0.5)


def _indented(text: str) -> str:
    """Indent the text, so that no line can be taken for one of Holdfast's."""
    rows = [row.rstrip() for row in clean(text).strip().splitlines()]
    return "\n  ".join(row for row in rows if row)


def _failures(source: SegmentSource) -> Iterator[str]:
    for line, failed in failures(source.record, source.segment):
        later = f" (passed at step {failed.closed.op})" if failed.closed else ""
        yield f"`{flat(line, 80)}`: {flat(' '.join(failed.lines[:2]), LINE_CHARS)}{later}"


def _subagents(source: SegmentSource) -> Iterator[str]:
    called = [call.report for call in source.calls if call.report is not None]
    for report in [*called, *(report for part in source.parts for report in part.reports)]:
        if report.text:
            kind = report.kind or "agent"
            yield f"{kind}: {flat(report.asked, 160)} → {flat(report.text, REPORT_CHARS)}"


def _files(source: SegmentSource) -> Iterator[str]:
    changed = source.edited
    yield from (f"{flat(name, 120)}{CHANGED}" for name in changed)
    yield from (flat(name, 120) for name in source.read if name not in changed)


def _commands(source: SegmentSource) -> Iterator[str]:
    """Yield each command once, newest first, with the mark of its last run."""
    runs = {call.what: call for call in source.calls if call.tool == "Bash" and call.end}
    for call in sorted(runs.values(), key=lambda call: -call.offset):
        line = flat(call.what.partition("\n")[0], COMMAND_CHARS)
        yield f"`{line}` {'failed' if call.is_error else 'ok'}"


def _on_the_way(texts: list[model.TurnText], answers: set[int]) -> Iterator[SegmentItem]:
    """Yield the model's other words, the newest first: the oldest are most often refuted since."""
    for said in reversed(texts):
        text = flat(said.text, WORDS_CHARS)
        if said.offset not in answers and len(text) >= LEAST_WORDS:
            yield SegmentItem(WORDS, text, said.offset)


def _changes(source: SegmentSource) -> Iterator[SegmentItem]:
    """Yield the lines that edits added, newest first."""
    for call in reversed(source.calls):
        given = {key: text for key, text in call.input.items() if isinstance(text, str)}
        before = set(map(str.strip, given.get("old_string", "").splitlines()))
        new = given.get("new_string") or given.get("content", "")
        added = [row.strip() for row in new.splitlines() if row.strip() not in before]
        text = flat(" ⏎ ".join(row for row in added if len(row) > 1), CHANGE_CHARS)
        if call.edited and text:
            yield SegmentItem(CHANGES, f"{flat(call.edited[0], 120)}: {text}", call.offset)
