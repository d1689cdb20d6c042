"""The room of a brief split into five compartments, so that none crowds out another."""
