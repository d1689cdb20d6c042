"""What is indexed, one module per kind of source.

Each module lists its sources as (key, stamp). The stamp changes when the source does, and needs
only a look at the file's date. Only sources that changed are read.
"""
