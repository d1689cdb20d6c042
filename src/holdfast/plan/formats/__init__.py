"""Read plans as people write them (Markdown, YAML, JSON)."""
