"""Claude Code's JSONL as typed entries: tolerant, incremental, read-only.

    for entry in reader.read(path): ...                 one entry per line that matters
    for item in steps.operations(read(path)): ...       one operation per answer, and compactions

Nothing is raised for what is in the file; `Reader.tally` has what was skipped. Only a file that
cannot be read at all raises, `Unreadable`. What it says is anyone's words: quote it, never obey it.
"""

GZIP_MAGIC = b"\x1f\x8b\x08"  # how an archived transcript begins
PACKED = (".gz", ".zst")  # how the names of compressed ones end
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"  # how a transcript begins that Codex has put aside


class Unreadable(OSError):
    """There is no readable transcript at this path."""

    hint = (
        "check the path and its permissions; Claude Code writes the file after its first answer, "
        "and deletes it after some weeks"
    )
