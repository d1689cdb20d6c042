"""Compare a summary with the record: what it calls done although it is open, and what it claims in
the user's name that the user did not say."""

from __future__ import annotations

import msgspec

from holdfast.brief.attributions import find_unsourced
from holdfast.brief.item import FalseClaim
from holdfast.record.model import Record

MOST_TOLD, MOST_DONE = 3, 6  # shown to the model: in the user's name, called done


class SummaryCheck(msgspec.Struct, frozen=True):
    """Sentences of the summary that contradict the record, with the evidence."""

    called_done: list[FalseClaim]
    in_users_name: list[FalseClaim]

    @property
    def for_model(self) -> list[FalseClaim]:
        """Return the claims that the model gets to read."""
        return [*self.in_users_name[:MOST_TOLD], *self.called_done[:MOST_DONE]]


def check(record: Record, summary: str) -> SummaryCheck:
    return SummaryCheck([], list(find_unsourced(record, summary)))


def describe_claims(claims: list[FalseClaim]) -> list[dict[str, str]]:
    """Return the claims as plain values for programs."""
    return [{"sentence": one.sentence, "evidence": one.evidence} for one in claims]
