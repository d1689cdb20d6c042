"""What a session has been about: one resumable pass over its transcript, without a model.

`reader.read_record(path)` gives a `model.Record`.
"""
