"""Attacks on access tokens: what the time of a comparison gives away."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np

from attacks.attack import Tries, attack
from skilldelta.evaluation.metrics import auroc
from skilldelta.serve.access_tokens import TokenFile


@attack(
    "tokens", "the time of a comparison, for tokens that share more or less with the right one", tries=20_000, few=0
)
def comparison_time(folder: Path, tries: int) -> Tries:
    """A classifier by time tells near tokens from far ones no better than a coin: AUROC within 0.5 ± 0.03."""
    tokens = TokenFile(folder / "tokens.json")
    secret = tokens.create("owner", "write", now=1.0)
    rng = random.Random(51)
    near = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    far = "".join("A" if character != "A" else "B" for character in secret)
    times: dict[str, list[int]] = {near: [], far: []}
    for number in range(tries):
        offered = (near, far)[rng.randrange(2)]
        began = time.perf_counter_ns()
        match = tokens.find(offered, 2.0)
        times[offered].append(time.perf_counter_ns() - began)
        yield "" if match is None else f"let in with a wrong token at try {number}"
    values = np.array([*times[near], *times[far]], float)
    area = auroc(values, np.array([True] * len(times[near]) + [False] * len(times[far])))
    assert area is not None
    yield "" if abs(area - 0.5) < 0.03 else f"AUROC {area:.3f}"
    medians = [float(np.median(kind)) / 1e3 for kind in times.values()]
    return f"AUROC {area:.3f}; medians {medians[0]:.2f} and {medians[1]:.2f} µs"
