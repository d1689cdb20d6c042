"""Every setting there is: its name, who may set it, default, bounds, and the words that explain it.

A project's `.claude/holdfast.toml` comes with the repository, so its author is unknown. A project
may set when Holdfast speaks and works in its own sessions. It may not name a place, a program or a
server, and it may not move a limit that protects the user: the alerts, the time between two
checkpoints, how long data is stored, what a batch may spend.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Value = float | int | bool | str
Setter = Literal["user", "project"]
USER: Final = "user"  # only the user: in the user's file, or as a variable
PROJECT: Final = "project"  # the project's file too


class Setting(NamedTuple):
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
    Setting(
        "preset",
        PROJECT,
        "default",
        "the zones yellow, orange and red under one name",
        choices=tuple(PRESETS),
    ),
    Setting(
        "zone_yellow", PROJECT, 0.50, "share of the compaction limit from which the zone is yellow"
    ),
    Setting(
        "zone_orange",
        PROJECT,
        0.75,
        "share of the limit from which the zone is orange and the model is told",
    ),
    Setting("zone_red", PROJECT, 0.90, "share of the limit from which the zone is red"),
    Setting(
        "warning_left",
        USER,
        0.30,
        "the warning comes with this share left, until ten steps are known",
    ),
    Setting(
        "warning_left_least", USER, 0.16, "the warning adapts down to this share left, not below"
    ),
    Setting(
        "warning_left_most",
        USER,
        0.45,
        "the warning adapts up to this share left; above fast_climb it can come earlier",
    ),
    Setting("advisory_left", USER, 0.15, "the advisory comes when this share of the limit is left"),
    Setting("urgent_left", USER, 0.07, "urgent comes when this share of the limit is left"),
    Setting("critical_left", USER, 0.03, "critical comes when this share of the limit is left"),
    Setting("fast_climb", USER, 0.05, "above this growth per step, alerts come one level early"),
    Setting(
        "check_interval",
        PROJECT,
        5,
        "calls between two checkpoints while the fill is above capacity_threshold",
        low=1,
        high=10_000,
        also="CHECK_INTERVAL",
    ),
    Setting(
        "cooldown_seconds",
        USER,
        120,
        "least seconds between two checkpoints of the monitor or the advisory",
        high=86_400,
        also="COOLDOWN_SECONDS",
    ),
    Setting(
        "capacity_threshold",
        PROJECT,
        80,
        "percent of the limit above which a checkpoint is saved every few calls",
        high=100,
        also="CAPACITY_THRESHOLD",
    ),
    Setting(
        "active_minutes",
        PROJECT,
        30,
        "minutes of work without a checkpoint after which one is saved",
        low=1,
        high=1_440,
    ),
    Setting(
        "batch_share", USER, 0.60, "share of the window that one batch of a plan may take", low=0.01
    ),
    Setting(
        "batch_specs",
        USER,
        3,
        "number of tasks of a plan that may share one session",
        low=1,
        high=1_000,
    ),
    Setting(
        "watch_seconds", USER, 30, "seconds between two looks of the watcher", low=1, high=3_600
    ),
    Setting("watch_at", USER, 0.60, "share of the limit from which the watcher saves a checkpoint"),
    Setting(
        "watch_apart_seconds",
        USER,
        10,
        "least seconds between two checkpoints of the watcher in one project",
        high=3_600,
    ),
    Setting(
        "stop_guard",
        USER,
        "off",
        "on: the model is asked once to go on if it ends a turn with open work",
        choices=("off", "on"),
    ),
    Setting(
        "status_line",
        USER,
        "default",
        "what Holdfast's status line shows",
        choices=("minimal", "default", "full"),
    ),
    Setting(
        "segment_queue_from",
        PROJECT,
        0.60,
        "share of the limit from which older topics are compressed",
    ),
    Setting(
        "segment_archive_from",
        PROJECT,
        0.80,
        "share of the limit from which old compressed topics move to the archive",
    ),
    _turns("segment_check_turns", PROJECT, 10, "steps between two looks for topics to compress"),
    _turns(
        "segment_cold_turns",
        PROJECT,
        20,
        "steps without a mention after which a topic is compressed",
    ),
    _turns("segment_cold_messages", PROJECT, 5, "messages that a topic must have to be compressed"),
    _turns(
        "segment_archive_turns",
        PROJECT,
        50,
        "steps after its end when a compressed topic counts as old",
    ),
    _turns(
        "segment_prune_turns",
        USER,
        50,
        "steps between two looks for archived topics that are too old",
    ),
    _turns(
        "segment_prune_days",
        USER,
        30,
        "days after which only the summary of an archived topic stays",
    ),
    Setting(
        "notes_folder",
        USER,
        "",
        "a folder of daily notes (Obsidian); each session adds a line to the day's note",
        is_text=True,
    ),
    Setting("notes_name", USER, "%Y-%m-%d.md", "the file name of a day's note", is_text=True),
    Setting(
        "topics",
        PROJECT,
        "",
        "further topics for messages between agents, separated by commas",
        is_names=True,
    ),
    Setting(
        "brief_tokens",
        USER,
        2_000,
        "most tokens of a brief; unless it is set, a compaction restores up to 3 % of its limit",
        low=100,
        high=8_000,
    ),
    Setting(
        "checkpoint_most",
        USER,
        50,
        "most checkpoints of one project; older ones are removed",
        low=1,
        high=100_000,
    ),
    Setting(
        "checkpoint_days",
        USER,
        30,
        "days until checkpoints, and snapshots in the database, are removed",
        low=1,
        high=3_650,
    ),
    Setting(
        "checkpoint_daily_days",
        USER,
        7,
        "days after which one checkpoint per day, and one snapshot per day and session, stays",
        low=1,
        high=3_650,
    ),
    Setting(
        "archive_days", USER, 14, "days until archived tool outputs are removed", low=1, high=3_650
    ),
    Setting(
        "archive_megabytes",
        USER,
        200,
        "megabytes for archived tool outputs; the oldest are removed first",
        low=1,
        high=100_000,
    ),
    Setting(
        "archive_transcripts",
        USER,
        "off",
        "on: keep copies of transcripts, compressed and without secrets",
        choices=("off", "on"),
    ),
    Setting(
        "archive_transcripts_megabytes",
        USER,
        1_000,
        "megabytes for archived transcripts; sessions that changed longest ago are removed first",
        low=1,
        high=1_000_000,
    ),
    Setting(
        "embedder",
        USER,
        "auto",
        "model for search by meaning: auto, off, minilm, a model's folder, or an endpoint",
        is_text=True,
    ),
    Setting("embedder_model", USER, "", "the name of the model at the endpoint", is_text=True),
    Setting(
        "embedder_key",
        USER,
        "",
        "name of the variable, or path of the file, with the endpoint's key",
        is_text=True,
    ),
    Setting(
        "secret_patterns",
        USER,
        "",
        "your own regular expressions for secrets, a list or one per line; a slow one slows all",
        is_text=True,
    ),
    Setting(
        "prices",
        USER,
        "",
        "what a million tokens cost, as `model input output read written`, with `;` between models",
        is_text=True,
    ),
    Setting("server", USER, "", "the team server that this machine reports to", is_text=True),
)
BY_NAME: Final = {setting.name: setting for setting in TABLE}
