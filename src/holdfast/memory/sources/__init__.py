"""What is taken into the index, one module per kind of source.

Each lists what it has, as (key, stamp): the stamp changes when the source does, and costs a look at
a file's date to make. Only what changed is read.
"""
