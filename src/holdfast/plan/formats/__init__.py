"""Plans as people write them (Markdown, YAML, JSON), read into tasks."""
