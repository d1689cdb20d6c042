"""What we know about Claude Code: models and limits, settings files, hook input and output."""
