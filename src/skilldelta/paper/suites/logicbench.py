"""LogicBench: one rule of inference per family, asked as yes or no or as a choice of four conclusions."""

from __future__ import annotations

from skilldelta.errors import InputError
from skilldelta.paper.suites.base import BenchmarkData, GivenFiles, PaperCounts, PaperSuite, Preset, TaskSheet
from skilldelta.paper.suites.source_files import Instance, instance_places, only_skill, read_instances, skills_of

_PROMPT = """\
{task}

Reason briefly, then end with one line. For a question that can be answered with yes or no: The answer is: yes (or no).
Where choices are given, the number of the right one: The answer is: choice_1 (or choice_2, and so on)."""


def _read(sources: GivenFiles) -> BenchmarkData:
    instances = read_instances(sources, "logicbench")
    return BenchmarkData([_task(instance) for instance in instances], skills_of(sources, instances))


def _task(instance: Instance) -> TaskSheet:
    answer, kind = instance.text("answer").strip().lower(), instance.text("task_type")
    if kind not in ("BQA", "MCQA"):
        raise InputError(f"{instance.where}: eval_data.task_type must be BQA or MCQA, got {kind!r}")
    if (answer in ("yes", "no")) != (kind == "BQA"):
        raise InputError(f"{instance.where}: {answer!r} is no answer to a question of the type {kind}")
    skill = only_skill(instance)
    return TaskSheet(instance.instance_id, instance.question, skill, (skill,), answer, {"task_type": kind})


SUITE = PaperSuite(
    name="logicbench",
    title="LogicBench",
    licence="MIT (instances of SRA-Bench)",
    origin="github.com/oneal2000/SR-Agents: data/bench/instances/logicbench.json",
    needs="--from logicbench.json --skills corpus.json",
    counts=PaperCounts(tasks=760, skills=19, groups=19, group_sizes={40: 19}),
    preset=Preset(1024, prompt=_PROMPT, repetitions=3),
    grader={"type": "logic_answer"},
    read=_read,
    files=instance_places("logicbench"),
)
