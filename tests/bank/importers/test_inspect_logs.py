"""Logs that Inspect itself wrote, with a model that answers from a list: no network, no guesses about the format."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from skilldelta.bank.importers import Defaults, Reading, Source, read_any
from skilldelta.errors import InputError, MissingExtraError

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: skilldelta[collect]")

LONG = "word " * 3_000
SAID = Defaults(skill="adding")


def run_eval(folder: Path, answers: dict[str, str], **options: Any) -> Path:
    """A log of three samples with two epochs; a sample without an answer ends in an error."""
    from inspect_ai import Task
    from inspect_ai import eval as inspect_eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes, match
    from inspect_ai.solver import generate

    def answer(messages: list[Any], *_: Any) -> Any:
        said = next((value for key, value in answers.items() if key in messages[-1].text), None)
        if said is None:
            raise RuntimeError("the provider is down")
        output = ModelOutput.from_content("mockllm/model", said)
        output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        return output

    samples = [
        Sample(id="sum", input="What is 1 + 1?", target="2", metadata={"family": "sums"}),
        Sample(id="carry", input="What is 9 + 1?", target="10", metadata={"family": "sums"}),
        Sample(id="long", input=f"{LONG} What is 0 + 3?", target="3"),
    ]
    task = Task(dataset=samples, solver=generate(), scorer=[match(), includes()], epochs=2, name="numbers")
    (log,) = inspect_eval(
        task,
        model=get_model("mockllm/model", custom_outputs=answer),
        log_dir=str(folder),
        display="none",
        fail_on_error=False,
        log_realtime=False,
        **options,
    )
    return Path(log.location)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("inspect")
    on = {"1 + 1": "2", "9 + 1": "10", "0 + 3": "3"}
    off = {"1 + 1": "3", "9 + 1": "10"}
    return {
        "on": run_eval(folder / "arms", on, metadata={"arm": "with_skill"}),
        "off": run_eval(folder / "arms", off, metadata={"arm": "without_skill"}),
        "unsaid": run_eval(folder / "unsaid", on),
        "json": run_eval(folder / "json", on, log_format="json", tags=["with-skill"]),
    }


def summary(reading: Reading) -> list[tuple[str, float, float, int, int]]:
    return sorted((p.task_id, p.y0, p.y1, p.r0, p.r1) for p in reading.pairing().pairs)


def test_a_folder_of_two_logs_is_paired_by_sample_and_epoch(logs: dict[str, Path]) -> None:
    reading = read_any(logs["on"].parent, SAID)

    assert reading.format == "inspect"
    assert summary(reading) == [("carry", 1.0, 1.0, 2, 2), ("sum", 0.0, 1.0, 2, 2)]
    assert {run.repetition for run in reading.executions} == {0, 1}
    assert {run.agent.name for run in reading.executions} == {"mockllm/model"}
    assert {task.family for task in reading.tasks if task.task_id != "long"} == {"sums"}


def test_a_sample_with_an_error_has_no_outcome_though_inspect_calls_it_completed(logs: dict[str, Path]) -> None:
    reading = read_any(logs["off"], SAID)
    errors = [run for run in reading.executions if run.task_id == "long"]

    assert [(run.success, run.status) for run in errors] == [(None, "transport_error")] * 2
    assert {one.reason: len(one) for one in reading.left_out} == {"the sample ended in an error": 2}


def test_a_long_input_comes_whole_although_the_summary_cuts_it_off(logs: dict[str, Path]) -> None:
    texts = {task.task_id: task.text for task in read_any(logs["on"], SAID).tasks}

    assert texts["long"] == f"{LONG} What is 0 + 3?"


def test_json_logs_and_streams_are_read_as_files_are(logs: dict[str, Path]) -> None:
    reading = read_any(logs["json"], SAID)
    assert [run.success for run in reading.executions] == [1.0] * 6
    assert {run.condition for run in reading.executions} == {"use"}
    assert {run.tokens for run in reading.executions} == {15.0}

    content = logs["on"].read_bytes()
    streamed = read_any(Source(Path("with.eval"), content), SAID)
    assert streamed.executions == read_any(logs["on"], SAID).executions


def test_an_arm_that_nobody_says_is_asked_for_log_by_log(logs: dict[str, Path]) -> None:
    name = logs["unsaid"].name
    with pytest.raises(InputError, match=r"what the arm '.*' mean"):
        read_any(logs["unsaid"], SAID)
    assert {run.condition for run in read_any(logs["unsaid"], Defaults(skill="s", arms={name: "skip"})).executions} == {
        "skip"
    }
    assert {run.condition for run in read_any(logs["unsaid"], Defaults(skill="s", condition="use")).executions} == {
        "use"
    }


def test_the_arm_is_read_from_the_field_that_is_named(logs: dict[str, Path]) -> None:
    said = Defaults(skill="s", arm_from="metadata.family", arms={"sums": "use", "": "leave-out"})
    reading = read_any(logs["unsaid"], said)

    assert reading.arms == {"sums": "use", "": "leave-out"}


def test_the_scorer_is_chosen_and_an_unknown_one_refused(logs: dict[str, Path]) -> None:
    assert any("took the score 'match'" in note for note in read_any(logs["on"], SAID).notes)
    assert len(read_any(logs["on"], Defaults(skill="s", score="includes")).executions) == 6
    with pytest.raises(InputError, match="there is no score 'f1'; the scores are 'match', 'includes'"):
        read_any(logs["on"], Defaults(skill="s", score="f1"))


def test_a_log_that_was_cut_off_is_one_line(logs: dict[str, Path], tmp_path: Path) -> None:
    cut = tmp_path / "cut.eval"
    cut.write_bytes(logs["on"].read_bytes()[:2_000])
    with pytest.raises(InputError, match="cannot be read as an Inspect log") as caught:
        read_any(cut, SAID)
    assert "\n" not in str(caught.value)


def test_a_log_of_a_later_version_is_refused(logs: dict[str, Path], tmp_path: Path) -> None:
    document = json.loads(logs["json"].read_bytes())
    path = tmp_path / "later.json"
    path.write_text(json.dumps({**document, "version": 9}), encoding="utf-8")
    with pytest.raises(InputError, match=r"later\.json: "):
        read_any(path, SAID)


def test_logs_of_two_models_are_not_paired(logs: dict[str, Path], tmp_path: Path) -> None:
    document = json.loads(logs["json"].read_bytes())
    for arm, model in (("with-skill", "a/m"), ("without-skill", "b/m")):
        document["eval"].update(model=model, tags=[arm])
        (tmp_path / f"2026_{arm}.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match="the arm with the skill was run by 'a/m' and the arm without by 'b/m'"):
        read_any(tmp_path, SAID)


def test_an_archive_of_logs_is_read_without_unpacking_it_here(logs: dict[str, Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        archive.write(logs["on"], "logs/on.eval")
        archive.write(logs["off"], "logs/off.eval")
    assert summary(read_any(tmp_path / "logs.zip", SAID)) == summary(read_any(logs["on"].parent, SAID))
    assert [path.name for path in tmp_path.iterdir()] == ["logs.zip"]


def unfinished(log: Path, folder: Path) -> Path:
    """The log as it stands while the run is still going: without the header and the summaries that end it."""
    path = folder / "running.eval"
    with zipfile.ZipFile(log) as whole, zipfile.ZipFile(path, "w") as part:
        for name in whole.namelist():
            if name not in ("header.json", "summaries.json", "reductions.json"):
                part.writestr(name, whole.read(name))
    return path


def test_the_samples_of_a_log_that_was_never_finished_are_taken(logs: dict[str, Path], tmp_path: Path) -> None:
    path = unfinished(logs["on"], tmp_path)
    reading = read_any(path, SAID)

    assert [run.success for run in reading.executions] == [1.0] * 6
    assert any("the run ended with status 'started'" in note for note in reading.notes)


def test_without_inspect_the_line_says_what_to_install(
    logs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    path = unfinished(logs["on"], tmp_path)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(MissingExtraError, match="pip install 'inspect-ai"):
        read_any(path, SAID)


def test_a_log_that_changes_while_it_is_read_is_noticed(
    logs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skilldelta.bank.importers.tools import inspect_samples

    copy = Path(shutil.copy(logs["on"], tmp_path / "growing.eval"))
    plain = inspect_samples._sample

    def touch(*sample: Any) -> Any:
        os.utime(copy, (1, 1))
        return plain(*sample)

    monkeypatch.setattr(inspect_samples, "_sample", touch)
    with pytest.raises(InputError, match=r"growing\.eval: the file changed while it was read"):
        read_any(copy, SAID)


def test_a_log_that_unpacks_to_more_than_a_memory_takes_is_refused_unread(
    logs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skilldelta.bank.importers.tools import inspect_samples

    bomb = Path(shutil.copy(logs["on"], tmp_path / "bomb.eval"))
    with zipfile.ZipFile(bomb, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/summaries/9.json", b" " * (3 << 20))
    monkeypatch.setattr(inspect_samples, "MOST_DOCUMENT", 2 << 20)
    with pytest.raises(InputError, match="the log unpacks to more than 2 MiB"):
        read_any(bomb, SAID)
