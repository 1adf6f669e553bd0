"""A real Inspect evaluation with its mock model: what the model is sent, with the skill used and skipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from integrations.gates import SKILL_TEXT, TASK, Desk

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed; make test-frameworks runs this")

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, system_message

from skilldelta.integrations.inspect_solver import gated_skill


def sample_of(desk: Desk, logs: Path) -> EvalSample:
    def answer(*_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", "864")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    task = Task(
        dataset=[Sample(id="t1", input=TASK)],
        solver=[system_message("Be brief."), gated_skill(desk.gate()), generate()],
    )
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = evaluate(task, model=model, log_dir=str(logs), display="none")
    assert log.samples is not None
    return log.samples[0]


def test_the_skill_is_a_system_message_before_the_task(tmp_path: Path) -> None:
    sample = sample_of(Desk("use"), tmp_path)
    assert [(message.role, message.text) for message in sample.messages[:3]] == [
        ("system", "Be brief."),
        ("system", SKILL_TEXT),
        ("user", TASK),
    ]
    assert sample.metadata["skilldelta"]["arm"] == "use"


def test_a_skipped_skill_adds_no_message(tmp_path: Path) -> None:
    sample = sample_of(Desk("skip"), tmp_path)
    assert [message.role for message in sample.messages] == ["system", "user", "assistant"]
    assert sample.metadata["skilldelta"] == {
        "arm": "skip",
        "skill": "warehouse-units",
        "reason": "the answer is skip",
        "decision_id": 1,
    }
