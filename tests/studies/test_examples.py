"""The example in the docstring of every public function runs, and gives what it says; parameters and results are described."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import skilldelta
from skilldelta import studies
from skilldelta.bank import Bank, Batch
from skilldelta.records import Task
from skilldelta.studies import EvaluationSettings, TargetTask, evaluate, freeze_targets, load_panel

from .conftest import executions, trips

PUBLIC = {name: getattr(home, name) for home in (skilldelta, studies) for name in home.__all__}
FUNCTIONS = sorted(name for name, value in PUBLIC.items() if inspect.isfunction(value))
WITH_EXAMPLES = [*FUNCTIONS, "Advisor", "Gate", "Question", "SkillGainRegressor"]
NEW = Task("new-1", "convert four miles to feet", "units", "trips")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What the examples take for granted: a bank, its panel, its evaluation, a seal, and the panel after outcomes came in."""
    folder = tmp_path_factory.mktemp("examples")
    with Bank.open(folder / "trips.bank", create=True) as bank, Bank.open(folder / "later.bank", create=True) as later:
        bank.add(trips())
        later.add(trips())
        later.add(Batch(tasks=[NEW], executions=executions(NEW, (0, 1))))
        panel = load_panel(bank)
        target = TargetTask(NEW.task_id, NEW.text, "units-skill", NEW.family)
        yield {
            **PUBLIC,
            "folder": folder,
            "bank": bank,
            "panel": panel,
            "sealed": freeze_targets(panel, [target], created="2026-01-31"),
            "panel_with_outcomes": load_panel(later),
            "evaluated": evaluate([panel], EvaluationSettings(resamples=0, shuffles=0)),
        }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_and_result_is_described(name: str) -> None:
    signature, words = inspect.signature(PUBLIC[name]), inspect.getdoc(PUBLIC[name]) or ""
    parameters = words.partition("Parameters:")[2].partition("Returns:")[0]
    assert [each for each in signature.parameters if f"\n    {each}: " not in parameters] == []
    assert "Returns:" in words or signature.return_annotation in (None, "None")


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_every_public_function_has_an_example_that_holds(name: str, names: dict[str, Any]) -> None:
    if name == "report_on":
        pytest.importorskip("vl_convert", reason="the report's figures need the extra plot")
    (example,) = doctest.DocTestFinder(recurse=False).find(names[name], name, globs=dict(names))
    found = doctest.DocTestRunner().run(example)
    assert found.attempted, f"{name} has no example"
    assert not found.failed, f"the example of {name} gives something else; see above"


def test_every_public_name_comes_from_its_module_and_is_no_module() -> None:
    assert {name for names in studies._HOMES.values() for name in names} == set(studies.__all__)
    for module, members in studies._HOMES.items():
        for name in members:
            assert getattr(studies, name) is getattr(import_module(f"skilldelta.studies.{module}"), name)
