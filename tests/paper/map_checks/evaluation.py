"""Rows 15 to 25, 27 and 28: leave-one-task-out evaluation, policies, intervals, sweeps and figures."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from paper.map_checks import shows
from paper.map_checks.predictor import leave_one_out
from paper.map_folder import MapFolder

POLICIES = "always_off always_on paper random_matched self_judge relevance with_skill_only tfidf_knn family_mean"
COLLECTED = "evaluate --bank collected.bank --resamples 50 --shuffles 0"


@shows("15.1")
def every_task_is_scored(found: Any, folder: MapFolder) -> None:
    (panel,) = found["panels"]
    assert (panel["tasks"], panel["policies"]["paper"]["tasks"]) == (48, 48)


@shows("15.2")
def own_outcomes_do_not_count(found: Any, folder: MapFolder) -> None:
    own = "bank list --bank {}.bank"
    before, after = (folder.document(own.format(name))["pairs"][0]["gain"] for name in ("study", "reversed"))
    assert before == -after != 0
    assert found == folder.document("predict --task-id task-00 --skill skill-00")


@shows("16")
def ranking_choice_and_error(found: Any, folder: MapFolder) -> None:
    from sklearn.metrics import balanced_accuracy_score, roc_auc_score

    scores, gains = leave_one_out(folder)
    own = found["panels"][0]["policies"]["paper"]
    assert own["auroc"] == pytest.approx(roc_auc_score(gains > 0, scores))
    assert own["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(gains > 0, scores > 0))
    assert own["gain_mae"] == pytest.approx(np.abs(scores - gains).mean())


@shows("17")
def nine_policies(found: Any, folder: MapFolder) -> None:
    policies = found["panels"][0]["policies"]
    assert set(POLICIES.split()) <= set(policies)
    assert policies["random_matched"]["use_rate"] == policies["paper"]["use_rate"]
    assert policies["random_matched"]["advantage_vs_random"] == pytest.approx(0, abs=1e-12)


@shows("18")
def tokens_of_policies(found: Any, folder: MapFolder) -> None:
    policies = found["panels"][0]["policies"]
    on = policies["always_on"]["tokens"]
    for policy in policies.values():
        assert policy["token_saving"] == pytest.approx(1 - policy["tokens"] / on)
    # Every execution and every judgement of the endpoint takes 12 tokens.
    assert (policies["self_judge"]["router_tokens"], policies["self_judge"]["tokens"]) == (12, 24)
    assert policies["paper"]["router_tokens"] is None


@shows("19")
def relevance_is_cut_at_its_median(found: Any, folder: MapFolder) -> None:
    relevance = found["panels"][0]["policies"]["relevance"]
    assert 0 < relevance["threshold"] < 1
    assert 0 < relevance["use_rate"] <= 0.5
    mistake = folder.path / "one-mistake.jsonl"
    mistake.write_text('{"task_id": "part-1", "condition": "use", "success": 0}\n', encoding="utf-8")
    other = folder.panel(f"{COLLECTED} --corrections one-mistake.jsonl")["policies"]["relevance"]
    assert (other["threshold"], other["use_rate"]) == (relevance["threshold"], relevance["use_rate"])
    assert other["success"] != relevance["success"] or other["auroc"] != relevance["auroc"]


@shows("20")
def answers_are_final(found: Any, folder: MapFolder) -> None:
    assert (found["planned"], found["before"], found["finished"]) == (6, 6, 0)
    asked = folder.ran(
        "collect my-suite --base-url http://127.0.0.1:8000/v1 --model my-model --bank collected.bank --self-judge"
    ).requests
    assert len(asked) == 6
    prompts = {re.sub(r"<(task|skill)>.*?</\1>", "", str(one["messages"]), flags=re.DOTALL) for one in asked}
    assert len(prompts) == 1
    judge = folder.panel(COLLECTED)["policies"]["self_judge"]
    assert judge["use_rate"] == pytest.approx(
        3 / 5
    )  # three part numbers; of the sums, one has two labels and one NO_SKILL


@shows("21")
def intervals(found: Any, folder: MapFolder) -> None:
    policies = found["panels"][0]["policies"]
    ranges = policies["self_judge"]["conditional_intervals"]
    wanted = "auroc success_gain advantage_vs_random advantage_vs_random_by_family within_group between_group"
    assert set(wanted.split()) <= set(ranges)
    assert "balanced_accuracy_vs_paper" in ranges
    for metric in ("success", "tokens", "token_saving"):
        assert ranges[metric]["low"] <= policies["self_judge"][metric] <= ranges[metric]["high"]
    assert "10000" in folder.ran("evaluate --help").out


@shows("22")
def both_parts_add_up(found: Any, folder: MapFolder) -> None:
    for policy in found["panels"][0]["policies"].values():
        assert policy["within_group"] + policy["between_group"] == pytest.approx(
            policy["advantage_vs_random"], abs=1e-12
        )
    # A group whose tasks all have the same action contributes nothing within.
    assert found["panels"][0]["policies"]["always_on"]["within_group"] == 0


@shows("23")
def every_threshold(found: Any, folder: MapFolder) -> None:
    (sweep,) = found["sweeps"]
    points = sweep["points"]
    rates = [point["use_rate"] for point in points]
    assert (rates[0], rates[-1]) == (1, 0)
    assert rates == sorted(set(rates), reverse=True)
    assert len(rates) == len(set(np.round(leave_one_out(folder)[0], 9))) + 1
    assert points[sweep["best"]]["success"] == max(point["success"] for point in points)
    own = folder.panel("evaluate --paper --shuffles 0")["policies"]["paper"]
    assert points[sweep["default"]]["success"] == pytest.approx(own["success"])
    assert points[sweep["default"]]["use_rate"] == own["use_rate"]


@shows("24")
def ridge_on_its_split(found: Any, folder: MapFolder) -> None:
    policies = found["panels"][0]["policies"]
    for name in ("ridge", "dual_ridge"):
        ridge = policies[name]
        assert 0 < ridge["tasks"] < 48
        assert ridge["success_vs_always_on"] == pytest.approx(ridge["success"] - ridge["always_on"])
        assert any("validation" in note for note in ridge["notes"])


@shows("25")
def evidence(found: Any, folder: MapFolder) -> None:
    (sweep,) = found["sweeps"]
    amounts = {curve["axis"]: curve["amounts"] for curve in sweep["curves"]}
    assert {axis: (given[0], given[-1]) for axis, given in amounts.items()} == {
        "support": (1, 11),
        "neighbors": (1, 11),
        "repetitions": (1, 3),
    }
    assert {curve["targets"] for curve in sweep["curves"]} == {48}
    assert sweep["missing"] == {}


@shows("27.2")
def coverage(found: Any, folder: MapFolder) -> None:
    (panel,) = found["panels"]
    groups = {name: panel["coverage"][name] for name in ("groups", "largest", "singletons", "bundles", "edges")}
    assert groups == {"groups": 1, "largest": 8, "singletons": 0, "bundles": 2, "edges": 17}


@shows("27")
def counts(found: Any, folder: MapFolder) -> None:
    (panel,) = found["panels"]
    assert panel["counts"]["pairs"] == sum(panel["counts"][name] for name in ("help", "harm", "tie")) == 48
    for name, total in panel["counts"].items():
        assert total == sum(family[name] for family in panel["by_family"])
    gains = [pair["gain"] for pair in folder.document("bank list")["pairs"]]
    assert panel["counts"]["help"] == sum(gain > 0 for gain in gains)
    structure = panel["structure"]
    assert (structure["groups"], structure["median_group"], structure["singletons"]) == (4, 12, 0)


@shows("28")
def figures(found: Any, folder: MapFolder) -> None:
    page = (folder.path / found["report"]).read_text(encoding="utf-8")
    for figure in ("policies", "ranking", "tradeoff", "advantage", "components", "scaling", "help-harm"):
        assert f'id="panel-1-{figure}"' in page
