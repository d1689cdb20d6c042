"""Deeds into rows: one module per part of the tree. All on one connection, in one transaction."""
