"""The edge, by every switch the client has."""

import json
from pathlib import Path

import pytest

from holdfast.client import compaction_limit, limit_settings


def _edge(model: str, environ: dict[str, str] | None = None, *words: str, **known: int) -> int:
    turned = limit_settings.read("", environ or {}, words)
    return compaction_limit.find(
        model, "2.1.325", turned, used_tokens=known.get("used", 0)
    ).edge_tokens


@pytest.mark.requirement("W3")
@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-sonnet-4-6", 167_000),
        ("claude-opus-5-5", 967_000),
        ("opus", 967_000),
        ("claude-sonnet-4-5-20250929", 200_000),
        ("claude-sonnet-4-6[1m]", 1_000_000),
        ("us.anthropic.claude-sonnet-4-6", 167_000),
        ("some-model-of-tomorrow", 967_000),
    ],
)
def test_each_model_s_edge_without_switches(model: str, tokens: int) -> None:
    assert _edge(model) == tokens


@pytest.mark.requirement("W3")
@pytest.mark.parametrize(
    ("model", "environ", "tokens"),
    [
        ("claude-opus-5-5", {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000"}, 167_000),
        ("claude-sonnet-4-6", {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, 90_000),
        ("claude-sonnet-4-6", {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}, 179_000),
        ("claude-opus-5-5", {"CLAUDE_CODE_DISABLE_1M_CONTEXT": "1"}, 167_000),
        ("claude-sonnet-4-6", {"DISABLE_AUTO_COMPACT": "1"}, 177_000),
        ("claude-opus-5-5", {"DISABLE_COMPACT": "true"}, 977_000),
        ("unknown-model", {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "300000"}, 267_000),
        ("claude-sonnet-4-6", {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "plenty"}, 167_000),
    ],
)
def test_each_variable_moves_the_edge_as_the_client_does(
    model: str, environ: dict[str, str], tokens: int
) -> None:
    assert _edge(model, environ) == tokens


@pytest.mark.requirement("W3")
def test_the_client_s_command_line_is_honoured() -> None:
    assert _edge("claude-opus-5-5", {}, "claude", "--autocompact", "100k") == 67_000
    assert _edge("claude-opus-5-5", {}, "claude", "--autocompact=150k") == 117_000
    assert _edge("claude-opus-5-5", {}, "claude", "--autocompact", "150") == 117_000
    window = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "300000"}
    assert _edge("claude-opus-5-5", window, "claude", "--autocompact", "150k") == 267_000
    wide = ("claude", "--model", "claude-sonnet-4-6[1m]")
    assert _edge("claude-sonnet-4-6", {}, *wide) == 1_000_000
    asked = {"ANTHROPIC_MODEL": "claude-sonnet-4-6[1m]"}
    assert _edge("claude-sonnet-4-6", asked) == 1_000_000
    assert _edge("claude-sonnet-4-6", asked, "claude", "--model", "sonnet") == 167_000


@pytest.mark.requirement("W3")
@pytest.mark.parametrize(
    ("name", "settings", "tokens"),
    [
        ("settings.json", {"autoCompactWindow": 120_000}, 87_000),
        ("settings.local.json", {"autoCompactEnabled": False}, 177_000),
        ("settings.json", {"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}}, 90_000),
        ("settings.json", {"model": "claude-sonnet-4-6[1m]"}, 1_000_000),
        ("settings.json", {"autoCompactWindow": "no number", "env": 3}, 167_000),
    ],
)
def test_settings_files_are_read(
    tmp_path: Path, name: str, settings: dict[str, object], tokens: int
) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / name).write_text(json.dumps(settings))
    turned = limit_settings.read(str(tmp_path), {})
    assert compaction_limit.find("claude-sonnet-4-6", "2.1.325", turned).edge_tokens == tokens


OPUS = "claude-opus-5-5"
MODEL_200K = {"modelSettings": {OPUS: {"autoCompactWindow": 200_000}}}


@pytest.mark.requirement("W10")
@pytest.mark.parametrize(
    ("user", "project", "tokens"),
    [
        (MODEL_200K, {}, 167_000),
        ({"modelSettings": {"opus": {"autoCompactWindow": 200_000}}}, {}, 167_000),
        (MODEL_200K, {"autoCompactWindow": 150_000}, 117_000),
        ({"autoCompactWindow": 150_000}, MODEL_200K, 167_000),
        (
            {"autoCompactWindow": 150_000, "modelSettings": {OPUS: {"autoCompactWindow": "auto"}}},
            {},
            967_000,
        ),
        ({"modelSettings": {OPUS: 3, "x": {"autoCompactWindow": True}, "y": None}}, {}, 967_000),
    ],
)
def test_a_window_per_model_is_read_as_the_client_reads_it(
    tmp_path: Path, user: dict[str, object], project: dict[str, object], tokens: int
) -> None:
    for folder, settings in ((tmp_path / "home", user), (tmp_path / "project", project)):
        (folder / ".claude").mkdir(parents=True)
        (folder / ".claude" / "settings.json").write_text(json.dumps(settings))
    turned = limit_settings.read(str(tmp_path / "project"), {"HOME": str(tmp_path / "home")})
    assert compaction_limit.find(OPUS, "2.1.325", turned).edge_tokens == tokens
    assert limit_settings.from_json(json.loads(json.dumps(turned.as_json()))) == turned


def _an_agent(folder: Path, name: str, window: str) -> None:
    place = folder / ".claude" / "agents" / f"{name}.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"---\nname: {name}\nautoCompactWindow: {window}\n---\nYou count.\n")


@pytest.mark.requirement("W10")
@pytest.mark.parametrize(
    ("window", "tokens"), [("120000", 87_000), ("50000", 167_000), ("many", 167_000)]
)
def test_an_agent_s_own_window_lowers_what_it_inherits(
    tmp_path: Path, window: str, tokens: int
) -> None:
    _an_agent(tmp_path, "counter", window)
    turned = limit_settings.read(str(tmp_path), {}, (), "counter")
    assert compaction_limit.find("claude-sonnet-4-6", "2.1.325", turned).edge_tokens == tokens
    other = limit_settings.read(str(tmp_path), {}, (), "general-purpose")
    assert compaction_limit.find("claude-sonnet-4-6", "2.1.325", other).edge_tokens == 167_000


@pytest.mark.requirement("W3")
def test_variables_win_over_files_and_the_project_s_file_over_the_user_s(tmp_path: Path) -> None:
    for folder, window in ((tmp_path / "home", 150_000), (tmp_path / "project", 120_000)):
        (folder / ".claude").mkdir(parents=True)
        settings = json.dumps({"autoCompactWindow": window})
        (folder / ".claude" / "settings.json").write_text(settings)
    environ = {"HOME": str(tmp_path / "home")}
    project = str(tmp_path / "project")
    assert limit_settings.read("", environ).auto_compact_window == 150_000
    assert limit_settings.read(project, environ).auto_compact_window == 120_000
    environ["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "110000"
    assert limit_settings.read(project, environ).auto_compact_window == 110_000


@pytest.mark.requirement("W3")
@pytest.mark.parametrize(
    ("version", "tokens"),
    [("1.0.53", 155_000), ("2.1.17", 155_000), ("2.1.25", 167_000), ("2.1.62", 167_000)],
)
def test_older_clients_compacted_elsewhere(version: str, tokens: int) -> None:
    assert compaction_limit.find("claude-opus-4-5-20251101", version).edge_tokens == tokens


@pytest.mark.requirement("W3")
def test_a_reading_above_the_window_raises_it() -> None:
    raised = compaction_limit.find("claude-sonnet-4-6", "2.1.325", used_tokens=250_000)
    assert (raised.window_tokens, raised.edge_tokens) == (1_000_000, 1_000_000)
    assert (
        compaction_limit.find("claude-opus-5-5", "2.1.325", used_tokens=1_200_000).edge_tokens
        == 1_200_000
    )


@pytest.mark.requirement("W3")
def test_the_status_line_s_window_wins_over_the_table() -> None:
    found = compaction_limit.find("unheard-of", "2.1.325", stated_window=400_000)
    assert (found.window_tokens, found.edge_tokens) == (400_000, 367_000)
    wide = compaction_limit.find("claude-sonnet-4-6", "2.1.325", stated_window=1_000_000)
    assert wide.edge_tokens == 1_000_000


@pytest.mark.requirement("W3")
def test_compactions_seen_win_over_the_table_unless_they_overshot_it() -> None:
    def after(*seen: int) -> int:
        return compaction_limit.find(
            "claude-sonnet-4-6", "2.1.325", seen_pre_tokens=seen
        ).edge_tokens

    assert after(170_553, 167_385) == 167_000
    assert after(120_400, 121_000) == 120_400
    wide = compaction_limit.find("opus", "2.1.325", seen_pre_tokens=[1_150_000, 1_160_000])
    assert wide.window_tokens == 1_150_000


@pytest.mark.requirement("W9")
@pytest.mark.parametrize(
    ("seen", "limit"),
    [
        ((120_400,), None),
        ((60_000, 120_400, 121_000), 120_400),
        ((120_400, 121_000, 167_100, 168_000, 169_000), None),
        ((164_500, 165_000), None),
    ],
)
def test_two_agreeing_compactions_and_a_majority_contradict_the_table(
    seen: tuple[int, ...], limit: int | None
) -> None:
    learned = compaction_limit.learn_limit(167_000, seen)
    assert (learned.tokens if learned else None) == limit


@pytest.mark.requirement("W9")
def test_a_window_that_went_past_a_learned_limit_twice_disproves_it() -> None:
    seen = [56_973, 60_364]

    def after(passed: int) -> int:
        found = compaction_limit.find(
            "claude-opus-4-5", "2.1.17", seen_pre_tokens=seen, passed_tokens=passed
        )
        return found.edge_tokens

    assert after(60_000) == 56_973
    assert after(82_798) == 155_000


@pytest.mark.requirement("W9")
def test_the_source_of_a_limit_is_named() -> None:
    def source(environ: dict[str, str], *words: str, seen: tuple[int, ...] = ()) -> str:
        turned = limit_settings.read("", environ, words)
        return compaction_limit.find(
            "claude-sonnet-4-6", "2.1.325", turned, seen_pre_tokens=seen
        ).source

    assert source({}) == "model table (claude-sonnet-4-6)"
    variable = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
    assert source({variable: "150000"}) == f"setting {variable}"
    assert source({}, "claude", "--autocompact", "150k") == "setting --autocompact"
    assert "DISABLE_COMPACT" in source({"DISABLE_COMPACT": "1"})
    learned = source({}, seen=(120_400, 121_000))
    assert learned == "learned from 2 compactions of claude-sonnet-4-6 on client 2.1.325"
