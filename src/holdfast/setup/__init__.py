"""Wiring Holdfast into Claude Code's settings, and out again without a trace."""
