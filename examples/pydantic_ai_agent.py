"""A Pydantic AI agent whose skill is gated."""

from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

from skilldelta.integrations.pydantic_ai_capability import SkillDeltaCapability
from skilldelta.integrations.skill_gate import SkillGate

gate = SkillGate.from_bank("warehouse-units", "demo.bank")
model = TestModel()  # replace with your model, such as "anthropic:claude-sonnet-5"
agent = Agent(model, instructions="Be brief.", capabilities=[SkillDeltaCapability(gate)])

result = agent.run_sync("How many cans are in 3 pallets and 5 crates of beans?")
print(result.output)
print("instructions:", result.all_messages()[0].instructions[:60].replace("\n", " "), "…")
