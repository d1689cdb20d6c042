"""All we know of Claude Code: models and their edges, settings, payloads; install, doctor."""
