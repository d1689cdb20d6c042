"""HOT. What Claude Code runs at every call: read the tail, compare, spool, exit 0."""
