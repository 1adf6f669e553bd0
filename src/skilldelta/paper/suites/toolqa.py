"""ToolQA: questions about tables and texts that no model knows by heart; tools look them up in the benchmark's corpora."""

from __future__ import annotations

from dataclasses import replace

from skilldelta.evaluation.prospective.frozen_rule import FrozenRule
from skilldelta.paper.suites.base import BenchmarkData, GivenFiles, PaperCounts, PaperSuite, Preset, TaskSheet
from skilldelta.paper.suites.lookup_corpora import check_corpora
from skilldelta.paper.suites.source_files import Instance, instance_places, only_skill, read_instances, skills_of

STEPS = 8
_PROMPT = """\
{task}

End with one line of this form and nothing after it: Finish[your answer]"""
_NO_CORPORA = (
    "without ToolQA's corpora the agent has no tools and answers from memory; download its data folder and prepare with "
    "--corpora PATH"
)
_SYSTEM = "You answer questions about recorded data. The answer is a number, a name, a time, a list, or yes or no."
_SOLVER = f'''\
"""Gives the agent ToolQA's table, text and arithmetic tools, the same in both arms."""

from pathlib import Path

from skilldelta.paper.suites.lookup_tools import lookup_agent


def lookup(corpora={{corpora}}, encoder="wordllama"):
    return lookup_agent(Path(corpora), Path(__file__).parent / ".tables", encoder=encoder, steps={STEPS})
'''


def _read(sources: GivenFiles) -> BenchmarkData:
    instances = read_instances(sources, "toolqa")
    tasks, skills = [_task(instance) for instance in instances], skills_of(sources, instances)
    if sources.corpora is None:
        return BenchmarkData(tasks, skills, notes=[_NO_CORPORA])
    notes = check_corpora(sources.corpora)
    solver = _SOLVER.format(corpora=repr(str(sources.corpora.resolve())))
    agent = replace(SUITE.preset.agent, solver="lookup.py@lookup")
    return BenchmarkData(tasks, skills, agent=agent, written={"lookup.py": solver}, notes=notes)


def _task(instance: Instance) -> TaskSheet:
    skill, answer = only_skill(instance), instance.text("answer", may_be_empty=True)
    return TaskSheet(instance.instance_id, instance.question, skill, (skill,), answer)


SUITE = PaperSuite(
    name="toolqa",
    title="ToolQA",
    licence="MIT (instances of SRA-Bench); ToolQA Apache-2.0, its corpora under their own terms",
    origin="github.com/oneal2000/SR-Agents: data/bench/instances/toolqa.json; github.com/night-chen/ToolQA: corpora",
    needs="--from toolqa.json --skills corpus.json --corpora FOLDER",
    counts=PaperCounts(tasks=1430, skills=14, groups=14, group_sizes={100: 13, 130: 1}),
    preset=Preset(384, _SYSTEM, _PROMPT, known_per_group=12, frozen_rule=FrozenRule(k=3, threshold="prevalence")),
    grader={"type": "short_answer"},
    read=_read,
    files=instance_places("toolqa"),
)
