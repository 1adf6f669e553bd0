"""The authors' protocol, suite by suite: their wording from their checkouts, and the facts around it.

Caps, steps, roles, separators, reasoning switches and graders are facts of their release (TankTechnology/skilldelta at
bc6c11a) and stand here; every sentence comes from the checkouts that a person names. The paper says temperature zero
everywhere; their SpreadsheetBench runner sends none, and so does this protocol.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilldelta.collect.graders.workbook_file import harness_preview
from skilldelta.collect.suite import AgentSettings, SuiteTask
from skilldelta.errors import InputError
from skilldelta.files import read_text
from skilldelta.paper.suites.base import BenchmarkData, GivenFiles, SkillSheet, TaskSheet
from skilldelta.paper.suites.checkouts import (
    Checkouts,
    SpreadsheetTexts,
    find_checkouts,
    read_examples,
    read_joining,
    read_medcalc,
    read_self_judge,
    read_spreadsheet,
    read_toolqa,
)
from skilldelta.paper.suites.graph_files import has_graphs
from skilldelta.paper.suites.lookup_corpora import check_corpora
from skilldelta.paper.suites.spreadsheetbench import SKILL, shown_position
from skilldelta.paper.suites.toolqa_agent import STEPS, WORDING_FILE
from skilldelta.records import CONDITIONS, Condition

# Seeds of the arm order in the authors' runners.
ARM_SEEDS: Mapping[str, int] = {
    "toolqa": 20260828,
    "medcalc": 20260828,
    "bigcodebench": 20260828,
    "logicbench": 20260827,
}
_ARM_NAMES: Mapping[Condition, str] = {"skip": "no_skill", "use": "all_gold_skills"}
_TOOL_ROUNDS = 5
_RETRIEVAL = ("sentence-transformers", "sentence-transformers/all-mpnet-base-v2")
_TOOLQA_SOLVER = f'''\
"""Runs ToolQA's text protocol, the same in both arms, with the wording in {WORDING_FILE}."""

from pathlib import Path

from skilldelta.paper.suites.toolqa_agent import toolqa_agent


def toolqa(corpora={{corpora}}, encoder="{_RETRIEVAL[0]}", encoder_model="{_RETRIEVAL[1]}", steps={STEPS}):
    return toolqa_agent(__file__, Path(corpora), encoder=encoder, encoder_model=encoder_model, steps=steps)
'''
_MEDCALC_SOLVER = f'''\
"""Runs the calculators of the task's skill that a reply calls as text, in the arm with the skill alone."""

from skilldelta.paper.suites.skill_tools import text_tools


def calculators(rounds={_TOOL_ROUNDS}):
    return text_tools(__file__, rounds=rounds)
'''


def needed_repository(suite: str) -> str:
    """The checkout without which there is no authors' protocol of a suite."""
    return "SkillOpt" if suite == "spreadsheetbench" else "SR-Agents"


def with_authors_protocol(suite: str, reading: BenchmarkData, sources: GivenFiles) -> BenchmarkData:
    """What was read from the benchmark's data, asked in the authors' words and graded as their runners grade."""
    checkouts = find_checkouts((sources.data, *sources.checkouts))
    apply = {
        "toolqa": _toolqa,
        "medcalc": _medcalc,
        "logicbench": _logicbench,
        "bigcodebench": _bigcodebench,
        "spreadsheetbench": _spreadsheetbench,
    }[suite]
    data = apply(reading, sources, checkouts)
    judge = read_self_judge(checkouts)
    notes = list(data.notes)
    if judge is None:
        notes.append(
            "without a checkout of github.com/TankTechnology/skilldelta the self-judge is asked in other words than the "
            "authors'; its figures are not comparable with the paper's"
        )
    settings = {**data.settings, **({"self_judge": judge} if judge else {})}
    record = {"commits": checkouts.commits, "checkout_files": checkouts.digests}
    return replace(data, settings=settings, notes=[*notes, *checkouts.notes()], record=record)


def _logicbench(reading: BenchmarkData, sources: GivenFiles, checkouts: Checkouts) -> BenchmarkData:
    agent = AgentSettings(skill_prompt=read_joining(checkouts).skill_prompt, max_tokens=1024, thinking=False)
    return replace(reading, agent=agent, grader={"type": "logic_answer", "mode": "exact"})


def _bigcodebench(reading: BenchmarkData, sources: GivenFiles, checkouts: Checkouts) -> BenchmarkData:
    joining = read_joining(checkouts)
    agent = AgentSettings(skill_prompt=joining.skill_prompt, max_tokens=4096, thinking=False)
    grader = {"type": "unit_tests", "mode": "exact", "seconds": 61, "memory_mb": 4096}
    return replace(reading, agent=agent, grader=grader, settings={"skill_separator": joining.separator})


def _medcalc(reading: BenchmarkData, sources: GivenFiles, checkouts: Checkouts) -> BenchmarkData:
    system, prompt = read_medcalc(checkouts)
    agent = AgentSettings(
        solver="calculators.py@calculators",
        system=system,
        prompt=prompt,
        skill_prompt=read_joining(checkouts).skill_prompt,
        max_tokens=512,
        thinking=False,
    )
    grader = {"type": "clinical_value", "mode": "exact", "evaluator": "release"}
    return replace(reading, agent=agent, grader=grader, written={"calculators.py": _MEDCALC_SOLVER}, notes=())


def _toolqa(reading: BenchmarkData, sources: GivenFiles, checkouts: Checkouts) -> BenchmarkData:
    texts = read_toolqa(checkouts)
    corpora = sources.corpora or _corpora_of(checkouts)
    if corpora is None:
        raise InputError(
            "ToolQA's agent needs its corpora; unpack data/external/external_corpus.zip of SR-Agents into its "
            "data/external/toolqa, or name another folder with --corpora"
        )
    notes = check_corpora(corpora)
    if not has_graphs(corpora):
        notes.append("no dblp/*.pkl: questions about its graphs have no tool")
    wording = {
        "frame": texts.frame,
        "examples": read_examples(checkouts, sources.examples),
        "sentences": dict(texts.sentences),
    }
    agent = AgentSettings(
        solver="toolqa.py@toolqa",
        system=texts.system,
        prompt=texts.prompt,
        skill_prompt=read_joining(checkouts).skill_prompt,
        max_tokens=384,
        thinking=False,
    )
    written = {
        "toolqa.py": _TOOLQA_SOLVER.format(corpora=repr(str(corpora.resolve()))),
        WORDING_FILE: json.dumps(wording, ensure_ascii=False, indent=1) + "\n",
    }
    grader = {"type": "short_answer", "mode": "exact", "evaluator": "release"}
    return replace(reading, agent=agent, grader=grader, written=written, notes=notes)


def _corpora_of(checkouts: Checkouts) -> Path | None:
    folder = checkouts.folders.get("SR-Agents", Path()) / "data" / "external" / "toolqa"
    return folder if folder.is_dir() else None


def _spreadsheetbench(reading: BenchmarkData, sources: GivenFiles, checkouts: Checkouts) -> BenchmarkData:
    texts = read_spreadsheet(checkouts)
    skills = reading.skills
    if not skills:
        text = read_text(checkouts.path("SkillOpt", "ckpt/spreadsheetbench/gpt5.5_skill.md"))
        skills = {SKILL: SkillSheet(SKILL, "SkillOpt's optimized skill for spreadsheets.", text.strip())}
    agent = AgentSettings(
        system=texts.system,
        skill_system=texts.skill_system,
        temperature=None,
        max_tokens=16_384,
        max_tokens_field="max_completion_tokens",
    )
    tasks = [_spreadsheet_task(task, texts) for task in reading.tasks]
    return replace(reading, tasks=tasks, skills=skills, agent=agent, grader={"type": "workbook", "mode": "exact"})


def _spreadsheet_task(task: TaskSheet, texts: SpreadsheetTexts) -> TaskSheet:
    """The instruction is what encoders see; the whole request stands beside it."""
    metadata = dict(task.metadata)
    instruction, kind = str(metadata.pop("instruction")), str(metadata.pop("instruction_type"))
    position = shown_position(metadata["answer_position"], metadata.get("answer_sheet"))
    preview = harness_preview(task.files[metadata["cases"][0][0]])
    return replace(
        task, text=instruction, prompt=texts.request(instruction, kind, position, preview), metadata=metadata
    )


def medcalc_split(tasks: Sequence[SuiteTask]) -> tuple[list[str], list[str]]:
    """The published 8/12 split of MedCalc-Bench: support and audit, by task."""
    families: dict[str, list[str]] = {}
    for task in tasks:
        families.setdefault(task.skill_id, []).append(task.task_id)
    support: set[str] = set()
    for skill, names in families.items():
        digest = hashlib.sha256(f"{ARM_SEEDS['medcalc']}:{skill}".encode()).hexdigest()
        support |= set(_shuffled(sorted(names), int(digest[:16], 16))[:8])
    names = [task.task_id for task in tasks]
    return [name for name in names if name in support], [name for name in names if name not in support]


def logicbench_panels(tasks: Sequence[SuiteTask]) -> dict[str, list[str]]:
    """The historical panels of LogicBench: four drawn skills, of each ten pilot, twenty development, ten audit tasks."""
    seed, families = ARM_SEEDS["logicbench"], dict[str, list[str]]()
    for task in tasks:
        families.setdefault(task.skill_id, []).append(task.task_id)
    drawn = _shuffled(sorted(skill for skill, names in families.items() if len(names) >= 40), seed)[:4]
    panels: dict[str, list[str]] = {"pilot": [], "development": [], "audit": []}
    for skill in drawn:
        digest = hashlib.sha256(f"{seed}:{skill}".encode()).hexdigest()
        names = _shuffled(sorted(families[skill]), int(digest[:16], 16))
        for name, start, end in (("pilot", 0, 10), ("development", 10, 30), ("audit", 30, 40)):
            panels[name] += names[start:end]
    return panels


def arm_order_by_name(task_id: str, repetition: int, *, seed: int) -> tuple[Condition, ...]:
    """BigCodeBench's order of arms: by a hash that has the arm's name in it."""
    return tuple(
        sorted(
            CONDITIONS,
            key=lambda arm: hashlib.sha256(f"{seed}:{task_id}:{repetition}:{_ARM_NAMES[arm]}".encode()).hexdigest(),
        )
    )


def _shuffled(names: list[str], seed: int) -> list[str]:
    random.Random(seed).shuffle(names)
    return names
