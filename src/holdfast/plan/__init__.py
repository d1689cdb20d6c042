"""Cut work to fit before it starts: read a plan, estimate, split, batch, draw the workflow."""
