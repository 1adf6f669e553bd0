"""A real deep agent that discovers skills in a folder: what its catalogue holds, with a skill used and skipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from integrations.gates import SKILL_TEXT, TASK, Desk

pytest.importorskip("deepagents", reason="deepagents is not installed; make test-frameworks runs this")

from deepagents.backends import FilesystemBackend
from deepagents.middleware.skills import SkillsMiddleware
from langchain.agents import create_agent

from integrations.test_langchain_middleware import WatchedModel, ask, model
from skilldelta.integrations.deepagents_filter import SkillCatalogFilter


def first_system_text(desk: Desk, folder: Path) -> str:
    for name in ("warehouse-units", "other-skill"):
        (folder / "skills" / name).mkdir(parents=True)
        front = f"---\nname: {name}\ndescription: About {name}.\n---\n\n{SKILL_TEXT}\n"
        (folder / "skills" / name / "SKILL.md").write_text(front)
    watched: WatchedModel = model()
    discovering = SkillsMiddleware(
        backend=FilesystemBackend(root_dir=str(folder), virtual_mode=True), sources=["/skills"]
    )
    middleware: list[Any] = [discovering, SkillCatalogFilter([desk.gate()])]
    ask(create_agent(watched, [], middleware=middleware), "one", TASK)
    return str(watched.seen[0][0].content)


def test_a_skipped_skill_is_not_in_the_catalogue_and_others_stay(tmp_path: Path) -> None:
    text = first_system_text(Desk("skip"), tmp_path)
    assert "warehouse-units" not in text
    assert "other-skill" in text


def test_a_used_skill_stays_in_the_catalogue(tmp_path: Path) -> None:
    desk = Desk("use")
    assert "warehouse-units" in first_system_text(desk, tmp_path)
    assert desk.asked[0]["text"] == TASK
