"""A compaction of an idle session in the real client: after 54 minutes, so this takes an hour.

    python -m benchmarks.idle

Claude Code compacts a session in which nothing is typed if its prompt cache lives for an hour
(`promptCacheTtl`), and if the conversation is long enough. Nothing shortens the 54 minutes.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.real_client.briefs import briefs
from tests.real_client.stage import a_stage, hook_settings, newest_client
from tests.real_client.terminal import in_a_terminal
from tests.trial.cycle import SUMMARY, rounds
from tests.trial.script import Acts, ScriptedAnswer, usage_of

RULE = "Always write depths in metres."
USAGE = (30_000, 120_000, 150_000)  # below the compaction limit of 167,000
IDLE_SECONDS = 57 * 60
SETTINGS = {
    "promptCacheTtl": "1h",
    "env": {"CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS": "100000"},
    "permissions": {"allow": ["Bash"]},
}


def main() -> None:
    binary = newest_client()
    if binary is None:
        raise SystemExit("the real client is not here: `make client` fetches it")
    with tempfile.TemporaryDirectory(prefix="holdfast-idle-") as folder:
        stage = a_stage(Path(folder))
        mapped = ScriptedAnswer("Mapped.", usage=usage_of(USAGE[-1]))
        after = ScriptedAnswer("The pier is next.", usage=usage_of(22_000))
        summary = [ScriptedAnswer(SUMMARY, usage=usage_of(3_000))]
        script = Acts([*rounds(USAGE), mapped, after], summary=summary)
        settings = {**hook_settings(), **SETTINGS}
        with in_a_terminal(binary, stage, script, settings) as terminal:
            terminal.wait(lambda: "\u276f" in terminal.painted)
            terminal.type_line(f"Please map the harbour. {RULE}")
            terminal.wait(lambda: "Hooks: Stop [" in terminal.debug_log)
            began = time.monotonic()
            terminal.wait(lambda: "PostCompact:auto [" in terminal.debug_log, IDLE_SECONDS)
            minutes = (time.monotonic() - began) / 60
            terminal.type_line("What is next?")
            terminal.wait(lambda: len(terminal.asked("main")) > len(USAGE) + 1)
            found = briefs(terminal.asked("main")[-1])
            terminal.type_line("/exit")
            terminal.ended_within(20)
    print(f"compacted after {minutes:.1f} idle minutes")
    print(f"briefs in the next request: {len(found)}; the rule is in it: {RULE in ''.join(found)}")


if __name__ == "__main__":
    main()
