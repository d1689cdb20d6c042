"""Commands that save and restore."""
