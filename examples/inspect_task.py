"""An Inspect evaluation whose samples get the skill where it helps: `inspect eval examples/inspect_task.py --model …`."""

from inspect_ai import Task, task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

from skilldelta.integrations.inspect_solver import gated_skill
from skilldelta.integrations.skill_gate import SkillGate


@task
def warehouse() -> Task:
    """Two questions of a warehouse."""
    gate = SkillGate.from_bank("warehouse-units", "demo.bank")
    samples = [
        Sample(input="How many cans are in 3 pallets and 5 crates of beans?", target="984"),
        Sample(input="What is 17 + 25?", target="42"),
    ]
    return Task(dataset=samples, solver=[gated_skill(gate), generate()], scorer=includes())


def canned(*_: object) -> ModelOutput:
    """The answer of the model that stands in for yours."""
    output = ModelOutput.from_content("mockllm/model", "42")
    output.usage = ModelUsage(input_tokens=10, output_tokens=1, total_tokens=11)
    return output


if __name__ == "__main__":
    (log,) = evaluate(warehouse(), model=get_model("mockllm/model", custom_outputs=canned), display="none")
    for sample in log.samples:
        print(sample.metadata["skilldelta"]["arm"], "-", sample.metadata["skilldelta"]["reason"])
