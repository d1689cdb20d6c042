"""The part of msgspec that a hook of Holdfast uses, with `json` of the standard library.

A plugin cannot hold compiled packages for every platform. Until its environment is built, hooks
read transcripts with this one: slower, and with the same results. It must be named msgspec, because
readers, records and briefs are the same code either way.
"""

from msgspec import json as json
from msgspec import structs as structs
from msgspec.structs import UNSET as UNSET
from msgspec.structs import DecodeError as DecodeError
from msgspec.structs import Meta as Meta
from msgspec.structs import MsgspecError as MsgspecError
from msgspec.structs import Raw as Raw
from msgspec.structs import Struct as Struct
from msgspec.structs import UnsetType as UnsetType
from msgspec.structs import ValidationError as ValidationError
from msgspec.structs import field as field
from msgspec.values import convert as convert
from msgspec.values import to_builtins as to_builtins
