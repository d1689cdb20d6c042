"""Archive a long tool output and show the model a preview of it.

It has a hook of its own, which is installed only on request and which Claude Code waits for.
Nothing here is loaded for a short output.
"""

from typing import Any

from holdfast.archive import outputs
from holdfast.archive.outputs import preview
from holdfast.client import hook_outputs
from holdfast.files.small_files import NotStored
from holdfast.redact.find import redact
from holdfast.settings import load as settings_load
from holdfast.wire import log, scan

EXPANDING = "holdfast expand"


def tell(payload: dict[str, Any], limit: int, now_ms: int) -> str:
    """What to print: the output with a preview in it, or nothing to leave it unchanged."""
    tool = scan.text_of(payload, "tool_name")
    response = payload.get("tool_response")
    text = hook_outputs.read_text(tool, response)
    asked = scan.text_of(payload.get("tool_input"), "command")
    if len(text) <= limit or EXPANDING in asked:
        return ""
    clean, output_id = redact(text), outputs.new_id()
    session_id = scan.text_of(payload, "session_id")[:200]
    try:  # without the tool's input: a command line may hold a secret
        outputs.keep(
            output_id, clean, {"tool": tool[:200], "session_id": session_id, "at_ms": now_ms}
        )
    except NotStored as error:  # then the model gets all of it
        log.add("WARN", "archive", str(error))
        return ""
    settings = settings_load.load()
    room = settings.whole("archive_megabytes") << 20
    outputs.prune(settings.whole("archive_days"), room, now_ms / 1000)
    shown = hook_outputs.put_text(tool, response, preview(clean, output_id))
    return hook_outputs.replace_output(shown)
