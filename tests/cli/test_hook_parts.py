"""A long skill whose parts come from hooks that a harness starts at the same moment, each deciding by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from cli.conftest import pairs_file, skilldelta, toy_bank  # noqa: F401
from skilldelta import open_bank


def test_hooks_that_start_together_agree_and_deliver_the_whole_skill(toy_bank: str, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "SKILL.md").write_text("a rule to follow\n" * 1_500)
    event = {"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "convert seven miles to feet"}

    def answers() -> list[str]:
        words = [sys.executable, "-m", "skilldelta", "hook", "claude-code", "--skill", "units-skill", "--ask", "bank"]
        words += ["--skill-file", "SKILL.md", "--bank", toy_bank, "--state", "state", "--time-limit", "120"]
        variables = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        running = [
            subprocess.Popen(
                [*words, "--part", f"{i}/3"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=tmp_path,
                env=variables,
                text=True,
            )
            for i in (1, 2, 3)
        ]
        for process in running:
            assert process.stdin is not None
            process.stdin.write(json.dumps(event))
            process.stdin.close()
        outputs = [process.stdout.read() for process in running if process.stdout is not None]
        assert [process.wait(timeout=180) for process in running] == [0, 0, 0]
        return outputs

    texts = [json.loads(output)["hookSpecificOutput"]["additionalContext"] for output in answers()]
    assert [text.partition("\n")[0] for text in texts] == [f"[Skill units-skill, part {i} of 3]" for i in (1, 2, 3)]
    assert sum(text.count("a rule to follow") for text in texts) == 1_500
    assert answers() == ["", "", ""]
    with open_bank(tmp_path / toy_bank) as bank:
        (decision,) = bank.decisions()
    assert (decision.action, decision.source) == ("use", "claude-code")
