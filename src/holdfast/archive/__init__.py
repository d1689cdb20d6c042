"""Oversized tool results: kept whole on disk, shown to the model in part."""
