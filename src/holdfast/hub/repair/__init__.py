"""Making rows again, and rescuing what a damaged file still holds."""
