"""Runs the batches of a plan, one after the other, with headless Claude."""
