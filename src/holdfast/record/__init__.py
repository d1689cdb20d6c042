"""What a session has been about: one resumable pass over its transcript, without a model.

`read_record(path)` gives a `Record`: the turns of the session, what is open, what was used.
"""

from holdfast.record.model import Record
from holdfast.record.reader import RecordReader, read_record

__all__ = ["Record", "RecordReader", "read_record"]
