"""A checkpoint: a markdown file that can restart the work."""
