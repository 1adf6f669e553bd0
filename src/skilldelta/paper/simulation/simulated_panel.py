"""Panels with known truth: for tests of the theory and of interval coverage, and for people who plan a study.

Tasks lie in families and, within a family, at a latent position that their vectors encode and their gains follow. The
promise |tau(t) - tau(t')| <= L d + eps, with d = 1 - cosine and both tasks in one family, holds by construction.

Cosine distance is a squared length, so no gain that varies along a curve of vectors could keep that promise, however
smooth. Positions are therefore coded like a thermometer: level l of m is l times +1 and m - l times -1, whose cosine
distance is exactly 2 |l - l'| / m, linear in the position. A zigzag of slope one over the position is then a gain
with constant L. Family and nuisance coordinates only add to the distance, clipping only shortens a difference, and a
residual uniform on [-eps/2, eps/2] adds at most eps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from skilldelta.arrays import Floats, Ints, Vectors
from skilldelta.errors import InputError
from skilldelta.paper.simulation.synthetic_text import synthetic_texts
from skilldelta.support import Support

Kind = Literal["no_effect", "always_helps", "family_only", "local_only", "mixed"]
KINDS: tuple[Kind, ...] = ("no_effect", "always_helps", "family_only", "local_only", "mixed")

_ZIGZAG = 0.5  # rise of a zigzag, as a share of an axis: two slopes per axis


@dataclass(frozen=True, slots=True)
class TokenModel:
    """Mean tokens of an execution without the skill, what the skill adds, and the spread of both (lognormal sigma)."""

    base: float = 1000.0
    skill: float = 400.0
    spread: float = 0.3


@dataclass(frozen=True, slots=True)
class Simulation:
    """What a simulated panel is like."""

    tasks: int = 400
    families: int = 8
    dimension: int = 64
    kind: Kind = "mixed"
    smoothness: float = 2.0
    """L: how fast gains may change with distance, within a family."""
    residual: float = 0.0
    """eps: how far the gains of two tasks at one place may differ."""
    effect: float = 0.3
    """The gain of `always_helps`, and the largest family effect of `family_only` and `mixed`."""
    base_rate: float = 0.5
    difficulty: float = 0.2
    """Half the range of success rates without the skill; both are moved where a gain would leave [0, 1]."""
    r0: int = 1
    r1: int = 1
    axes: int = 1
    """Latent dimensions of a family."""
    local_share: float = 0.5
    """Share of the squared length of a vector that codes the position; half makes 1 - cosine span [0, 1]."""
    nuisance_share: float = 0.1
    """Share that codes nothing, so that neighbors by cosine are not neighbors in gain alone."""
    skew: float = 0.0
    """Zipf exponent of family sizes; 0 makes them equal."""
    skills: int | None = None
    """Number of skills, families taking turns; None gives every family its own."""
    tokens: TokenModel | None = field(default_factory=TokenModel)

    def __post_init__(self) -> None:
        _check(self)

    @property
    def levels(self) -> int:
        """Steps of one latent axis: half of all coordinates, shared among the axes."""
        return max(1, self.dimension // 2 // self.axes)


@dataclass(frozen=True, eq=False)
class SimulatedPanel:
    """A panel as an evaluation sees it, and the truth behind it."""

    support: Support
    tau: Floats  # (n,) true gains
    mu0: Floats  # (n,) true success probabilities
    mu1: Floats  # (n,)
    mean_tokens0: Floats  # (n,) expected tokens, NaN without a token model
    mean_tokens1: Floats  # (n,)
    successes0: Floats  # (n, r0) single executions behind the support's means
    successes1: Floats  # (n, r1)
    tokens0: Floats  # (n, r0)
    tokens1: Floats  # (n, r1)
    positions: Floats  # (n, axes) latent positions in [0, 1]
    settings: Simulation

    def redraw(self, rng: np.random.Generator) -> SimulatedPanel:
        """The same tasks and truth with new, independent executions."""
        return _execute(rng, self)


def simulate_panel(rng: np.random.Generator, settings: Simulation | None = None, **changes: Any) -> SimulatedPanel:
    """Draw tasks, their true gains and their executions; `changes` are fields of `Simulation` by name.

    >>> panel = simulate_panel(np.random.default_rng(0), tasks=40, families=4, kind="always_helps")
    >>> len(panel.support), round(float(panel.tau.mean()), 3)
    (40, 0.3)
    """
    settings = replace(settings or Simulation(), **changes)
    family = _families(rng, settings)
    levels = rng.integers(0, settings.levels + 1, size=(settings.tasks, settings.axes))
    positions = levels / settings.levels
    tau = _gains(rng, settings, family, positions)
    mu0 = _baseline(rng, settings, tau)
    tokens0, tokens1 = _expected_tokens(rng, settings)
    empty = np.empty((settings.tasks, 0))
    panel = SimulatedPanel(
        support=_tasks(
            settings, family, _vectors(rng, settings, family, levels), synthetic_texts(rng, family, positions)
        ),
        tau=tau,
        mu0=mu0,
        mu1=np.clip(mu0 + tau, 0.0, 1.0),
        mean_tokens0=tokens0,
        mean_tokens1=tokens1,
        successes0=empty,
        successes1=empty,
        tokens0=empty,
        tokens1=empty,
        positions=positions,
        settings=settings,
    )
    return _execute(rng, panel)


def _check(settings: Simulation) -> None:
    if settings.kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}, got {settings.kind!r}")
    for name in ("tasks", "families", "r0", "r1", "axes"):
        if getattr(settings, name) < 1:
            raise InputError(f"{name} must be at least 1, got {getattr(settings, name)}")
    if settings.dimension < 8 or settings.dimension // 2 < settings.axes:
        raise InputError(f"dimension must be at least 8 and twice the axes, got {settings.dimension}")
    for name in ("smoothness", "residual", "difficulty", "skew", "local_share", "nuisance_share"):
        if not 0 <= getattr(settings, name) < math.inf:
            raise InputError(f"{name} must not be negative or infinite, got {getattr(settings, name)}")
    if settings.local_share + settings.nuisance_share > 1:
        total = settings.local_share + settings.nuisance_share
        raise InputError(f"local_share and nuisance_share must sum to at most 1, got {total:g}")
    if not 0 <= settings.base_rate <= 1:
        raise InputError(f"base_rate must lie in [0, 1], got {settings.base_rate}")
    if not -1 <= settings.effect <= 1:
        raise InputError(f"effect must lie in [-1, 1], got {settings.effect}")
    if settings.skills is not None and settings.skills < 1:
        raise InputError(f"skills must be at least 1, got {settings.skills}")


def _families(rng: np.random.Generator, settings: Simulation) -> Ints:
    """(n,) the family of each task; equal sizes in turn, or drawn with Zipf shares."""
    if settings.skew == 0:
        return np.arange(settings.tasks) % settings.families
    shares = np.arange(1, settings.families + 1) ** -settings.skew
    return rng.choice(settings.families, size=settings.tasks, p=shares / shares.sum())


def _vectors(rng: np.random.Generator, settings: Simulation, family: Ints, levels: Ints) -> Vectors:
    """(n, dim): family direction, thermometers and nuisance side by side, each of its share of the length."""
    coded = settings.levels * settings.axes
    spare = settings.dimension - coded
    family_part = max(1, spare // 2)
    directions = _directions(rng, settings.families, family_part)[family]
    steps = np.arange(settings.levels)
    thermometer = np.where(steps < levels[:, :, None], 1.0, -1.0).reshape(settings.tasks, coded) / np.sqrt(coded)
    nuisance = _directions(rng, settings.tasks, spare - family_part)
    local, loose = settings.local_share, settings.nuisance_share
    common = max(0.0, 1 - local - loose)
    parts = np.hstack([np.sqrt(common) * directions, np.sqrt(local) * thermometer, np.sqrt(loose) * nuisance])
    return parts.astype(np.float32)


def _directions(rng: np.random.Generator, count: int, dimension: int) -> Floats:
    drawn = rng.standard_normal((count, dimension))
    lengths: Floats = np.linalg.norm(drawn, axis=1, keepdims=True)
    unit: Floats = drawn / lengths
    return unit


def _gains(rng: np.random.Generator, settings: Simulation, family: Ints, positions: Floats) -> Floats:
    """(n,) true gains in [-1, 1]: the kind's structure, then the residual."""
    tau = np.zeros(settings.tasks)
    if settings.kind == "always_helps":
        tau += settings.effect
    if settings.kind in ("family_only", "mixed"):
        tau += rng.permutation(np.linspace(-settings.effect, settings.effect, settings.families))[family]
    if settings.kind in ("local_only", "mixed"):
        phases = rng.random((settings.families, settings.axes))[family]
        # The thermometers' distance is 2 mean |z - z'|, so that twice a mean of slope-one zigzags has constant one.
        zigzag = np.abs((positions + phases * 2 * _ZIGZAG) % (2 * _ZIGZAG) - _ZIGZAG) - _ZIGZAG / 2
        tau += settings.smoothness * settings.local_share * 2 * zigzag.mean(axis=1)
    if settings.residual:
        tau += rng.uniform(-settings.residual / 2, settings.residual / 2, settings.tasks)
    return np.clip(tau, -1.0, 1.0)


def _baseline(rng: np.random.Generator, settings: Simulation, tau: Floats) -> Floats:
    """(n,) success probabilities without the skill, moved only where mu0 + tau would leave [0, 1]."""
    rates = settings.base_rate + settings.difficulty * rng.uniform(-1, 1, settings.tasks)
    return np.clip(rates, np.maximum(0.0, -tau), np.minimum(1.0, 1.0 - tau))


def _expected_tokens(rng: np.random.Generator, settings: Simulation) -> tuple[Floats, Floats]:
    model = settings.tokens
    if model is None:
        return np.full(settings.tasks, np.nan), np.full(settings.tasks, np.nan)
    base = model.base * rng.lognormal(-(model.spread**2) / 2, model.spread, settings.tasks)
    return base, base + model.skill


def _tasks(settings: Simulation, family: Ints, vectors: Vectors, texts: tuple[str, ...]) -> Support:
    """The panel before any execution: every outcome 0, every count the settings' own."""
    n = settings.tasks
    width = len(str(max(n, settings.families) - 1))
    skill = family if settings.skills is None else family % settings.skills
    return Support.from_arrays(
        task_ids=[f"task-{i:0{width}d}" for i in range(n)],
        families=[f"family-{f:0{width}d}" for f in family],
        skills=[f"skill-{s:0{width}d}" for s in skill],
        vectors=vectors,
        y0=np.zeros(n),
        y1=np.zeros(n),
        r0=np.full(n, settings.r0),
        r1=np.full(n, settings.r1),
        texts=texts,
        encoder=f"simulated-{settings.dimension}",
        agent="simulated",
        suite=settings.kind,
    )


def _execute(rng: np.random.Generator, panel: SimulatedPanel) -> SimulatedPanel:
    """Run every task under both conditions: Bernoulli successes, lognormal tokens around their means."""
    r0, r1 = panel.settings.r0, panel.settings.r1
    successes0, successes1 = _bernoulli(rng, panel.mu0, r0), _bernoulli(rng, panel.mu1, r1)
    tokens0 = _spend(rng, panel.mean_tokens0, r0, panel.settings.tokens)
    tokens1 = _spend(rng, panel.mean_tokens1, r1, panel.settings.tokens)
    support = replace(
        panel.support,
        y0=successes0.mean(axis=1),
        y1=successes1.mean(axis=1),
        tokens0=tokens0.mean(axis=1),
        tokens1=tokens1.mean(axis=1),
    )
    return replace(
        panel, support=support, successes0=successes0, successes1=successes1, tokens0=tokens0, tokens1=tokens1
    )


def _bernoulli(rng: np.random.Generator, mean: Floats, repetitions: int) -> Floats:
    drawn: NDArray[np.bool_] = rng.random((len(mean), repetitions)) < mean[:, None]
    return drawn.astype(np.float64)


def _spend(rng: np.random.Generator, mean: Floats, repetitions: int, model: TokenModel | None) -> Floats:
    if model is None:
        return np.full((len(mean), repetitions), np.nan)
    noise = rng.lognormal(-(model.spread**2) / 2, model.spread, (len(mean), repetitions))
    spent: Floats = mean[:, None] * noise
    return spent
