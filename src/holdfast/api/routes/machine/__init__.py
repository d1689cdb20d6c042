"""Routes over what lies in files of this machine, and over what was kept of its windows."""
