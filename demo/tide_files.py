"""The texts of the made-up project the demo works on: a small package that prints tide tables."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

README = """# tide-tables

Prints high and low water for a harbour from hourly gauge readings.

    make test
    python3 -m tide_tables data/raw/harbour_2025.csv
"""

MAKEFILE = "test:\n\t@python3 -m unittest discover -q -s tests -t .\n\n.PHONY: test\n"

INIT = '"""High and low water from hourly gauge readings."""\n'

READING = '''"""One gauge reading: an hour and a height."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Reading:
    """Heights are whole millimetres: floats drift when a year of them is summed."""

    at: datetime
    height_mm: int


def from_metres(text: str) -> int:
    """`"3.127"` is 3127; the gauge never gives more than three places."""
    metres, _, rest = text.partition(".")
    sign = -1 if metres.startswith("-") else 1
    return sign * (abs(int(metres)) * 1000 + int(rest.ljust(3, "0")[:3] or 0))
'''

TEST_READING = """import unittest

from tide_tables.reading import from_metres


class FromMetres(unittest.TestCase):
    def test_three_places_are_millimetres(self):
        self.assertEqual(from_metres("3.127"), 3127)

    def test_missing_places_are_zero(self):
        self.assertEqual(from_metres("3.1"), 3100)

    def test_below_datum_is_negative(self):
        self.assertEqual(from_metres("-0.250"), -250)


if __name__ == "__main__":
    unittest.main()
"""

LOAD = '''"""Reads a gauge file: one line per hour, local time, metres."""

import csv
from datetime import datetime
from pathlib import Path

from tide_tables.reading import Reading, from_metres


def load(path: Path) -> list[Reading]:
    """All readings of a file, in the order of the file."""
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    return [Reading(datetime.fromisoformat(at), from_metres(m)) for at, m in rows]
'''

LOAD_OLD = "for at, m in rows]"
LOAD_NEW = "for at, m in rows[1:]]"

TEST_LOAD = """import tempfile
import unittest
from pathlib import Path

from tide_tables.load import load


class Load(unittest.TestCase):
    def test_the_heading_is_not_a_reading(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "gauge.csv")
            path.write_text("at,height_m\\n2025-01-01T00:00,3.127\\n")
            self.assertEqual([r.height_mm for r in load(path)], [3127])


if __name__ == "__main__":
    unittest.main()
"""

EXTREMES = '''"""High and low water: where the height turns."""

from tide_tables.reading import Reading


def turns(readings: list[Reading]) -> list[tuple[str, Reading]]:
    """`("high", reading)` and `("low", reading)`, in order."""
    found = []
    for before, here, after in zip(readings, readings[1:], readings[2:]):
        if before.height_mm < here.height_mm > after.height_mm:
            found.append(("high", here))
        if before.height_mm > here.height_mm < after.height_mm:
            found.append(("low", here))
    return found
'''

EXTREMES_OLD = "        if before.height_mm < here.height_mm > after.height_mm:"
EXTREMES_NEW = "        if before.height_mm < here.height_mm >= after.height_mm:"

TEST_EXTREMES = """import unittest
from datetime import datetime, timedelta

from tide_tables.extremes import turns
from tide_tables.reading import Reading

START = datetime(2025, 1, 1)


def series(*heights):
    return [Reading(START + timedelta(hours=n), height) for n, height in enumerate(heights)]


class Turns(unittest.TestCase):
    def test_a_peak_is_high_water(self):
        self.assertEqual([kind for kind, _ in turns(series(1, 3, 2))], ["high"])

    def test_a_flat_top_is_one_high_water(self):
        self.assertEqual([kind for kind, _ in turns(series(1, 3, 3, 2))], ["high"])


if __name__ == "__main__":
    unittest.main()
"""

TABLE = '''"""A day of tides as lines of text."""

from tide_tables.extremes import turns
from tide_tables.reading import Reading


def lines(readings: list[Reading]) -> list[str]:
    """One line per turn: time, kind, metres."""
    return [
        f"{reading.at:%Y-%m-%d %H:%M}  {kind:<4}  {reading.height_mm / 1000:.2f} m"
        for kind, reading in turns(readings)
    ]
'''

TEST_TABLE = """import unittest
from datetime import datetime

from tide_tables.reading import Reading
from tide_tables.table import lines


class Lines(unittest.TestCase):
    def test_a_turn_is_one_line(self):
        heights = enumerate((1000, 3127, 900))
        day = [Reading(datetime(2025, 1, 1, hour), mm) for hour, mm in heights]
        self.assertEqual(lines(day), ["2025-01-01 01:00  high  3.13 m"])


if __name__ == "__main__":
    unittest.main()
"""

MAIN = '''"""`python3 -m tide_tables FILE` prints the table."""

import sys
from pathlib import Path

from tide_tables.load import load
from tide_tables.table import lines


def main(arguments: list[str]) -> int:
    for line in lines(load(Path(arguments[0]))):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''

MAIN_OLD = "    for line in lines(load(Path(arguments[0]))):\n        print(line)\n"
MAIN_NEW = """    day = arguments[2] if arguments[1:2] == ["--day"] else ""
    for line in lines(load(Path(arguments[0]))):
        if line.startswith(day):
            print(line)
"""

GAPS = '''"""Hours the gauge did not report."""

from datetime import datetime, timedelta

from tide_tables.reading import Reading

HOUR = timedelta(hours=1)


def gaps(readings: list[Reading]) -> list[datetime]:
    """The missing hours, in order."""
    missing = []
    for before, after in zip(readings, readings[1:]):
        at = before.at + HOUR
        while at < after.at:
            missing.append(at)
            at += HOUR
    return missing
'''

GAPS_OLD = "    missing = []\n"
GAPS_NEW = (
    "    missing: list[datetime] = []\n    readings = sorted(set(readings), key=lambda r: r.at)\n"
)
GAPS_LAST_OLD = "        while at < after.at:\n            missing.append(at)\n"
GAPS_LAST_NEW = (
    "        while at < after.at:\n            if not skipped_by_the_clock(at):\n"
    "                missing.append(at)\n"
)
GAPS_CLOCK = '''

def skipped_by_the_clock(at: datetime) -> bool:
    """The hour that does not exist on the last Sunday of March."""
    return at.month == 3 and at.weekday() == 6 and at.day > 24 and at.hour == 1
'''

TEST_GAPS = """import unittest
from datetime import datetime

from tide_tables.gaps import gaps
from tide_tables.reading import Reading


def at(*hours, day=datetime(2025, 1, 1)):
    return [Reading(day.replace(hour=hour), 1000) for hour in hours]


class Gaps(unittest.TestCase):
    def test_a_missing_hour_is_named(self):
        self.assertEqual(gaps(at(0, 1, 3)), [datetime(2025, 1, 1, 2)])

    def test_the_hour_the_clock_skips_is_no_gap(self):
        self.assertEqual(gaps(at(0, 2, day=datetime(2025, 3, 30))), [])


if __name__ == "__main__":
    unittest.main()
"""


def gauge_rows(days: int = 60) -> str:
    """Two months of hourly heights: two tides a day, springs and neaps, one missing hour."""
    rows = ["at,height_m"]
    for hour in range(days * 24):
        if hour == 301:
            continue
        day, of_day = divmod(hour, 24)
        spring = 1 + 0.25 * math.cos(hour / 24 * 2 * math.pi / 14.77)
        height = 2.4 + 1.6 * spring * math.cos(hour * 2 * math.pi / 12.42)
        month, of_month = (1, day + 1) if day < 31 else (2, day - 30) if day < 59 else (3, day - 58)
        rows.append(f"2025-{month:02d}-{of_month:02d}T{of_day:02d}:00,{height:.3f}")
    return "\n".join(rows) + "\n"


def plant(project: Path) -> None:
    """The project as it is before the session: no code yet, the data, one commit."""
    raw = project / "data" / "raw"
    raw.mkdir(parents=True)
    (raw / "harbour_2025.csv").write_text(gauge_rows())
    (project / "README.md").write_text(README)
    (project / "Makefile").write_text(MAKEFILE)
    (project / "tests").mkdir()
    (project / "tests" / "__init__.py").write_text("")
    (project / ".gitignore").write_text("__pycache__/\n")
    for command in (
        ("init", "--quiet", "--initial-branch=main"),
        ("config", "user.name", "Sam"),
        ("config", "user.email", "sam@example.org"),
        ("add", "."),
        ("commit", "--quiet", "-m", "Gauge data and an empty shelf"),
    ):
        subprocess.run(["git", "-C", str(project), *command], check=True)
