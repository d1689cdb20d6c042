"""Read what hooks and transcripts report into records, and write them as rows."""
