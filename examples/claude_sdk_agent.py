"""A session of the Claude Agent SDK whose skill is gated. It needs ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL of a server."""

import asyncio
from pathlib import Path

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage

from skilldelta.integrations.claude_agent_hooks import record_result, skill_hooks
from skilldelta.integrations.skill_gate import SkillGate

gate = SkillGate.from_bank("warehouse-units", "demo.bank", text=Path("SKILL.md"))


async def main() -> None:
    """Ask once, show the answer, and record what it took with the decision."""
    async with ClaudeSDKClient(ClaudeAgentOptions(hooks=skill_hooks(gate))) as client:
        await client.query("How many cans are in 3 pallets and 5 crates of beans?")
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                print(message.result)
                print("recorded:", await record_result(gate, message))


asyncio.run(main())
