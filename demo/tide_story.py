"""The session the demo records, round by round: what the scripted model says and does.

Everything the tools do is real (files, tests, commits); only the words and token counts are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tide_files as files
from tests.trial.script import Acts, ScriptedAnswer, ScriptedToolCall, bash, usage_of

START_TOKENS = 21_000
AFTER_TOKENS = 25_500

PROMPT = """Please build tide-tables: read the gauge file, find high and low water, print a table.

Two rules for all of this work: always run `make test` before committing, and never touch \
data/raw: it is the only copy. Keep each commit small. When the table works, also report the hours \
that the gauge missed; mind the hour that the clock skips in March."""

SUMMARY = """<analysis>The session built the tide-tables package step by step.</analysis>
<summary>
1. Primary Request and Intent: build tide-tables (gauge file, high and low water, table), then \
report the hours the gauge missed.
2. Files: tide_tables/reading.py, load.py, extremes.py, table.py, __main__.py, gaps.py and a test \
for each under tests/.
3. Errors and fixes: load() read the heading as a reading (skipped the first row); a flat top gave \
no high water (compare with >=).
4. Pending: gaps.py and its tests are being finished.
</summary>"""


@dataclass(frozen=True)
class Beat:
    """One round: some words, one tool call, and by how much the window grows."""

    words: str
    tool: ScriptedToolCall
    grows_tokens: int = 2_900


def story(project: Path) -> Acts:
    """The whole script; the window fills at about beat 46, then the client compacts."""
    first = list(_answers(_before(project), START_TOKENS))
    then = list(_answers(_after(project), AFTER_TOKENS))
    last = then[-1].usage.total + 900
    end = ScriptedAnswer(
        "The missing hours are reported and the tests pass. All is committed.", (), usage_of(last)
    )
    return Acts([*first, *then, end], summary=[ScriptedAnswer(SUMMARY, usage=usage_of(168_900))])


def _answers(beats: list[Beat], start_tokens: int) -> Iterator[ScriptedAnswer]:
    used = start_tokens
    for beat in beats:
        yield ScriptedAnswer(beat.words, (beat.tool,), usage_of(used, output_tokens=180))
        used += beat.grows_tokens


def _before(project: Path) -> list[Beat]:
    def write(path: str, text: str) -> ScriptedToolCall:
        return ScriptedToolCall("Write", {"file_path": str(project / path), "content": text})

    def read(path: str) -> ScriptedToolCall:
        return ScriptedToolCall("Read", {"file_path": str(project / path)})

    def edit(path: str, old: str, new: str) -> ScriptedToolCall:
        words = {"file_path": str(project / path), "old_string": old, "new_string": new}
        return ScriptedToolCall("Edit", words)

    test = bash("make test", "Run the tests")
    table = bash("python3 -m tide_tables data/raw/harbour_2025.csv | head -20", "Print the table")
    raw = "data/raw/harbour_2025.csv"
    return [
        Beat("I will look at what is here first.", bash("ls -A && git log --oneline"), 2_100),
        Beat("", read("README.md"), 1_800),
        Beat("", read("Makefile"), 1_700),
        Beat("Now the data.", bash(f"head -5 {raw}; wc -l {raw}"), 2_000),
        Beat("I want to see gaps and spikes with my own eyes.", bash(f"cat {raw}"), 11_800),
        Beat("The file is plain. A package, then.", write("tide_tables/__init__.py", files.INIT)),
        Beat(
            "Decision: heights are kept as whole millimetres, not metres as floats, because sums "
            "of floats drift over a year.",
            write("tide_tables/reading.py", files.READING),
            3_400,
        ),
        Beat("", write("tests/test_reading.py", files.TEST_READING)),
        Beat("", test, 2_200),
        Beat("Tests pass; commit.", _commit("Readings in whole millimetres"), 2_300),
        Beat("Next, reading the file.", write("tide_tables/load.py", files.LOAD), 3_100),
        Beat("", write("tests/test_load.py", files.TEST_LOAD)),
        Beat("", test, 3_300),
        Beat("The heading is taken for a reading.", read("tide_tables/load.py"), 2_600),
        Beat("", edit("tide_tables/load.py", files.LOAD_OLD, files.LOAD_NEW)),
        Beat("", test, 2_200),
        Beat("Fixed: the first row is skipped.", _commit("Load a gauge file"), 2_300),
        Beat("Now high and low water.", write("tide_tables/extremes.py", files.EXTREMES), 3_600),
        Beat("", write("tests/test_extremes.py", files.TEST_EXTREMES), 3_200),
        Beat("", test, 3_500),
        Beat(
            "A flat top gives no high water. Is that common in the data?",
            bash(_FLAT_TOPS, "Count flat tops"),
            3_000,
        ),
        Beat(
            "None in this file, but a gauge can report one: it counts at its first hour.",
            edit("tide_tables/extremes.py", files.EXTREMES_OLD, files.EXTREMES_NEW),
        ),
        Beat("", test, 2_300),
        Beat("", _commit("Find high and low water, flat tops too"), 2_400),
        Beat("The table itself.", write("tide_tables/table.py", files.TABLE), 3_400),
        Beat("", write("tests/test_table.py", files.TEST_TABLE), 3_300),
        Beat("", test, 2_400),
        Beat("", _commit("Print a turn as a line"), 2_400),
        Beat("", write("tide_tables/__main__.py", files.MAIN), 3_200),
        Beat("Let me see it on the real file.", table, 4_100),
        Beat(
            "It works. One day at a time would be handier.",
            edit("tide_tables/__main__.py", files.MAIN_OLD, files.MAIN_NEW),
        ),
        Beat("", bash(f"python3 -m tide_tables {raw} --day 2025-02-14", "One day"), 2_600),
        Beat("", test, 2_300),
        Beat("", _commit("Choose a day"), 2_400),
        Beat("Anything left open?", bash("grep -rn TODO . --include=*.py || echo none"), 2_200),
        Beat("Now the missing hours.", write("tide_tables/gaps.py", files.GAPS), 3_600),
        Beat("", write("tests/test_gaps.py", files.TEST_GAPS), 3_500),
        Beat("", test, 4_200),
        Beat(
            "Two things here: repeated readings, and the hour the clock skips. Repeats first.",
            edit("tide_tables/gaps.py", files.GAPS_OLD, files.GAPS_NEW),
            3_900,
        ),
        Beat("", bash(_COUNT_GAPS, "Count the gaps in the real file"), 3_800),
        Beat("One gap in the real file.", bash("git status --short && git diff --stat"), 4_300),
        Beat("", read("tests/test_gaps.py"), 4_700),
        Beat("", bash("python3 -c \"print(__import__('calendar').month(2025, 3))\""), 4_900),
        Beat("The clock test still fails.", test, 5_100),
        Beat("", bash("sed -n 1,25p tide_tables/gaps.py"), 5_300),
        Beat("Next: leave out the hour the clock skips.", read("tide_tables/gaps.py"), 5_600),
    ]


def _after(project: Path) -> list[Beat]:
    gaps = str(project / "tide_tables/gaps.py")

    def edit(old: str, new: str) -> ScriptedToolCall:
        return ScriptedToolCall("Edit", {"file_path": gaps, "old_string": old, "new_string": new})

    report = "from tide_tables.gaps import gaps"
    return [
        Beat("On with gaps.py.", ScriptedToolCall("Read", {"file_path": gaps}), 2_400),
        Beat("", edit(files.GAPS_LAST_OLD, files.GAPS_LAST_NEW), 2_100),
        Beat("", bash(f"cat >> tide_tables/gaps.py <<'END'\n{files.GAPS_CLOCK}END"), 2_000),
        Beat("", bash("make test", "Run the tests"), 1_900),
        Beat("", _commit("Report missing hours, not the one the clock skips"), 2_000),
        Beat("", bash(_COUNT_GAPS, report), 1_800),
        Beat("", bash("git status --short; git log --oneline", "What is there now"), 1_700),
        Beat("One last run of everything.", bash("make test", "Run the tests"), 1_500),
    ]


def _commit(message: str) -> ScriptedToolCall:
    return bash(f"make test && git add -A && git commit -q -m '{message}' && git log -1 --oneline")


_FLAT_TOPS = """python3 - <<'END'
from pathlib import Path
from tide_tables.load import load
rows = [r.height_mm for r in load(Path("data/raw/harbour_2025.csv"))]
print(sum(a == b for a, b in zip(rows, rows[1:])), "equal neighbours of", len(rows))
END"""

_COUNT_GAPS = """python3 - <<'END'
from pathlib import Path
from tide_tables.gaps import gaps
from tide_tables.load import load
print(*gaps(load(Path("data/raw/harbour_2025.csv"))), sep="\\n")
END"""
