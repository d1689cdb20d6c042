"""The brief: what is handed back to a session, within a token limit, fenced as reference."""
