"""Holdfast keeps a long Claude Code session whole."""

__version__ = "0.2.0"
