"""Commands that plan and run work."""
