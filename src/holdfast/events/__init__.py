"""What happens when: one short story per event."""
