"""Checks of an installation, from one hook to the real client."""
