"""What a window is handed back: its facts, the rules the client forgets, and what was set for it.

One place, so that `holdfast brief` and `holdfast budget` show what the hook would say.
"""

from __future__ import annotations

from holdfast.brief.compose import DEFAULT_TOKENS, Brief, compose
from holdfast.budget import ledger
from holdfast.checkpoint.facts import Facts
from holdfast.client.marked_rules import marked_rules
from holdfast.lifecycle import keeping
from holdfast.window.state import State
from holdfast.work.projection import read_projection


def composed(
    state: State, folder: str, facts: Facts, max_tokens: int = DEFAULT_TOKENS, role: str = ""
) -> Brief:
    return compose(
        facts,
        max_tokens,
        role,
        agent_type=state.agent_type,
        marked=marked_rules(state.project),
        work=read_projection(folder),
        budget=ledger.read(state.project, state.session_id),
        archived=keeping.archived(state),
    )
