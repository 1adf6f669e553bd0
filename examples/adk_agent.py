"""An agent of the Google Agent Development Kit whose skill is gated."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from skilldelta.integrations.adk_plugin import SkillDeltaPlugin
from skilldelta.integrations.skill_gate import SkillGate


class CannedModel(BaseLlm):
    """Always gives the same answer; leave it out and name your model instead."""

    model: str = "canned"

    async def generate_content_async(self, llm_request, stream=False):
        print("instruction:", str(llm_request.config.system_instruction)[:60].replace("\n", " "), "…")
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="864 cans")]))


async def main() -> None:
    """Ask once."""
    gate = SkillGate.from_bank("warehouse-units", "demo.bank")
    agent = LlmAgent(name="clerk", model=CannedModel(), instruction="Be brief.")
    runner = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=[SkillDeltaPlugin(gate)]))
    session = await runner.session_service.create_session(app_name="shop", user_id="you")
    question = types.Part(text="How many cans are in 3 pallets and 5 crates of beans?")
    message = types.Content(role="user", parts=[question])
    async for event in runner.run_async(user_id="you", session_id=session.id, new_message=message):
        print(event.content.parts[0].text)


asyncio.run(main())
