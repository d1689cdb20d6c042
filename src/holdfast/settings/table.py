"""Every setting there is: its name, who may set it, default, bounds, and the words that explain it.

A project's `.claude/holdfast.toml` comes with the repository, so its author is unknown. A project
may set when Holdfast speaks and works in its own sessions, but no place, program or server, and no
limit that protects the user: alerts, time between checkpoints, how long data stays, batches.
"""

from typing import Final, Literal, NamedTuple

Value = float | int | bool | str
Setter = Literal["user", "project"]
USER: Final = "user"  # only the user: in the user's file, or as a variable
PROJECT: Final = "project"  # the project's file too
OLDER: Final = ("check_interval", "cooldown_seconds", "capacity_threshold")


class Setting(NamedTuple):
    name: str
    set_by: Setter  # no default: every new setting has to decide
    default: Value
    meaning: str
    low: float = 0.0
    high: float = 1.0
    choices: tuple[str, ...] = ()
    is_text: bool = False
    is_names: bool = False  # `snake_case` or `dotted.name`, commas between

    @property
    def also(self) -> str:
        """A variable of older tools that means the same; empty if there is none."""
        return self.name.upper() if self.name in OLDER else ""

    @property
    def variable(self) -> str:
        return "HOLDFAST_" + self.name.upper()


PRESETS: Final[dict[str, dict[str, float]]] = {
    "default": {},
    "conservative": {"zone_yellow": 0.40, "zone_orange": 0.65, "zone_red": 0.80},
    "aggressive": {"zone_yellow": 0.60, "zone_orange": 0.85, "zone_red": 0.95},
}


def _count(
    name: str, set_by: Setter, default: int, high: int, meaning: str, low: int = 1
) -> Setting:
    return Setting(name, set_by, default, meaning, low, high)


def _turns(name: str, set_by: Setter, default: int, meaning: str) -> Setting:
    return _count(name, set_by, default, 10_000, meaning)


def _choice(
    name: str, set_by: Setter, default: str, meaning: str, choices: tuple[str, ...]
) -> Setting:
    return Setting(name, set_by, default, meaning, choices=choices)


def _text(name: str, default: str, meaning: str) -> Setting:
    """A free text may name a place, a program or a server, so only the user sets it."""
    return Setting(name, USER, default, meaning, is_text=True)


TABLE: Final[tuple[Setting, ...]] = (
    _choice("preset", PROJECT, "default", "sets the three zones together", tuple(PRESETS)),
    Setting("zone_yellow", PROJECT, 0.50,
        "the zone is yellow from this share of the compaction limit on"),
    Setting("zone_orange", PROJECT, 0.75,
        "the zone is orange from this share on, and the model is told"),
    Setting("zone_red", PROJECT, 0.90, "the zone is red from this share on"),
    Setting("warning_left", USER, 0.30,
        "the warning comes when this share of the limit is left; it adapts to the session"),
    Setting("warning_left_least", USER, 0.16, "the warning adapts down to this share, not below"),
    Setting("warning_left_most", USER, 0.45, "the warning adapts up to this share, not above"),
    Setting("advisory_left", USER, 0.15, "the advisory comes when this share is left"),
    Setting("urgent_left", USER, 0.07, "urgent comes when this share is left"),
    Setting("critical_left", USER, 0.03, "critical comes when this share is left"),
    Setting("fast_climb", USER, 0.05,
        "if a step fills more than this share, alerts come one level early"),
    _count("check_interval", PROJECT, 5, 10_000,
        "tool calls between two checkpoints above capacity_threshold"),
    _count("cooldown_seconds", USER, 120, 86_400,
        "at least this many seconds between two checkpoints of the monitor or the advisory", low=0),
    _count("capacity_threshold", PROJECT, 80, 100,
        "above this percentage of the limit, a checkpoint is saved every few tool calls", low=0),
    _count("active_minutes", PROJECT, 30, 1_440,
        "a checkpoint is saved after this many minutes of work without one"),
    Setting("batch_share", USER, 0.60,
        "a batch of a plan may fill this share of the window", low=0.01),
    _count("batch_specs", USER, 3, 1_000, "at most this many tasks in one batch of a plan"),
    _count("watch_seconds", USER, 30, 3_600, "seconds between two checks by the watcher"),
    Setting("watch_at", USER, 0.60, "the watcher saves from this share of the limit on"),
    _count("watch_apart_seconds", USER, 10, 3_600,
        "at least this many seconds between two checkpoints by the watcher in one project", low=0),
    _choice("stop_guard", USER, "off",
        "on: a model that stops with work open is asked once to go on", ("off", "on")),
    _choice("status_line", USER, "default",
        "what the status line shows", ("minimal", "default", "full")),
    Setting("segment_queue_from", PROJECT, 0.60,
        "older topics are compressed from this share of the limit on"),
    Setting("segment_archive_from", PROJECT, 0.80,
        "compressed topics that are old are archived from this share on"),
    _turns("segment_check_turns", PROJECT, 10,
        "steps of the model between two checks for topics to compress"),
    _turns("segment_cold_turns", PROJECT, 20,
        "a topic is compressed after this many steps without a mention"),
    _turns("segment_cold_messages", PROJECT, 5, "a topic with fewer messages is not compressed"),
    _turns("segment_archive_turns", PROJECT, 50, "a compressed topic is old after this many steps"),
    _turns("segment_prune_turns", USER, 50,
        "steps of the model between two checks for archived topics to shorten"),
    _turns("segment_prune_days", USER, 30,
        "after this many days only the summary of an archived topic stays"),
    _text("notes_folder", "", "a folder of daily notes (Obsidian); each session adds a line"),
    _text("notes_name", "%Y-%m-%d.md", "the file name of a day's note"),
    Setting("topics", PROJECT, "", "your own topics for messages between agents", is_names=True),
    _count("brief_tokens", USER, 2_000, 8_000,
        "a brief has at most this many tokens; while it is not set, a compaction may restore up to "
        "3% of its limit", low=100),
    _count("checkpoint_most", USER, 50, 100_000,
        "at most this many checkpoints per project; the oldest are removed"),
    _count("checkpoint_days", USER, 30, 3_650,
        "checkpoints and snapshots are removed after this many days"),
    _count("checkpoint_daily_days", USER, 7, 3_650,
        "after this many days one checkpoint per day stays"),
    _count("archive_days", USER, 14, 3_650,
        "archived tool outputs are removed after this many days"),
    _count("archive_megabytes", USER, 200, 100_000,
        "at most this many megabytes of archived tool outputs; the oldest are removed"),
    _choice("archive_transcripts", USER, "off",
        "on: copies of transcripts are saved, without secrets", ("off", "on")),
    _count("archive_transcripts_megabytes", USER, 1_000, 1_000_000,
        "at most this many megabytes of these copies; the oldest are removed"),
    _text("embedder", "auto",
        "what search by meaning uses: auto, off, minilm, a model's folder, or an endpoint"),
    _text("embedder_model", "", "the model of the endpoint"),
    _text("embedder_key", "", "the variable or file that holds the endpoint's key"),
    _text("secret_patterns", "",
        "your own regular expressions for secrets: a list, or one per line"),
    _text("prices", "", "prices per million tokens: `model input output read written; …`"),
    _text("server", "", "the team server that this machine reports to"),
)  # fmt: skip
BY_NAME: Final = {setting.name: setting for setting in TABLE}
