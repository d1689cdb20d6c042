"""Every setting there is: its name, who may set it, default, bounds, and the words that explain it.

A project's `.claude/holdfast.toml` comes with the repository, so its author is unknown. A project
may set when Holdfast speaks and works in its own sessions. It may not name a place, a program or a
server, and it may not move a limit that protects the user: the alerts, the time between two
checkpoints, how long data is stored, what a batch may spend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Value = float | int | bool | str
Setter = Literal["user", "project"]
USER: Final = "user"  # only the user: in the user's file, or as a variable
PROJECT: Final = "project"  # the project's file too


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    set_by: Setter  # no default: every new setting has to decide
    default: Value
    meaning: str
    low: float = 0.0
    high: float = 1.0
    choices: tuple[str, ...] = ()
    also: str = ""  # a variable of older tools that means the same
    is_text: bool = False
    is_names: bool = False  # `snake_case` or `dotted.name`, commas between

    @property
    def variable(self) -> str:
        return "HOLDFAST_" + self.name.upper()


PRESETS: Final[dict[str, dict[str, float]]] = {
    "default": {},
    "conservative": {"zone_yellow": 0.40, "zone_orange": 0.65, "zone_red": 0.80},
    "aggressive": {"zone_yellow": 0.60, "zone_orange": 0.85, "zone_red": 0.95},
}


def _turns(name: str, set_by: Setter, default: int, meaning: str) -> Setting:
    return Setting(name, set_by, default, meaning, low=1, high=10_000)


TABLE: Final[tuple[Setting, ...]] = (
    Setting("preset", PROJECT, "default", "a set of zones under one name", choices=tuple(PRESETS)),
    Setting("zone_yellow", PROJECT, 0.50, "share of the edge used from which the zone is yellow"),
    Setting(
        "zone_orange", PROJECT, 0.75, "share used from which it is orange, and the model is told"
    ),
    Setting("zone_red", PROJECT, 0.90, "share used from which it is red"),
    Setting(
        "warning_left", USER, 0.30, "share left at a warning, until ten operations were measured"
    ),
    Setting("warning_left_least", USER, 0.16, "the adaptive warning never comes later than this"),
    Setting("warning_left_most", USER, 0.45, "nor earlier than this"),
    Setting("advisory_left", USER, 0.15, "share left at the advisory"),
    Setting("urgent_left", USER, 0.07, "share left at urgent"),
    Setting("critical_left", USER, 0.03, "share left at critical"),
    Setting("fast_climb", USER, 0.05, "growth per operation that raises the alert one step early"),
    Setting(
        "check_interval",
        PROJECT,
        5,
        "the monitor looks at every so many calls",
        low=1,
        high=10_000,
        also="CHECK_INTERVAL",
    ),
    Setting(
        "cooldown_seconds",
        USER,
        120,
        "at most one checkpoint of monitor and advisory in so many seconds",
        high=86_400,
        also="COOLDOWN_SECONDS",
    ),
    Setting(
        "capacity_threshold",
        PROJECT,
        80,
        "percent of the edge from which the monitor takes checkpoints",
        high=100,
        also="CAPACITY_THRESHOLD",
    ),
    Setting(
        "active_minutes",
        PROJECT,
        30,
        "minutes of active work after which a checkpoint is due",
        low=1,
        high=1_440,
    ),
    Setting(
        "batch_share", USER, 0.60, "share of the window one batch of a plan may take", low=0.01
    ),
    Setting(
        "batch_specs",
        USER,
        3,
        "tasks of a plan that may share one session",
        low=1,
        high=1_000,
    ),
    Setting(
        "watch_seconds", USER, 30, "the watcher looks every so many seconds", low=1, high=3_600
    ),
    Setting("watch_at", USER, 0.60, "share of the edge at which the watcher takes a checkpoint"),
    Setting(
        "watch_apart_seconds",
        USER,
        10,
        "the watcher's checkpoints of one project are at least so many seconds apart",
        high=3_600,
    ),
    Setting(
        "stop_guard",
        USER,
        "off",
        "hold up the end of a turn, once, while something is left undone",
        choices=("off", "on"),
    ),
    Setting(
        "segment_queue_from", PROJECT, 0.60, "share used from which cold segments are compressed"
    ),
    Setting(
        "segment_archive_from",
        PROJECT,
        0.80,
        "share used from which old warm segments go to the cold",
    ),
    _turns("segment_check_turns", PROJECT, 10, "turns between two looks for cold segments"),
    _turns(
        "segment_cold_turns", PROJECT, 20, "turns without a mention after which a segment is cold"
    ),
    _turns("segment_cold_messages", PROJECT, 5, "messages a segment must have to be compressed"),
    _turns(
        "segment_archive_turns", PROJECT, 50, "turns after its end at which a warm segment is old"
    ),
    _turns(
        "segment_prune_turns", USER, 50, "turns between two looks for archives that are too old"
    ),
    _turns("segment_prune_days", USER, 30, "days after which an archive keeps its summary alone"),
    Setting(
        "notes_folder",
        USER,
        "",
        "a folder of daily notes (an Obsidian vault's): the end of a session leaves a line there",
        is_text=True,
    ),
    Setting("notes_name", USER, "%Y-%m-%d.md", "how a day's note is called", is_text=True),
    Setting("topics", PROJECT, "", "further topics agents may use, commas between", is_names=True),
    Setting(
        "brief_tokens",
        USER,
        2_000,
        "tokens of a brief after a compaction, and of one asked for without a size",
        low=100,
        high=8_000,
        also="max_tokens",
    ),
    Setting(
        "checkpoint_most",
        USER,
        50,
        "checkpoints of one project that are kept",
        low=1,
        high=100_000,
    ),
    Setting(
        "checkpoint_days",
        USER,
        30,
        "days that checkpoints, and snapshots in the store, are kept",
        low=1,
        high=3_650,
    ),
    Setting(
        "checkpoint_daily_days",
        USER,
        7,
        "days after which one checkpoint a day, and one snapshot a day and session, is kept",
        low=1,
        high=3_650,
    ),
    Setting(
        "archive_days", USER, 14, "days that archived tool outputs are kept", low=1, high=3_650
    ),
    Setting(
        "archive_megabytes",
        USER,
        200,
        "room for archived tool outputs; beyond, the oldest go first",
        low=1,
        high=100_000,
    ),
    Setting(
        "archive_transcripts",
        USER,
        "off",
        "on: copy transcripts, compressed and without secrets, so that they outlive the client's",
        choices=("off", "on"),
    ),
    Setting(
        "archive_transcripts_megabytes",
        USER,
        1_000,
        "room for archived transcripts; beyond, the sessions that changed longest ago go first",
        low=1,
        high=1_000_000,
    ),
    Setting(
        "embedder",
        USER,
        "auto",
        "what search compares meanings with: auto, off, minilm, a model's folder, or an endpoint",
        is_text=True,
    ),
    Setting("embedder_model", USER, "", "the model an endpoint is asked for", is_text=True),
    Setting(
        "embedder_key",
        USER,
        "",
        "the variable, or the file, that holds the endpoint's key",
        is_text=True,
    ),
    Setting(
        "server",
        USER,
        "",
        "the team's server that is told what happens here; empty: nobody is",
        is_text=True,
    ),
)
BY_NAME: Final = {setting.name: setting for setting in TABLE}
