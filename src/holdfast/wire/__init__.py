"""HOT. The formats both sides share: marks, spool lines, places, the end of a transcript."""
