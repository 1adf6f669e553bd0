"""Small panels for the estimators' tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skilldelta.support import Support


def panel(
    gains: Sequence[float],
    *,
    families: Sequence[str] | None = None,
    texts: Sequence[str] = (),
    vectors: Sequence[Sequence[float]] | None = None,
    task_ids: Sequence[str] | None = None,
    skills: Sequence[str] | None = None,
) -> Support:
    """A support with the given gains: y0 is 0 where the skill helped or changed nothing, 1 where it harmed."""
    observed = np.asarray(gains, float)
    return Support.from_arrays(
        task_ids=task_ids or [f"t{i}" for i in range(len(observed))],
        families=families or ["f"] * len(observed),
        skills=skills or ["s"] * len(observed),
        vectors=vectors if vectors is not None else np.eye(len(observed)),
        y0=np.where(observed < 0, -observed, 0.0),
        y1=np.where(observed > 0, observed, 0.0),
        texts=texts,
    )


def random_panel(rng: np.random.Generator, n: int = 90, *, families: int = 4, repeated: bool = True) -> Support:
    """A panel of everything: families of unequal size with a singleton, a task under two skills, repetitions, words."""
    labels = np.array([*(f"f{i}" for i in rng.integers(families, size=n - 1)), "alone"])
    skills = np.array([f"skill-{label}" for label in labels])
    task_ids = np.array([f"t{i}" for i in range(n)])
    words = np.array(["sum", "table", "count", "rows", "date", "email", "parse", "graph", "price", "unit"])
    texts = [" ".join(rng.choice(words, size=rng.integers(2, 7))) for _ in range(n)]
    vectors = rng.normal(size=(n, 12))
    if repeated:
        for row, first in ((20, 5), (30, 6)):  # the same task under a second skill
            task_ids[row], texts[row], vectors[row], labels[row] = (
                task_ids[first],
                texts[first],
                vectors[first],
                labels[first],
            )
    return Support.from_arrays(
        task_ids=task_ids,
        families=labels,
        skills=skills,
        vectors=vectors,
        y0=rng.integers(4, size=n) / 3,
        y1=rng.integers(4, size=n) / 3,
        r0=np.full(n, 3),
        r1=np.full(n, 3),
        tokens0=rng.integers(100, 900, size=n),
        tokens1=rng.integers(500, 1900, size=n),
        texts=texts,
        agent="agent",
        suite="suite",
    )


def skill_texts(support: Support) -> dict[str, str]:
    """A text for every skill of a panel, with words of its own and of the tasks."""
    return {skill: f"{skill} how to parse a date and count rows" for skill in set(support.skills.tolist())}
