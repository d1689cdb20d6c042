"""The tree of shared work, from projects to tool calls, with the readings and events of windows."""
