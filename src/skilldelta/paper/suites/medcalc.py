"""MedCalc-Bench: a patient's note and a calculator to apply to it; the skill may bring the calculator as a tool."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from skilldelta.collect.graders.clinical_value import Kind
from skilldelta.errors import InputError
from skilldelta.evaluation.prospective.frozen_rule import FrozenRule
from skilldelta.paper.suites.base import BenchmarkData, GivenFiles, PaperCounts, PaperSuite, Preset, TaskSheet
from skilldelta.paper.suites.source_files import Instance, instance_places, only_skill, read_instances, skills_of

TOOL_ROUNDS = 5
_DUE_DATES = (13, 68)
_GESTATIONAL_AGE = 69
# Calculators whose value is a whole score, whatever the table says of its type.
_SCORES = (4, 15, 16, 17, 18, 20, 21, 25, 27, 28, 29, 32, 33, 36, 43, 45, 48, 51)
_PROMPT = """\
{task}

Show the calculation step by step. End with one line of this form, without units or further words:
ANSWER: the value
A date is written MM/DD/YYYY, a gestational age (weeks, days)."""
_SYSTEM = "You compute clinical scores and values from patient notes."
_SOLVER = f'''\
"""Offers the calculators of the task's skill to the agent, in the arm with the skill alone."""

from skilldelta.paper.suites.skill_tools import skill_tools


def calculators():
    return skill_tools(__file__, rounds={TOOL_ROUNDS})
'''


def _read(sources: GivenFiles) -> BenchmarkData:
    instances = read_instances(sources, "medcalcbench")
    skills = skills_of(sources, instances)
    tasks = [_task(instance) for instance in instances]
    if not any(sheet.tools for sheet in skills.values()):
        notes = ["the skill texts bring no tools, so calculators are applied in words"] if skills else []
        return BenchmarkData(tasks, skills, notes=notes)
    agent = replace(SUITE.preset.agent, solver="calculators.py@calculators")
    return BenchmarkData(tasks, skills, agent=agent, written={"calculators.py": _SOLVER})


def _task(instance: Instance) -> TaskSheet:
    skill, kind = only_skill(instance), _kind(instance)
    metadata: dict[str, Any] = {"kind": kind}
    if kind == "decimal":
        metadata |= {"lower": instance.text("lower_limit"), "upper": instance.text("upper_limit")}
    return TaskSheet(instance.instance_id, instance.question, skill, (skill,), instance.text("answer"), metadata)


def _kind(instance: Instance) -> Kind:
    calculator, output = instance.data.get("calculator_id"), instance.text("output_type")
    if not isinstance(calculator, int):
        raise InputError(f"{instance.where}: eval_data.calculator_id must be a number, got {calculator!r}")
    if calculator in _DUE_DATES:
        return "date"
    if calculator == _GESTATIONAL_AGE:
        return "age"
    return "integer" if calculator in _SCORES or output == "integer" else "decimal"


SUITE = PaperSuite(
    name="medcalc",
    title="MedCalc-Bench",
    licence="MIT (instances of SRA-Bench); notes from MedCalc-Bench, CC-BY-SA 4.0",
    origin="github.com/oneal2000/SR-Agents: data/bench/instances/medcalcbench.json",
    needs="--from medcalcbench.json --skills corpus.json",
    counts=PaperCounts(tasks=1100, skills=55, groups=55, group_sizes={20: 55}),
    preset=Preset(512, _SYSTEM, _PROMPT, known_per_group=8, frozen_rule=FrozenRule(k=3, threshold="prevalence")),
    grader={"type": "clinical_value"},
    read=_read,
    files=instance_places("medcalcbench"),
)
