"""Looks at every live session; runs inside serve, the MCP process, or alone."""
