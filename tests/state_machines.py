"""Run a state machine of Hypothesis for a bounded time: each step may start a process."""

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def play(
    machine: Callable[[], RuleBasedStateMachine], *, most_examples: int, steps: int = 20
) -> None:
    """As many examples as the profile says, up to a limit."""
    chosen = settings(
        max_examples=min(settings().max_examples, most_examples),
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    run_state_machine_as_test(machine, settings=chosen)  # type: ignore[arg-type]
