"""One module for each tool of the model, named like the tool."""
