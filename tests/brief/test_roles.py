"""Four roles, chosen by the agent's type; a user's own template wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.roles import ROLES, SECTIONS, parse, role_for, sections_of
from holdfast.record.model import Agent, Place, Record, Turn


@pytest.mark.requirement("B3")
@pytest.mark.parametrize(
    ("agent_type", "role"),
    [
        ("", "developer"),
        ("project-orchestrator", "orchestrator"),
        ("tech-lead", "orchestrator"),
        ("backend-laravel", "developer"),
        ("frontend-react", "developer"),
        ("database-specialist", "specialist"),
        ("code-reviewer", "validator"),
        ("qa-tester", "validator"),
        ("something else", "developer"),
    ],
)
def test_the_role_follows_the_agents_type(agent_type: str, role: str) -> None:
    assert role_for(agent_type) == role


@pytest.mark.requirement("B3")
def test_a_main_session_with_agents_leads_them() -> None:
    assert role_for("", has_agents=True) == "orchestrator"
    facts = Record(turns=[Turn("Do it.", Place())], agents={"a": Agent("x", "y", Place())})
    assert compose(facts).role == "orchestrator"


@pytest.mark.requirement("B3")
@pytest.mark.parametrize("role", ROLES)
def test_every_template_has_every_section_once(role: str) -> None:
    names = [section.name for section in sections_of(role)]
    assert set(names) == SECTIONS and len(names) == len(set(names))


@pytest.mark.requirement("B3")
def test_a_users_own_template_is_used(own_home: Path) -> None:
    folder = own_home / ".holdfast" / "templates"
    folder.mkdir(parents=True)
    (folder / "developer.txt").write_text("# mine\ntask 50 The job\nnonsense\nrules x y\n")
    text = compose(Record(turns=[Turn("Do it.", Place())])).text
    assert "## The job" in text


@pytest.mark.requirement("B3")
def test_a_template_without_a_usable_line_is_passed_over(own_home: Path) -> None:
    folder = own_home / ".holdfast" / "templates"
    folder.mkdir(parents=True)
    (folder / "developer.txt").write_bytes(b"\xff\x00 nothing\n")
    assert sections_of("developer") == sections_of("no such role")
    assert parse("") == []
