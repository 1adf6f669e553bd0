"""An agent of the OpenAI Agents SDK whose skill is gated."""

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from skilldelta.integrations.openai_agents_filter import TokenRecorder, skill_filter
from skilldelta.integrations.skill_gate import SkillGate


class CannedModel(Model):
    """Always gives the same answer; leave it out and name your model instead."""

    async def get_response(self, system_instructions, input, *args, **kwargs):
        print("instructions:", system_instructions[:60].replace("\n", " "), "…")
        text = ResponseOutputText(annotations=[], text="864 cans", type="output_text")
        message = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse(output=[message], usage=Usage(requests=1, total_tokens=42), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise RuntimeError("this example does not stream")


set_tracing_disabled(True)
gate = SkillGate.from_bank("warehouse-units", "demo.bank")
agent = Agent(name="clerk", instructions="Be brief.", model=CannedModel())
result = Runner.run_sync(
    agent,
    "How many cans are in 3 pallets and 5 crates of beans?",
    run_config=RunConfig(call_model_input_filter=skill_filter(gate, conversation="order-17")),
    hooks=TokenRecorder(gate, conversation="order-17"),
)
print(result.final_output)
