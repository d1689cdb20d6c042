"""The compaction limit: the token count at which Claude Code will compact.

`window - min(max output, 20,000) - 13,000`, moved by the user's settings, by the version of Claude
Code (up to 2.1.24 it left 32,000 free), and by compactions seen on this machine. The table of
models is as seen with 2.1.325; an unknown model gets a window of a million tokens.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from holdfast.client.limit_settings import MIN_WINDOW, LimitSettings

if TYPE_CHECKING:
    from holdfast.client.agents import CodingAgent

RESERVE = 20_000
MARGIN = 13_000
REFUSES_BEFORE = 23_000  # with compaction off, Claude Code sends nothing from window - 23,000 on
OLD_RESERVE = 32_000
OLD_RESERVE_BEFORE = (2, 1, 25)  # compactions at 155,000 up to 2.1.17, at 167,000 from 2.1.25
ALL_EARLY_BEFORE = (2, 1, 197)  # the oldest version seen to let some models run to the window's end
MIN_SEEN, MAX_SEEN = 10_000, 20_000_000  # no version compacts outside of this range
OVERSHOOT = 1.10  # a compaction happens up to a step after the limit: so far above is the same
UNDERSHOOT = 0.98  # Claude Code estimates what it adds: so little below is the same limit
MIN_AGREEING = 2  # a single odd line moves no limit


SMALL = 200_000
LARGE = 1_000_000


class Model(NamedTuple):
    prefix: str
    window_tokens: int
    compacts_early: bool = True


FAMILIES = ("opus", "sonnet", "haiku")
# The longest matching prefix wins. Versions 4.6 and older have 200K tokens, the rest a million.
MODELS = (
    *(Model(f"claude-{name}", SMALL, compacts_early=False) for name in ("2", "3", "instant")),
    *(Model(f"claude-{name}-4", SMALL, compacts_early=False) for name in FAMILIES),
    *(Model(f"claude-{name}-4-6", SMALL) for name in ("opus", "sonnet")),
    Model("claude-sonnet-4-6[1m]", LARGE, compacts_early=False),
    *(Model(f"claude-{name}", LARGE) for name in ("opus-4-7", "opus-4-8", "fable-5")),
    *(Model(f"claude-{name}-5", LARGE) for name in FAMILIES),
)
UNKNOWN = Model("", LARGE)
ALIASES = {
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
    "fable": "claude-fable-5-2",
}


def find_model(model_id: str) -> Model:
    """The row for a model id as it is written in transcripts, payloads or command lines."""
    wide = model_id.strip().lower().endswith("[1m]")
    stem = _stem(model_id)
    fits = [row for row in MODELS if _fits(row.prefix, stem + ("[1m]" if wide else ""))]
    row = max(fits, key=lambda row: len(row.prefix), default=UNKNOWN)
    if wide and row.window_tokens < LARGE:
        return Model(row.prefix, LARGE, compacts_early=False)
    return row


def canonical(model_id: str) -> str:
    """The name without date, `[1m]` and a cloud's prefix, as Claude Code's settings use it."""
    stem = _stem(model_id).split("@")[0].split(":")[0].removesuffix("-v1")
    name, _, last = stem.rpartition("-")
    return name if len(last) == 8 and last.isdecimal() else stem


def _stem(model_id: str) -> str:
    """The full name without `[1m]` and the prefix of a cloud."""
    stem = model_id.strip().lower().removesuffix("[1m]")
    stem = ALIASES.get(stem, stem)
    return stem[stem.find("claude-") :] if "claude-" in stem else stem


def _fits(prefix: str, name: str) -> bool:
    """Whether the prefix means this name: `claude-opus-4` does not mean `claude-opus-45`."""
    bare = name.removesuffix("[1m]")
    if prefix.endswith("[1m]"):
        return name.endswith("[1m]") and _fits(prefix.removesuffix("[1m]"), bare)
    return bare == prefix or bare.startswith((prefix + "-", prefix + "@", prefix + "."))


class CompactionLimit(NamedTuple):
    """`kind`: early (compacts at the limit), window (when the API refuses), refusal (it is off)."""

    window_tokens: int
    edge_tokens: int
    kind: str
    source: str

    def is_passed(self, used_tokens: int) -> bool:
        """Claude Code compacts before its next request."""
        return self.kind == "early" and used_tokens >= self.edge_tokens


def _other_agent(version: str) -> "CodingAgent | None":
    """The agent whose lines have this version; a version of Claude Code is a number."""
    if not version[:1].isalpha():
        return None
    from holdfast.client.agents import AGENTS

    return next((one for one in AGENTS if one.folder and version.startswith(one.name)), None)


def find(
    model_id: str,
    client_version: str = "",
    switches: LimitSettings | None = None,
    *,
    used_tokens: int = 0,
    stated_window: int | None = None,
    seen_pre_tokens: Iterable[int] = (),
    passed_tokens: int = 0,
) -> CompactionLimit:
    """The limit of one session. `stated_window` is what the status line reported, `seen_pre_tokens`
    are automatic compactions alike, `passed_tokens` is what the window held without one."""
    switches = switches or LimitSettings()
    if agent := _other_agent(client_version):
        return _stated_by(agent, stated_window or agent.window_tokens, switches, used_tokens)
    version = parse_version(client_version)
    model = _model(model_id, switches, stated_window, used_tokens)
    edge = _by_table(model, model_id, version, switches)
    learned = learn_limit(edge.edge_tokens, seen_pre_tokens)
    if learned and passed_tokens <= learned.tokens * OVERSHOOT:
        window = max(edge.window_tokens, learned.tokens)
        source = learned.in_words(model_id, client_version)
        edge = CompactionLimit(window, learned.tokens, edge.kind, source)
    if used_tokens > edge.window_tokens:  # larger than any window we know
        return CompactionLimit(used_tokens, used_tokens, "window", "a reading above the window")
    return edge


def _stated_by(
    agent: "CodingAgent", stated: int, switches: LimitSettings, used_tokens: int
) -> CompactionLimit:
    """Another agent states a share of its window; it compacts at a share or a setting."""
    window = max(round(stated / agent.states), used_tokens)
    edge = int(window * agent.compacts_at)
    source = f"{agent.compacts_at:.0%} of the window of {agent.title}"
    if switches.compact_at and switches.compact_at < edge:
        edge, source = switches.compact_at, f"setting {agent.limit_setting}"
    return CompactionLimit(window, edge, "early", source)


def parse_version(text: str) -> tuple[int, ...]:
    """(2, 1, 325); an unknown version counts as the newest."""
    parts = text.split("-")[0].split(".")
    good = all(part.isdecimal() and len(part) < 9 for part in parts)
    return tuple(int(part) for part in parts) if good else (999,)


def _model(
    model_id: str, switches: LimitSettings, stated_window: int | None, used_tokens: int
) -> Model:
    """The model's row of the table, corrected by settings, the stated window and the usage."""
    asked = switches.model
    wide = asked.endswith("[1m]") and not switches.large_windows_off
    model = find_model(model_id + "[1m]" if wide and not model_id.endswith("[1m]") else model_id)
    if model is UNKNOWN and switches.max_context_tokens:
        model = model._replace(window_tokens=switches.max_context_tokens)
    if switches.large_windows_off and model.window_tokens > SMALL:
        model = model._replace(window_tokens=SMALL)
    if stated_window and stated_window > 0:
        wider = stated_window > model.window_tokens and model.prefix
        model = find_model(model.prefix + "[1m]") if wider else model
        model = model._replace(window_tokens=stated_window)
    if used_tokens > model.window_tokens and used_tokens <= LARGE:
        wider_row = find_model(model.prefix + "[1m]") if model.prefix else model
        model = wider_row._replace(window_tokens=LARGE)
    return model


def _by_table(
    model: Model, model_id: str, version: tuple[int, ...], switches: LimitSettings
) -> CompactionLimit:
    window = model.window_tokens
    if switches.compaction_off:
        off = f"compaction is off ({switches.off_source or 'autoCompactEnabled'})"
        return CompactionLimit(window, max(1, window - REFUSES_BEFORE), "refusal", off)
    era = f", client before 2.1.{OLD_RESERVE_BEFORE[2]}" if version < OLD_RESERVE_BEFORE else ""
    effective, source = window, f"model table ({model.prefix or 'unknown model'}{era})"
    configured, set_by = _configured_window(model_id, switches, window)
    if configured:
        effective, source = configured, f"setting {set_by}"
    elif not model.compacts_early and version >= ALL_EARLY_BEFORE:
        return CompactionLimit(window, window, "window", source + ", no early compaction")
    reserve = _reserve(version, switches)
    edge = effective - reserve - MARGIN
    if switches.percent_override:
        lowered = int(switches.percent_override / 100 * (effective - reserve))
        if lowered < edge:
            edge, source = lowered, "setting CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
    return CompactionLimit(window, max(1, edge), "early", source)


def _configured_window(model_id: str, switches: LimitSettings, window: int) -> tuple[int, str]:
    """The configured window, 0 for none. The window of an agent can only lower it."""
    wanted, set_by = switches.window_for(model_id)
    found = min(max(wanted, MIN_WINDOW), window) if wanted else 0
    if switches.agent_window and switches.agent_window < (found or window):
        return switches.agent_window, "autoCompactWindow of the agent's definition"
    return found, set_by


def _reserve(version: tuple[int, ...], switches: LimitSettings) -> int:
    cap = OLD_RESERVE if version < OLD_RESERVE_BEFORE else RESERVE
    return min(switches.max_output_tokens or cap, cap)


class LearnedLimit(NamedTuple):
    """A limit that `count` compactions agree on and that differs from the table."""

    tokens: int
    compactions: int

    def in_words(self, model_id: str, client_version: str) -> str:
        of = f"{model_id or 'an unknown model'} on client {client_version or 'unknown'}"
        return f"learned from {self.compactions} compactions of {of}"


def learn_limit(table_tokens: int, seen_pre_tokens: Iterable[int]) -> LearnedLimit | None:
    """The limit that compactions show: at least two agree, and more than confirm the table."""
    sane = sorted(n for n in seen_pre_tokens if MIN_SEEN <= n <= MAX_SEEN)
    confirming = [n for n in sane if _is_same(n, table_tokens)]
    others = [n for n in sane if not _is_same(n, table_tokens)]
    groups = [[n for n in others if low <= n <= low * OVERSHOOT] for low in others]
    largest = max(groups, key=len, default=[])  # of groups of equal size the lowest, which is first
    if len(largest) < MIN_AGREEING or len(largest) <= len(confirming):
        return None
    return LearnedLimit(largest[0], len(largest))


def _is_same(pre_tokens: int, limit_tokens: int) -> bool:
    return limit_tokens * UNDERSHOOT <= pre_tokens <= limit_tokens * OVERSHOOT
