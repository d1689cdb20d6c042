"""Build rows again, and rescue what a damaged file still holds."""
