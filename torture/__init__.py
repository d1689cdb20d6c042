"""Sessions at work while everything around them breaks; then what was promised is checked.

`make torture` plays scripted sessions through the installed hook command line, the MCP server, the
commands and `holdfast serve`, on SQLite and on PostgreSQL. Meanwhile processes are killed, system
calls fail, disks fill up, folders turn read-only, files are damaged and databases stop. All of it
stays on this machine, in folders of its own. `python -m torture --help`.
"""
