"""Routes over files of this machine, and over rows about its windows."""
