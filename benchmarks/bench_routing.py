"""Deciding among 200 skills over 20,000 recorded tasks, beside deciding about one skill on the same number of rows.

Both through the service, without a transport and without the log, on messages that nobody has asked before. Times are of the
processor, which others on the machine do not lengthen.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.figure import Figure, Peer
from benchmarks.timing import timed
from skilldelta.advisor.skill_ranking import SkillRanking
from skilldelta.bank import Bank
from skilldelta.bank.importers import read_source
from skilldelta.encoders import load_encoder
from skilldelta.gate import Question
from skilldelta.harnesses import harness_named
from skilldelta.library.library_reading import read_library
from skilldelta.serve.gate_service import GateService

ROWS, SKILLS, ROUNDS = 20_000, 200, 60
# Skills that messages are about: each is asked once before anything is measured, which reads its rows.
ASKED_ABOUT = 10
INSTALLED, SESSIONS = 200, 1_000


def run() -> list[Figure]:
    """Routing on two banks of the same size, and a library of the same number of skills."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_choosing(Path(folder)), *_library(Path(folder))]


def _choosing(folder: Path) -> list[Figure]:
    one = _median_ms(folder / "one.bank", skills=1)
    many = _median_ms(folder / "many.bank", skills=SKILLS)
    with Bank.open(folder / "many.bank") as bank:
        ranking = SkillRanking(bank, load_encoder(), bank.agents()[0])
        fit = timed(ranking.applicability).cpu
    return [
        Figure(
            "choose_among_200",
            many,
            "ms",
            "lower",
            f"One message, {SKILLS} skills, {ROWS:,} recorded tasks; at most 2× are allowed.",
            Peer("decide about one skill", one),
        ),
        Figure(
            "fit_applicability", fit, "s", "lower", "Once per revision of the bank, vectors read and encoded before."
        ),
    ]


def _median_ms(path: Path, *, skills: int) -> float:
    """Milliseconds of the processor for one new message, once everything is warm."""
    source = path.with_suffix(".jsonl")
    source.write_text("\n".join(map(json.dumps, _rows(skills))))
    with Bank.open(path, create=True) as bank:
        bank.add(read_source(source, format="pairs.jsonl"))
    with GateService.open(path) as service:
        names = service.skill_names()
        taken = [timed(partial(_ask, service, names, number)).cpu for number in range(ASKED_ABOUT + ROUNDS)]
    return 1_000 * median(taken[ASKED_ABOUT:])


def _ask(service: GateService, names: list[str], number: int) -> None:
    text = f"{_text(number % min(len(names), ASKED_ABOUT), 90_000 + number)} And what follows?"
    questions = [Question(text, name, record=False) for name in names]
    if len(questions) == 1:
        service.decide(questions[0])
    else:
        service.choose(questions)


def _rows(skills: int) -> list[dict[str, object]]:
    draw = random.Random(0)
    return [
        {
            "task_id": str(i),
            "text": _text(i % skills, i),
            "skill": f"skill-{i % skills}",
            "agent": "bench",
            "y0": [draw.randint(0, 1)],
            "y1": [draw.randint(0, 1)],
        }
        for i in range(ROWS)
    ]


def _text(skill: int, number: int) -> str:
    """A task with a few words that its skill alone has."""
    draw = random.Random(skill)
    own = " ".join(draw.choice(_WORDS) for _ in range(6))
    return f"Count the {own} of row {number} in the book of {number % 97} pages."


_WORDS = [
    a + b
    for a in ["bread", "stone", "river", "cloud", "paper", "wheel", "candle", "garden"]
    for b in ["work", "side", "line", "mark", "house", "way"]
]


def _library(folder: Path) -> list[Figure]:
    home = folder / ".claude"
    for number in range(INSTALLED):
        file = home / "skills" / f"skill-{number}" / "SKILL.md"
        file.parent.mkdir(parents=True)
        words = _text(number, number)
        file.write_text(f"---\nname: skill-{number}\ndescription: {words * 4}\n---\n\n" + "Do it well.\n" * 200)
    call = {"type": "tool_use", "id": "t", "name": "Skill", "input": {"skill": "skill-7"}}
    line = json.dumps({"type": "assistant", "message": {"content": [call]}}, separators=(",", ":"))
    chat = json.dumps({"type": "user", "message": {"content": "words " * 80}})
    for number in range(SESSIONS):
        file = home / "projects" / f"p{number % 20}" / f"{number}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join([chat] * 200 + [line]))
    files = list(home.glob("projects/*/*.jsonl"))
    read = timed(lambda: [len(path.read_bytes().splitlines()) for path in files]).cpu
    harness = harness_named("claude-code")
    took = timed(lambda: read_library(harness, {}, folder=home, home=folder, project=folder, environment={})).cpu
    meaning = f"{INSTALLED} skills and {SESSIONS:,} session files of {os.path.getsize(files[0]) // 1024} KiB; at most 3 s are allowed."
    return [Figure("library", took, "s", "lower", meaning, Peer("reading the session files", read))]
