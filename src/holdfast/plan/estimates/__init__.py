"""How many tokens a task will take, by what past requests took."""
