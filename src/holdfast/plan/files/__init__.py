"""The files a task names: expanded, grouped, and matched with their tests."""
