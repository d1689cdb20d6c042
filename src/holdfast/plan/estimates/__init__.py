"""How many tokens a task will take, judged by past requests."""
