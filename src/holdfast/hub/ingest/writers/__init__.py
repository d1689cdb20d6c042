"""Write records as rows, one module per part of the tree, all in one transaction."""
