"""What changed since a panel was sealed: the file, the settings, the support, the targets, the predictions.

Each change is one sentence that names what it is about, so that a refused audit can be fixed or explained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from skilldelta.errors import SkillDeltaError
from skilldelta.estimators.base import Target
from skilldelta.evaluation.prospective.frozen_rule import FrozenRule, frozen_estimator, sealed_gate, why_not_repeated
from skilldelta.evaluation.prospective.seal import SealedPanel, SealedRow, pair_keys, sealed_rows, vector_digest
from skilldelta.gate import decide
from skilldelta.nouns import plural
from skilldelta.support import Support

_NAMED = 5  # tasks that a message names before it counts the rest
_TOLERANCE = 1e-6  # of a prediction computed again on another machine, from float32 vectors
_LEARNED_TOLERANCE = 1e-3  # the same for an estimator that is fitted, in float32 products as well

# Task, skill, and which of several pairs of both (versions of a skill) it is.
Key = tuple[str, str, int]


class SealBrokenError(SkillDeltaError):
    """An audit that must not be made: what was sealed is no longer what there is."""

    def __init__(self, changes: Sequence[str]) -> None:
        self.changes = tuple(changes)
        super().__init__("the audit is refused: " + "; ".join(changes))


def changes_since(
    sealed: SealedPanel,
    support: Support,
    outcomes: Support,
    *,
    rule: FrozenRule | None = None,
    published_seal: str | None = None,
) -> list[str]:
    """Every change in words; none means that the sealed predictions may be evaluated."""
    changes = [
        *_file_changes(sealed, published_seal),
        *_setting_changes(sealed, support, rule),
        *_support_changes(sealed, support),
        *_target_changes(sealed, outcomes),
    ]
    if not changes and not why_not_repeated(sealed.settings):
        return _prediction_changes(sealed, support, outcomes)
    return changes


def _file_changes(sealed: SealedPanel, published_seal: str | None) -> list[str]:
    altered = sealed.altered_sections()
    changes = [f"the sealed file was altered ({', '.join(altered)})"] if altered else []
    if published_seal is not None and published_seal != sealed.seal:
        changes.append(f"the file's seal is {sealed.seal[:12]}, not the published {published_seal[:12]}")
    return changes


def _setting_changes(sealed: SealedPanel, support: Support, rule: FrozenRule | None) -> list[str]:
    then = asdict(sealed.settings)
    now = {"agent": support.agent, "suite": support.suite, "encoder": support.encoder}
    if rule is not None:
        fixed = ("scope", "k", "weighting", "label", "elsewhere")
        now |= {name: getattr(rule, name) for name in fixed}
        name = "threshold_rule" if isinstance(rule.threshold, str) else "threshold"
        now[name] = rule.threshold  # type: ignore[assignment]
    return [f"{name} was {then[name]!r} and is {value!r}" for name, value in now.items() if then[name] != value]


def _support_changes(sealed: SealedPanel, support: Support) -> list[str]:
    then, now = _keyed(sealed.support), _keyed(sealed_rows(support))
    # Vectors of another encoder differ everywhere; that one change is told by the settings.
    same_encoder = sealed.settings.encoder == support.encoder
    both = [key for key in then if key in now]
    altered = {key for key in both if (then[key].evidence, then[key].family) != (now[key].evidence, now[key].family)}
    moved = [key for key in both if same_encoder and then[key].vector != now[key].vector and key not in altered]
    current = {
        "added": [key for key in now if key not in then],
        "removed": [key for key in then if key not in now],
        "altered": [key for key in both if key in altered],
    }
    changes = [
        f"evidence of {names_of('task', [k[0] for k in keys])} was {how}" for how, keys in current.items() if keys
    ]
    if moved:
        changes.append(f"the encoding of {names_of('task', [key[0] for key in moved])} was altered")
    if not changes and both != list(now):
        changes.append("the support is in a different order, which breaks ties differently")
    return changes


def _keyed(rows: Sequence[SealedRow]) -> dict[Key, SealedRow]:
    counts: Counter[tuple[str, str]] = Counter()
    keyed = {}
    for row in rows:
        pair = (row.task_id, row.skill)
        keyed[(*pair, counts[pair])] = row
        counts[pair] += 1
    return keyed


def _target_changes(sealed: SealedPanel, outcomes: Support) -> list[str]:
    sealed_targets = {(target.task_id, target.skill): target for target in sealed.targets}
    keys = pair_keys(outcomes)
    foreign, reworded, moved = [], [], []
    for i, key in enumerate(keys):
        target = sealed_targets.get(key)
        if target is None:
            foreign.append(key[0])
        elif outcomes.texts and target.text and outcomes.texts[i] != target.text:
            reworded.append(key[0])
        elif outcomes.families[i] != target.family:
            moved.append(key[0])
    repeated = [key[0] for key, count in Counter(keys).items() if count > 1]
    current = {
        "among the outcomes but never sealed": foreign,
        "worded differently than when sealed": reworded,
        "in a different family than when sealed": moved,
        "in the outcomes more than once": repeated,
    }
    return [f"{words}: {names_of('target', tasks)}" for words, tasks in current.items() if tasks]


def _prediction_changes(sealed: SealedPanel, support: Support, outcomes: Support) -> list[str]:
    """Predictions that the sealed evidence does not give: a file whose hashes were made anew would still show here."""
    sealed_predictions = {(item.task_id, item.skill): item for item in sealed.predictions}
    sealed_targets = {(target.task_id, target.skill): target for target in sealed.targets}
    settings, wrong = sealed.settings, []
    estimator = frozen_estimator(settings.present_estimator)
    tolerance = _TOLERANCE if estimator is None else _LEARNED_TOLERANCE
    # What a file says is checked where it is used: `FrozenRule` refuses a scope or a weighting that does not exist.
    rule = FrozenRule(
        settings.k,
        settings.scope,  # type: ignore[arg-type]
        settings.weighting,  # type: ignore[arg-type]
        settings.label,  # type: ignore[arg-type]
        settings.elsewhere,
        settings.threshold_rule or settings.threshold,  # type: ignore[arg-type]
        sealed_gate(settings),
    )
    threshold = rule.resolve_threshold(support, estimator)
    if abs(threshold - settings.threshold) > tolerance:
        return [f"the threshold was sealed as {settings.threshold:g}, its rule gives {threshold:g}"]
    keys = pair_keys(outcomes)
    # A target that was encoded anew says nothing about its prediction.
    same = [i for i, key in enumerate(keys) if vector_digest(outcomes.vectors[i]) == sealed_targets[key].vector]
    targets = [
        Target(outcomes.vectors[i], sealed_targets[keys[i]].text, str(outcomes.families[i]), keys[i][1], keys[i][0])
        for i in same
    ]
    for target, repeated in zip(targets, rule.gains(support, targets, estimator, settings.threshold), strict=True):
        then = sealed_predictions[target.task_id, target.skill]
        if rule.gate is None:
            actions = {decide(then.gain, threshold=settings.threshold, eligible=repeated.near.eligible).action}
        else:
            # What lies at the threshold's very edge may be computed to the other side on another machine.
            actions = {repeated.action}
            if then.action != repeated.action:
                edges = (settings.threshold - tolerance, settings.threshold + tolerance)
                actions |= {rule.gains(support, [target], estimator, edge)[0].action for edge in edges}
        if abs(repeated.gain - then.gain) > tolerance or then.action not in actions:
            wrong.append(target.task_id)
    return [f"sealed with a different prediction than the evidence gives: {names_of('target', wrong)}"] if wrong else []


def names_of(noun: str, tasks: Sequence[str]) -> str:
    """`task 'a'`, or `7 tasks (a, b, c, d, e and 2 more)`."""
    if len(tasks) == 1:
        return f"{noun} {tasks[0]!r}"
    more = f" and {len(tasks) - _NAMED} more" if len(tasks) > _NAMED else ""
    return f"{plural(len(tasks), noun)} ({', '.join(tasks[:_NAMED])}{more})"
