"""A LangChain agent whose skill is gated."""

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from skilldelta.integrations.langchain_middleware import SkillDeltaMiddleware
from skilldelta.integrations.skill_gate import SkillGate

gate = SkillGate.from_bank("warehouse-units", "demo.bank")
model = GenericFakeChatModel(messages=iter([AIMessage("864 cans")]))  # replace with your model, such as "openai:gpt-5"
agent = create_agent(model, [], system_prompt="Be brief.", middleware=[SkillDeltaMiddleware(gate)])

state = agent.invoke({"messages": [("user", "How many cans are in 3 pallets and 5 crates of beans?")]})
print("use" if state["skilldelta"].use else "skip", "-", state["skilldelta"].reason)
print(state["messages"][-1].content)
