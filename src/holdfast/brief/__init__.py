"""The brief: what is handed back to a session, within a token limit, fenced as reference."""

from holdfast.brief.compose import Brief, compose
from holdfast.brief.steer import steer

__all__ = ["Brief", "compose", "steer"]
