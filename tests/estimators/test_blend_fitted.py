"""New families: what the families nearest to them lead to expect, as far as families have shown it to hold."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.estimators.blend.blend_panel import BlendPanel
from skilldelta.estimators.blend.fitted import Transfer, reported_gain, reported_gains
from skilldelta.estimators.blend.views import FeatureExtractor
from skilldelta.support import Support


def two_regions(rng: np.random.Generator, *, families: int, related: bool) -> Support:
    """Families in two directions; where they are related, the skill helps in one direction and harms in the other."""
    region = np.repeat(np.arange(families) % 2, 20)
    family = np.repeat(np.arange(families), 20)
    side = region if related else rng.permutation(np.arange(families) % 2)[family]
    helps = rng.random(len(family)) < np.where(side == 0, 0.8, 0.2)
    vectors = np.where(region[:, None] == 0, [1.0, 0.0, 0.2], [0.0, 1.0, 0.2]) + 0.1 * rng.normal(size=(len(family), 3))
    return Support.from_arrays(
        task_ids=[f"t{i}" for i in range(len(family))],
        families=[f"f{i}" for i in family],
        skills=[f"s{i}" for i in family],
        vectors=vectors,
        y0=np.where(helps, 0.0, 1.0),
        y1=np.where(helps, 1.0, 0.0),
    )


def transfer_of(support: Support) -> Transfer:
    return Transfer.of(BlendPanel.of(support, FeatureExtractor.learn(support)[1]), [])


def test_a_new_family_follows_the_families_near_it_where_these_agree(rng: np.random.Generator) -> None:
    found = transfer_of(two_regions(rng, families=20, related=True))
    assert found.share > 0.7
    assert found.level(np.array([1, 0, 0.2], np.float32)) > 0.3
    assert found.level(np.array([0, 1, 0.2], np.float32)) < -0.3


def test_where_nearness_tells_nothing_the_suite_is_what_is_left(rng: np.random.Generator) -> None:
    found = transfer_of(two_regions(rng, families=20, related=False))
    assert found.share < 0.5
    assert abs(found.level(np.array([1, 0, 0.2], np.float32))) < 0.2


def test_one_family_alone_gives_its_pull_and_no_more(rng: np.random.Generator) -> None:
    found = transfer_of(two_regions(rng, families=1, related=True))
    assert found.share == pytest.approx(0.3)
    assert 0 < found.level(np.array([1, 0, 0.2], np.float32)) < 0.6


def test_a_gain_that_prints_as_nothing_is_nothing() -> None:
    gains = np.array([0.0049, -0.0049, 0.005, -2.0, 0.30000000001])
    assert reported_gains(gains).tolist() == [0.0, 0.0, 0.005, -1.0, 0.3]
    assert [reported_gain(float(gain)) for gain in gains] == reported_gains(gains).tolist()
