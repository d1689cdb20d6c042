"""The real Claude Code, run offline against a scripted Messages API: the judge of our hooks."""
