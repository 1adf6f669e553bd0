"""The demo suite's files agree with the script that writes them and with the limits the suite promises."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "src" / "skilldelta" / "demo" / "suite"
TASKS = [json.loads(line) for line in (SUITE / "tasks.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_builder_writes_exactly_the_committed_tasks(tmp_path: Path) -> None:
    output = tmp_path / "tasks.jsonl"
    subprocess.run([sys.executable, ROOT / "local_model" / "build_suite.py", "--output", output], check=True)
    assert output.read_bytes() == (SUITE / "tasks.jsonl").read_bytes()


def test_there_are_at_least_ten_families_of_26_tasks() -> None:
    sizes = Counter(task["family"] for task in TASKS)
    assert len(sizes) >= 10
    assert min(sizes.values()) >= 26


def test_task_ids_and_texts_are_unique_and_texts_are_short() -> None:
    assert len({task["task_id"] for task in TASKS}) == len(TASKS)
    assert len({task["text"] for task in TASKS}) == len(TASKS)
    assert max(len(task["text"].split()) for task in TASKS) <= 80


def test_every_task_names_a_short_skill_with_front_matter() -> None:
    for name in {task["skill"] for task in TASKS}:
        _, front, body = (SUITE / "skills" / name / "SKILL.md").read_text(encoding="utf-8").split("---", 2)
        assert f"name: {name}\n" in front
        assert 0 < len(body.split()) <= 120


def test_answers_to_hand_checked_tasks_are_right() -> None:
    answers = {task["text"]: task["answer"] for task in TASKS}
    # 4 pallets of 32 crates and 14 crates make 142 crates of 84 cans.
    assert answers["Give the number of cans in 4 pallets and 14 crates of tomatoes."] == 142 * 84
    # 7*2 + 6*5 + 8*3 + 1*2 + 3*5 + 9*3 = 112 = 12 * 9 + 4.
    assert next(task["answer"] for task in TASKS if "768139" in task["text"]) == "768139-4"
    # Postcode 85362 starts with 8: 9 + 5 * 22.
    assert next(task["answer"] for task in TASKS if "85362" in task["text"]) == 119
