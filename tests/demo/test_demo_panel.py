"""What a newcomer sees first: the blend on the bundled bank, beside the paper's rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skilldelta import load_encoder, open_bank
from skilldelta.demo.bundled import bundled_batch
from skilldelta.estimators.base import Estimator
from skilldelta.estimators.blend import Blend
from skilldelta.estimators.paper_rule import PaperRule
from skilldelta.evaluation.metrics import auroc
from skilldelta.support import Support


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Support:
    path: Path = tmp_path_factory.mktemp("demo") / "demo.bank"
    with open_bank(path, create=True) as bank:
        bank.add(bundled_batch())
        return bank.support(load_encoder(), agent=bank.resolve_agent(None))


def test_the_blend_is_not_behind_the_papers_rule_on_the_demo_panel(demo: Support) -> None:
    def figures(estimator: Estimator) -> tuple[float, float, float]:
        scores = estimator.leave_one_out(demo).values
        ranking = auroc(scores, demo.gains > 0)
        assert ranking is not None
        success = float(np.where(scores > 0, demo.y1, demo.y0).mean())
        return success, ranking, float(((scores - demo.gains) ** 2).mean())

    blend, paper = figures(Blend()), figures(PaperRule())
    assert blend[0] >= paper[0]
    assert blend[1] >= paper[1] + 0.005
    assert blend[2] <= paper[2]
