"""One reader per source: the spool, the transcript, the audit log, the checkpoints' snapshots."""
