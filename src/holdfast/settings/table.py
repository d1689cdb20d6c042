"""Every setting there is: its name, default, bounds, and the words that explain it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

Value = float | int | bool | str


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    default: Value
    meaning: str
    low: float = 0.0
    high: float = 1.0
    choices: tuple[str, ...] = ()
    also: str = ""  # a variable of older tools that means the same
    is_text: bool = False
    is_names: bool = False  # `snake_case` or `dotted.name`, commas between
    is_own: bool = False  # the user's alone: a project's file is anyone's

    @property
    def variable(self) -> str:
        return "HOLDFAST_" + self.name.upper()


PRESETS: Final[dict[str, dict[str, float]]] = {
    "default": {},
    "conservative": {"zone_yellow": 0.40, "zone_orange": 0.65, "zone_red": 0.80},
    "aggressive": {"zone_yellow": 0.60, "zone_orange": 0.85, "zone_red": 0.95},
}


def _turns(name: str, default: int, meaning: str) -> Setting:
    return Setting(name, default, meaning, low=1, high=10_000)


TABLE: Final[tuple[Setting, ...]] = (
    Setting("preset", "default", "a set of zones under one name", choices=tuple(PRESETS)),
    Setting("zone_yellow", 0.50, "share of the edge used from which the zone is yellow"),
    Setting("zone_orange", 0.75, "share used from which it is orange, and the model is told"),
    Setting("zone_red", 0.90, "share used from which it is red"),
    Setting("warning_left", 0.30, "share left at a warning, until ten operations were measured"),
    Setting("warning_left_least", 0.16, "the adaptive warning never comes later than this"),
    Setting("warning_left_most", 0.45, "nor earlier than this"),
    Setting("advisory_left", 0.15, "share left at the advisory"),
    Setting("urgent_left", 0.07, "share left at urgent"),
    Setting("critical_left", 0.03, "share left at critical"),
    Setting("fast_climb", 0.05, "growth per operation that raises the alert one step early"),
    Setting(
        "check_interval",
        5,
        "the monitor looks at every so many calls",
        low=1,
        high=10_000,
        also="CHECK_INTERVAL",
    ),
    Setting(
        "cooldown_seconds",
        120,
        "at most one checkpoint of monitor and advisory in so many seconds",
        high=86_400,
        also="COOLDOWN_SECONDS",
    ),
    Setting(
        "capacity_threshold",
        80,
        "percent of the edge from which the monitor takes checkpoints",
        high=100,
        also="CAPACITY_THRESHOLD",
    ),
    Setting(
        "active_minutes",
        30,
        "minutes of active work after which a checkpoint is due",
        low=1,
        high=1_440,
    ),
    Setting("batch_share", 0.60, "share of the window one batch of a plan may take", low=0.01),
    Setting(
        "batch_specs",
        3,
        "tasks of a plan that may share one session",
        low=1,
        high=1_000,
    ),
    Setting("watch_seconds", 30, "the watcher looks every so many seconds", low=1, high=3_600),
    Setting("watch_at", 0.60, "share of the edge at which the watcher takes a checkpoint"),
    Setting(
        "watch_apart_seconds",
        10,
        "the watcher's checkpoints of one project are at least so many seconds apart",
        high=3_600,
    ),
    Setting(
        "stop_guard",
        "off",
        "hold up the end of a turn, once, while something is left undone",
        choices=("off", "on"),
    ),
    Setting("segment_queue_from", 0.60, "share used from which cold segments are compressed"),
    Setting("segment_archive_from", 0.80, "share used from which old warm segments go to the cold"),
    _turns("segment_check_turns", 10, "turns between two looks for cold segments"),
    _turns("segment_cold_turns", 20, "turns without a mention after which a segment is cold"),
    _turns("segment_cold_messages", 5, "messages a segment must have to be compressed"),
    _turns("segment_archive_turns", 50, "turns after its end at which a warm segment is old"),
    _turns("segment_prune_turns", 50, "turns between two looks for archives that are too old"),
    _turns("segment_prune_days", 30, "days after which an archive keeps its summary alone"),
    Setting(
        "notes_folder",
        "",
        "a folder of daily notes (an Obsidian vault's): the end of a session leaves a line there",
        is_text=True,
    ),
    Setting("notes_name", "%Y-%m-%d.md", "how a day's note is called", is_text=True),
    Setting("topics", "", "further topics agents may use, commas between", is_names=True),
    Setting("archive_days", 14, "days that archived tool outputs are kept", low=1, high=3_650),
    Setting(
        "archive_megabytes",
        200,
        "room for archived tool outputs; beyond, the oldest go first",
        low=1,
        high=100_000,
    ),
    Setting(
        "embedder",
        "auto",
        "what search compares meanings with: auto, off, minilm, a model's folder, or an endpoint",
        is_text=True,
        is_own=True,
    ),
    Setting("embedder_model", "", "the model an endpoint is asked for", is_text=True, is_own=True),
    Setting(
        "embedder_key",
        "",
        "the variable, or the file, that holds the endpoint's key",
        is_text=True,
        is_own=True,
    ),
    Setting(
        "server",
        "",
        "the team's server that is told what happens here; empty: nobody is",
        is_text=True,
        is_own=True,
    ),
)
BY_NAME: Final = {setting.name: setting for setting in TABLE}
