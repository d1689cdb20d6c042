"""An option that takes a number of tokens, as a plan may write it."""

from __future__ import annotations

import click

from holdfast.plan.formats.fields import parse_tokens


class TokenCount(click.ParamType[int]):
    """1 or more: `12000`, `12,000`, `12k`, `1m`."""

    name = "tokens"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        found = parse_tokens(str(value))
        if not found:
            self.fail(f"{value!r} is no number of tokens: 12000, 12k or 1m", param, ctx)
        return found
