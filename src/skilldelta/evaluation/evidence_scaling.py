"""Evidence scaling: how the gain error falls with more support, more neighbors, more repetitions.

Targets and their observed gains stay fixed; only the evidence that predicts them changes. Every target is kept at every
point, so a sweep ends where the smallest family would lose one. Families too small to take part are named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.errors import InputError
from skilldelta.neighbors import Neighbors
from skilldelta.nouns import plural
from skilldelta.predictor import Settings, Weighting, average, predict_each
from skilldelta.resemblance import nearest_to_each
from skilldelta.support import Scope, Support

Axis = Literal["support", "neighbors", "repetitions"]
Runs = Sequence[Sequence[float]]

# The paper's neighborhood while support or repetitions vary.
THREE = Settings(k=3)


@dataclass(frozen=True, eq=False)
class EvidenceCurve:
    """Gain MAE at each amount of evidence."""

    axis: Axis
    amounts: Ints  # (p,)
    mae: Floats  # (p,) mean over orderings or draws
    spread: Floats  # (p,) standard deviation over them; 0 where there is one
    targets: int
    left_out: tuple[str, ...] = ()
    """Families too small to lend any of their tasks the least amount of evidence."""


@dataclass(frozen=True, eq=False)
class EvidenceCurves:
    """The curves that a panel can give, and why it cannot give the others."""

    curves: tuple[EvidenceCurve, ...]
    missing: Mapping[Axis, str]


def evidence_curves(support: Support, rng: np.random.Generator, *, at_least: int = 1) -> EvidenceCurves:
    """All three sweeps, without those that the panel does not allow; a panel that allows none is refused."""
    sweeps: dict[Axis, Callable[[], EvidenceCurve]] = {
        "support": lambda: support_sweep(support, rng, at_least=at_least),
        "neighbors": lambda: neighbor_sweep(support, at_least=at_least),
        "repetitions": lambda: repetition_sweep(support, rng),
    }
    curves: list[EvidenceCurve] = []
    missing: dict[Axis, str] = {}
    for axis, sweep in sweeps.items():
        try:
            curves.append(sweep())
        except InputError as error:
            missing[axis] = str(error)
    if not curves:
        raise InputError(missing["support"])
    return EvidenceCurves(tuple(curves), missing)


def support_sweep(
    support: Support,
    rng: np.random.Generator,
    *,
    sizes: Sequence[int] | None = None,
    orderings: int = 5,
    settings: Settings = THREE,
    scope: Scope = "family",
    at_least: int = 1,
) -> EvidenceCurve:
    """Nested pools: for each ordering of a family, a target's pool of size n is the first n of the others.

    With fewer than k in the pool, all of them are neighbors. `at_least` leaves out families that cannot offer a pool of
    that size, so that the others can be followed further.
    """
    blocks, left_out, limit = _taking_part(support, scope, at_least)
    amounts = _amounts(sizes, limit, "support size")
    if orderings < 1:
        raise InputError(f"orderings must be at least 1, got {orderings}")
    errors = np.zeros((orderings, len(amounts)))
    for block in blocks:
        ranked = _rank(support, block)
        permutations = [rng.permutation(len(block)) for _ in range(orderings)]
        pools = np.vstack([ranked.pools(permutation, int(amounts[-1])) for permutation in permutations])
        errors += _errors_of_pools(ranked, pools, amounts, settings)
    return _curve("support", amounts, errors, sum(map(len, blocks)), left_out)


def neighbor_sweep(
    support: Support,
    *,
    ks: Sequence[int] | None = None,
    weighting: Weighting = "cosine",
    scope: Scope = "family",
    at_least: int = 1,
) -> EvidenceCurve:
    """All support, k from one to all of it: cumulative sums over neighbors sorted once."""
    blocks, left_out, limit = _taking_part(support, scope, at_least)
    amounts = _amounts(ks, limit, "k")
    errors = np.zeros((1, len(amounts)))
    for block in blocks:
        ranked = _rank(support, block)
        errors[0] += np.abs(_running_averages(ranked, weighting)[:, amounts - 1] - ranked.gains[:, None]).sum(axis=0)
    return _curve("neighbors", amounts, errors, sum(map(len, blocks)), left_out)


def repetition_sweep(
    support: Support,
    rng: np.random.Generator,
    *,
    successes0: Runs | None = None,
    successes1: Runs | None = None,
    repetitions: Sequence[int] | None = None,
    draws: int = 50,
    settings: Settings = THREE,
    scope: Scope = "family",
) -> EvidenceCurve:
    """Keep r executions of each arm of each support task, drawn without replacement; neighborhoods stay fixed.

    `successes0` and `successes1` are the executions behind the support's means. Without them they are taken to be
    binary, as the paper does: the multiset follows from mean and count, and no chronology is assumed.
    """
    blocks, left_out, _ = _taking_part(support, scope, 1)
    targets = np.sort(np.concatenate(blocks))
    arms = [_executions(support, 0, successes0), _executions(support, 1, successes1)]
    fewest = min(int((~np.isnan(arm)).sum(axis=1).min()) for arm in arms)
    amounts = _amounts(repetitions, fewest, "repetitions")
    predictions = predict_each(support, scope, settings=settings)
    means, spread = np.zeros(len(amounts)), np.zeros(len(amounts))
    for i, r in enumerate(amounts):
        count = draws if any(arm.shape[1] > r for arm in arms) else 1
        mae = np.empty(count)
        for draw in range(count):
            gains = _draw(rng, arms[1], int(r)) - _draw(rng, arms[0], int(r))
            predicted = (predictions.weights * gains[predictions.rows]).sum(axis=1)
            mae[draw] = np.abs(predicted - support.gains)[targets].mean()
        means[i], spread[i] = mae.mean(), mae.std()
    return EvidenceCurve("repetitions", amounts, means, spread, len(targets), left_out)


def binary_executions(means: Floats, counts: Ints) -> Runs:
    """The zeros and ones behind means of binary outcomes; a mean that no such run can have is refused."""
    successes = means * counts
    whole = np.rint(successes).astype(int)
    if (np.abs(successes - whole) > 1e-6).any():
        row = int(np.argmax(np.abs(successes - whole) > 1e-6))
        raise InputError(
            f"a mean success of {means[row]:g} over {plural(counts[row], 'repetition')} is not one of binary outcomes; "
            "import the single executions, or say with --repetitions how many runs a mean has"
        )
    return [[1.0] * s + [0.0] * (c - s) for s, c in zip(whole.tolist(), counts.tolist(), strict=True)]


@dataclass(frozen=True, eq=False)
class _Ranked:
    """One block with every target's neighbors sorted once; the last column is always padding."""

    found: Neighbors  # (m, m) nearest first, rows of the block
    gains: Floats  # (m,)
    rank: Ints  # (m, m) place of a row among a target's neighbors; m - 1 for its own task

    def pools(self, permutation: Ints, size: int) -> Ints:
        """(m, size) places of the first candidates in the order of a permutation, the target's own rows left out."""
        places = self.rank[:, permutation]
        own = places == len(self.gains) - 1
        return np.take_along_axis(places, np.argsort(own, axis=1, kind="stable")[:, :size], axis=1)


def _taking_part(support: Support, scope: Scope, at_least: int) -> tuple[list[Ints], tuple[str, ...], int]:
    """Blocks whose every target has enough eligible rows, names of the others, and the least eligible of all."""
    if at_least < 1:
        raise InputError(f"at_least must be at least 1, got {at_least}")
    blocks, left_out, limit = [], [], len(support)
    for block in support.blocks(scope):
        most_own = int(np.unique(support.task_codes[block], return_counts=True)[1].max())
        if len(block) - most_own < at_least:
            left_out.append(str((support.skills if scope == "skill" else support.families)[block[0]]))
            continue
        blocks.append(block)
        limit = min(limit, len(block) - most_own)
    if not blocks:
        raise InputError(f"no {scope} has {at_least + 1} tasks or more; collect more tasks, or choose a wider scope")
    return blocks, tuple(left_out), limit


def _amounts(requested: Sequence[int] | None, limit: int, name: str) -> Ints:
    if requested is None:
        return np.arange(1, limit + 1)
    amounts = np.unique(np.asarray(requested, np.int64))
    if not len(amounts) or amounts[0] < 1 or amounts[-1] > limit:
        raise InputError(
            f"{name} must lie between 1 and {limit}, where every target is retained, got {list(requested)}"
        )
    return amounts


def _rank(support: Support, block: Ints) -> _Ranked:
    vectors, codes, m = support.vectors[block], support.task_codes[block], len(block)
    neighbors = nearest_to_each(vectors, vectors, m, codes=codes, query_codes=codes)
    rank = np.full((m, m + 1), m - 1, np.int64)  # the extra column takes what padding points at
    np.put_along_axis(rank, np.where(neighbors.rows >= 0, neighbors.rows, m), np.arange(m)[None, :], axis=1)
    return _Ranked(neighbors, support.gains[block], rank[:, :m])


def _errors_of_pools(ranked: _Ranked, pools: Ints, amounts: Ints, settings: Settings) -> Floats:
    """(orderings, p) summed absolute errors for pools (orderings * m, largest): they grow, the k nearest are kept."""
    m = len(ranked.gains)
    target = np.arange(len(pools)) % m
    best = np.full((settings.k, len(pools)), m - 1, np.int64)
    errors, grown = np.empty((len(pools) // m, len(amounts))), 0
    for i, size in enumerate(amounts):
        for candidate in pools[:, grown:size].T:
            _insert(best, candidate)
        grown = int(size)
        nearest = Neighbors(ranked.found.rows[target, best].T, ranked.found.similarities[target, best].T)
        predicted, _ = average(nearest, ranked.gains, settings)
        errors[:, i] = np.abs(predicted - ranked.gains[target]).reshape(-1, m).sum(axis=1)
    return errors


def _insert(best: Ints, candidate: Ints) -> None:
    """Put each target's candidate in its place among the k nearest so far, and let the farthest go."""
    for column in best:
        nearer = np.minimum(column, candidate)
        candidate = np.maximum(column, candidate)
        column[:] = nearer


def _running_averages(ranked: _Ranked, weighting: Weighting) -> Floats:
    """(m, m) the predicted gain from the first 1, 2, ... neighbors."""
    present = (ranked.found.rows >= 0).astype(np.float64)
    gains = ranked.gains[ranked.found.rows] * present
    plain = np.cumsum(gains, axis=1) / np.maximum(np.cumsum(present, axis=1), 1)
    if weighting == "uniform":
        return plain
    shares = np.maximum(ranked.found.similarities, 0.0)
    total = np.cumsum(shares, axis=1)
    return np.where(total > 0, np.cumsum(shares * gains, axis=1) / np.where(total > 0, total, 1.0), plain)


def _executions(support: Support, arm: Literal[0, 1], runs: Runs | None) -> Floats:
    """(n, most) single successes padded with NaN, checked against the support's means."""
    means, counts = (support.y0, support.r0) if arm == 0 else (support.y1, support.r1)
    runs = binary_executions(means, counts) if runs is None else runs
    if len(runs) != len(support):
        raise InputError(
            f"successes{arm} has {plural(len(runs), 'row')} for {plural(len(support), 'task')}; give one row per task"
        )
    padded = np.full((len(runs), max(map(len, runs))), np.nan)
    for row, run in enumerate(runs):
        padded[row, : len(run)] = run
    wrong = ~(np.abs(np.nanmean(padded, axis=1) - means) < 1e-9)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"successes{arm} of task {str(support.task_ids[row])!r} average {np.nanmean(padded[row]):g}, "
            f"not {means[row]:g}; give the executions behind the support"
        )
    return padded


def _draw(rng: np.random.Generator, executions: Floats, r: int) -> Floats:
    """(n,) means of r executions per row, drawn without replacement."""
    keys = np.where(np.isnan(executions), np.inf, rng.random(executions.shape))
    chosen = np.argsort(keys, axis=1)[:, :r]
    means: Floats = np.take_along_axis(executions, chosen, axis=1).mean(axis=1)
    return means


def _curve(axis: Axis, amounts: Ints, errors: Floats, targets: int, left_out: tuple[str, ...]) -> EvidenceCurve:
    mae = errors / targets
    return EvidenceCurve(axis, amounts, mae.mean(axis=0), mae.std(axis=0), targets, left_out)
