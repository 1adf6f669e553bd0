"""A deep agent that discovers skills in a folder; the gate takes out of its catalogue what would not help."""

import tempfile
from pathlib import Path

from deepagents.backends import FilesystemBackend
from deepagents.middleware.skills import SkillsMiddleware
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from skilldelta.integrations.deepagents_filter import SkillCatalogFilter
from skilldelta.integrations.skill_gate import SkillGate

folder = Path(tempfile.mkdtemp())  # replace with the folder that holds your skills
(folder / "skills" / "warehouse-units").mkdir(parents=True)
(folder / "skills" / "warehouse-units" / "SKILL.md").write_text(
    "---\nname: warehouse-units\ndescription: How this warehouse counts.\n---\n\nA pallet holds 12 crates.\n"
)
discovery = SkillsMiddleware(backend=FilesystemBackend(root_dir=str(folder), virtual_mode=True), sources=["/skills"])
gate = SkillGate.from_bank("warehouse-units", "demo.bank")
model = GenericFakeChatModel(messages=iter([AIMessage("864 cans")]))  # replace with your model
agent = create_agent(model, [], middleware=[discovery, SkillCatalogFilter([gate])])

state = agent.invoke({"messages": [("user", "How many cans are in 3 pallets and 5 crates of beans?")]})
print("skipped:", state["skilldelta_skipped"])
