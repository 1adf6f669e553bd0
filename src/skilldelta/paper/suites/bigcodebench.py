"""BigCodeBench: functions to write with the libraries of two to six skills, which are injected together and are one
intervention. The first annotated skill is the task's focal group."""

from __future__ import annotations

from skilldelta.evaluation.prospective.frozen_rule import FrozenRule
from skilldelta.paper.suites.base import (
    BenchmarkData,
    GivenFiles,
    OmittedTask,
    PaperCounts,
    PaperSuite,
    Preset,
    TaskSheet,
)
from skilldelta.paper.suites.source_files import Instance, instance_places, read_instances, skills_of

# Of the 1,140 tasks of the benchmark, those that are not among the paper's 1,136.
_REFERENCE_FAILS = {
    "bigcodebench_00039": "its reference solution fails with NumPy 2",
    "bigcodebench_00245": "its reference solution needs an older scipy.stats.mode",
    "bigcodebench_00634": "its reference solution needs an older scipy.stats.mode",
    "bigcodebench_00736": "its reference solution needs an older scipy.stats.mode",
}


def _read(sources: GivenFiles) -> BenchmarkData:
    instances = read_instances(sources, "bigcodebench")
    usable = [instance for instance in instances if instance.instance_id not in _REFERENCE_FAILS]
    ids = {instance.instance_id for instance in instances}
    left_out = [OmittedTask(task_id, reason) for task_id, reason in _REFERENCE_FAILS.items() if task_id in ids]
    return BenchmarkData([_task(instance) for instance in usable], skills_of(sources, usable), left_out=left_out)


def _task(instance: Instance) -> TaskSheet:
    metadata = {"entry_point": instance.text("entry_point"), "tests": instance.text("test")}
    prompt = instance.data.get("code_prompt")
    if isinstance(prompt, str) and prompt.strip():
        metadata["code_prompt"] = prompt
    return TaskSheet(instance.instance_id, instance.question, instance.skills[0], instance.skills, metadata=metadata)


SUITE = PaperSuite(
    name="bigcodebench",
    title="BigCodeBench",
    licence="MIT (instances of SRA-Bench); BigCodeBench Apache-2.0",
    origin="github.com/oneal2000/SR-Agents: data/bench/instances/bigcodebench.json",
    needs="--from bigcodebench.json --skills corpus.json",
    counts=PaperCounts(
        tasks=1136,
        skills=139,
        groups=86,
        median_group=3,
        singletons=29,
        bundles=575,
        edges=3140,
        fewest_skills=2,
        most_skills=6,
    ),
    preset=Preset(4096, known_per_group=20, frozen_rule=FrozenRule(k=None, threshold="prevalence")),
    grader={"type": "unit_tests"},
    read=_read,
    files=instance_places("bigcodebench"),
)
