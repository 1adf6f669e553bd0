"""Whatever is thrown at `predict`, it answers or refuses in one line."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.conftest import pair_rows
from skilldelta.cli.main import run

NUMBERS = st.one_of(st.integers(-3, 50), st.floats(), st.text(max_size=5)).map(str)


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("garbage")
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pair_rows()))
    place = str(folder / "toy.bank")
    assert run(["import", str(folder / "pairs.jsonl"), "--bank", place]) == 0
    return place


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(max_size=60),
    skill=st.sampled_from(["units-skill", "dates-skill", "", "☃"]) | st.text(max_size=8),
    options=st.dictionaries(
        st.sampled_from(["--k", "--threshold", "--level", "--family", "--task-id", "--scope", "--rule", "--interval"]),
        NUMBERS | st.sampled_from(["units", "family", "three_way", "betting"]),
        max_size=3,
    ),
)
def test_random_questions_are_answered_or_refused_in_one_line(
    bank: str, text: str, skill: str, options: dict[str, str]
) -> None:
    words = [
        "predict",
        "--bank",
        bank,
        "--json",
        f"--skill={skill}",
        *(f"{name}={value}" for name, value in options.items()),
    ]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*words, "--", text])
    if code == 0:
        document = json.loads(out.getvalue())
        assert document["action"] in {"use", "skip", "abstain"}
        assert -1 <= document["gain"] <= 1
    else:
        assert code == 2
        assert out.getvalue() == ""
        assert len(err.getvalue().strip().splitlines()) == 1
        assert err.getvalue().startswith("error: ")
        assert Path(bank).exists()
