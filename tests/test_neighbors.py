"""Exact neighbors: ties by row order, exclusion, float32 near-ties settled in float64, one query like many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilldelta.arrays import Ints, Vectors, unit_rows
from skilldelta.errors import InputError
from skilldelta.neighbors import nearest
from skilldelta.resemblance import nearest_to_each

PLANE = unit_rows([[1, 0], [0, 1], [-1, 0], [1, 1], [1, 0]])
EAST = unit_rows([[1, 0]])[0]


def by_definition(vectors: Vectors, query: Vectors, k: int, excluded: set[int]) -> list[int]:
    """All cosines in float64, sorted by cosine and then by row."""
    exact, asked = vectors.astype(np.longdouble), query.astype(np.longdouble)
    cosines = [float(v @ asked / np.sqrt((v @ v) * (asked @ asked))) for v in exact]
    order = sorted((i for i in range(len(vectors)) if i not in excluded), key=lambda i: (-cosines[i], i))
    return order[:k]


def test_rows_stand_from_the_nearest_with_their_cosines() -> None:
    found = nearest(PLANE, EAST, 4)
    assert found.rows.tolist() == [0, 4, 3, 1]
    np.testing.assert_allclose(found.similarities, [1, 1, np.sqrt(0.5), 0], atol=1e-7)


def test_equal_cosines_stand_in_row_order() -> None:
    vectors = unit_rows([[1, 1], [1, -1], [2, 2], [3, -3]])
    assert nearest(vectors, EAST, 3).rows.tolist() == [0, 1, 2]


def test_excluded_rows_are_left_out_and_k_shrinks_to_what_remains() -> None:
    assert nearest(PLANE, EAST, 10, excluded=np.array([0, 4])).rows.tolist() == [3, 1, 2]


def test_nothing_eligible_gives_no_neighbor() -> None:
    assert nearest(PLANE, EAST, 3, excluded=np.arange(5)).rows.tolist() == []
    assert nearest(np.empty((0, 2), np.float32), EAST, 3).rows.tolist() == []


@pytest.mark.parametrize("k", [0, -1])
def test_a_neighborhood_without_neighbors_is_refused(k: int) -> None:
    with pytest.raises(InputError, match=f"k must be at least 1, got {k}"):
        nearest(PLANE, EAST, k)
    with pytest.raises(InputError, match=f"k must be at least 1, got {k}"):
        nearest_to_each(PLANE, PLANE, k)


def test_many_queries_pad_what_they_do_not_find() -> None:
    codes = np.array([0, 1, 2, 3, 0])
    found = nearest_to_each(PLANE, PLANE, 5, codes=codes, query_codes=codes)
    assert found.rows[0].tolist() == [3, 1, 2, -1, -1]
    assert found.similarities[0, 3:].tolist() == [0, 0]
    assert found.rows[1].tolist() == [3, 0, 2, 4, -1]


def test_mass_duplicates_are_taken_in_row_order() -> None:
    """Five hundred copies of one vector: more ties than the candidates that are first taken."""
    vectors = np.repeat(unit_rows([[1.0, 2.0, 3.0]]), 500, axis=0)
    codes = np.arange(500)
    found = nearest_to_each(vectors, vectors, 3, codes=codes, query_codes=codes)
    assert found.rows[0].tolist() == [1, 2, 3]
    assert found.rows[1].tolist() == [0, 2, 3]
    assert found.rows[250].tolist() == [0, 1, 2]
    assert nearest(vectors, vectors[2], 3, excluded=np.array([2])).rows.tolist() == [0, 1, 3]


def near_ties(rng: np.random.Generator, *, count: int, dimension: int, gap: float) -> Vectors:
    """Vectors so close together that float32 cosines cannot tell them apart."""
    centre = rng.standard_normal(dimension)
    return unit_rows(centre + gap * rng.standard_normal((count, dimension)))


@pytest.mark.parametrize("gap", [1e-3, 3e-4, 1e-4, 1e-7])
def test_near_ties_of_float32_are_settled_in_float64(gap: float, rng: np.random.Generator) -> None:
    vectors = near_ties(rng, count=300, dimension=384, gap=gap)
    codes = np.arange(300)
    found = nearest_to_each(vectors, vectors, 6, codes=codes, query_codes=codes)
    wide = vectors.astype(np.float64)
    for i in range(0, 300, 10):
        cosines = wide @ wide[i] / np.sqrt((wide * wide).sum(axis=1) * (wide[i] @ wide[i]))
        cosines[i] = -np.inf
        best = np.sort(cosines)[::-1][:6]
        # Rows may swap only where their cosines agree to the last bits of float64.
        np.testing.assert_allclose(cosines[found.rows[i]], best, rtol=0, atol=1e-15)
        single = nearest(vectors, vectors[i], 6, excluded=np.array([i]))
        assert single.rows.tolist() == found.rows[i].tolist()
        assert single.similarities.tolist() == found.similarities[i].tolist()


def test_float32_alone_would_have_chosen_other_neighbors(rng: np.random.Generator) -> None:
    """The premise of the test above: on such data the plain float32 product ranks wrongly."""
    vectors = near_ties(rng, count=300, dimension=384, gap=3e-4)
    rough = np.argsort(-(vectors @ vectors[0]), kind="stable")[:6].tolist()
    assert rough != nearest(vectors, vectors[0], 6).rows.tolist()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 12), st.integers(2, 6))
def test_one_query_many_queries_and_the_definition_agree(seed: int, count: int, k: int, dimension: int) -> None:
    """Small integer coordinates give many exact ties; codes repeat, as tasks do under several skills."""
    drawn = np.random.default_rng(seed)
    raw = drawn.integers(-2, 3, size=(count, dimension))
    raw[~raw.any(axis=1)] = 1
    vectors, codes = unit_rows(raw), drawn.integers(0, max(1, count - 2), size=count)
    found = nearest_to_each(vectors, vectors, k, codes=codes, query_codes=codes)
    for i in range(count):
        own: Ints = np.flatnonzero(codes == codes[i])
        one = nearest(vectors, vectors[i], k, excluded=own)
        present = found.rows[i] >= 0
        assert found.rows[i][present].tolist() == one.rows.tolist()
        assert found.similarities[i][present].tolist() == one.similarities.tolist()
        expected = by_definition(vectors, vectors[i], k, set(own.tolist()))
        assert len(expected) == len(one.rows)
        np.testing.assert_allclose(
            one.similarities, nearest(vectors[expected], vectors[i], k).similarities if expected else [], atol=1e-15
        )


def test_blocks_of_queries_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    vectors, codes = unit_rows(rng.standard_normal((100, 16))), np.arange(100)
    whole = nearest_to_each(vectors, vectors, 5, codes=codes, query_codes=codes)
    monkeypatch.setattr("skilldelta.resemblance._BLOCK_BYTES", 1024)
    parts = nearest_to_each(vectors, vectors, 5, codes=codes, query_codes=codes)
    np.testing.assert_array_equal(whole.rows, parts.rows)
    np.testing.assert_array_equal(whole.similarities, parts.similarities)
