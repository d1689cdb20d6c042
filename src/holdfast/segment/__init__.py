"""Old work as segments: cut by topic, compressed, kept warm and cold."""
