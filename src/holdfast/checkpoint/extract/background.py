"""Subagents that run in the background: launched by one call, heard of through others."""

from holdfast.checkpoint.facts import Facts

LAUNCHED = "Async agent launched"  # it answers later, in a file of its own
LONGEST_ANSWER = 600
_OVER = {"completed": "done", "failed": "failed", "killed": "failed", "stopped": "failed"}


def launched(facts: Facts, use_id: str, text: str) -> None:
    """From now on it is known by the id the launch told, not by the call's."""
    agent_id = text.partition("agentId: ")[2][:80].split(" ")[0].split("\n")[0]
    if agent_id and use_id in facts.agents:
        facts.agents[agent_id] = facts.agents.pop(use_id)


def heard(facts: Facts, text: str) -> None:
    """A notification, or the answer of a look at it: `<task-id>` in either spelling."""
    for opening in ("<task-id>", "<task_id>"):
        agent_id = text.partition(opening)[2].partition("<")[0].strip()[:80]
        agent = facts.agents.get(agent_id) if agent_id else None
        status = _OVER.get(text.partition("<status>")[2].partition("<")[0].strip())
        if agent is not None and status:
            agent.status = status
            said = text.partition("<result>")[2] or text.partition("<output>")[2]
            agent.answer = said.partition("</")[0].strip()[:LONGEST_ANSWER] or agent.answer
