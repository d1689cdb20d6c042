"""From a transcript to its facts, without a model: a fold over its entries, and resumable."""

from holdfast.checkpoint.extract.fold import Extractor, extract

__all__ = ["Extractor", "extract"]
