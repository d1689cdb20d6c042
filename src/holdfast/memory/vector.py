"""How a vector is stored: its signs, and each component in one byte, with a common scale.

A search by signs, refined with the bytes, finds .96 to .97 of what full vectors find.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
STEPS = 127
SCALE_BYTES = 4
FEW = 20


class Kept(NamedTuple):
    bits: bytes
    parts: bytes  # the scale, then one byte per component


def unit(vectors: Array) -> Array:
    """Scale each vector to length one. A zero vector stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    array: Array = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return array


def encode(vectors: Array) -> list[Kept]:
    tops = np.maximum(np.abs(vectors).max(axis=1), 1e-9)
    bytes_ = np.rint(vectors * (STEPS / tops)[:, None]).astype(np.int8)
    bits = signs(vectors)
    scales = (tops / STEPS).astype("<f4")
    return [
        Kept(bits[row].tobytes(), scales[row].tobytes() + bytes_[row].tobytes())
        for row in range(len(vectors))
    ]


def signs(vectors: Array) -> Array:
    """Pack 64 signs into one integer. The last one is filled up with zeros."""
    packed = np.packbits(vectors > 0, axis=-1)
    short = -packed.shape[-1] % 8
    if short:
        packed = np.pad(packed, [(0, 0)] * (packed.ndim - 1) + [(0, short)])
    return np.ascontiguousarray(packed).view(np.uint64)


def decode(parts: Sequence[bytes]) -> Array:
    """Decode stored vectors, with small rounding errors."""
    raw = np.frombuffer(b"".join(parts), np.uint8).reshape(len(parts), -1)
    scales = np.ascontiguousarray(raw[:, :SCALE_BYTES]).view("<f4")
    vectors: Array = raw[:, SCALE_BYTES:].view(np.int8).astype(np.float32) * scales
    return vectors


def fewest_differences(known: Array, query: Array, most: int) -> Array:
    """Return the positions of the vectors whose signs differ least from the query's.

    `known` has a row for each integer of signs and a column for each vector: adding rows takes a
    quarter of the time of summing along them.
    """
    differences = np.zeros(known.shape[1], np.int32)
    for row, word in zip(known, signs(query), strict=True):
        differences += np.bitwise_count(row ^ word)
    if len(differences) <= most:
        return np.arange(len(differences))
    return np.argpartition(differences, most)[:most]


def mean_of(vectors: Array) -> Array:
    """Return the mean of vectors; less of it where there are few, as that is near to each."""
    middle: Array = vectors.sum(axis=0) / (len(vectors) + FEW)
    return middle
