"""The lexical encoder on corpora small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.encoders.tfidf import TfidfEncoder
from skilldelta.errors import InputError

CORPUS = ["red apple", "red pear", "green apple pie"]


def test_a_row_is_the_tf_idf_of_words_and_word_pairs_scaled_to_length_one() -> None:
    encoder = TfidfEncoder(CORPUS)
    row = encoder.encode(["red apple"])[0]

    # Terms: apple, apple pie, green, green apple, pear, pie, red, red apple, red pear; then the unknown coordinate.
    twice, once = np.log(4 / 3) + 1, np.log(4 / 2) + 1  # smoothed idf of a term in two texts, in one text
    expected = np.array([twice, 0, 0, 0, 0, 0, twice, once, 0, 0])
    np.testing.assert_allclose(row, expected / np.linalg.norm(expected), atol=1e-6)
    assert row.dtype == np.float32


def test_a_text_has_the_same_bits_alone_and_in_a_batch() -> None:
    encoder = TfidfEncoder(CORPUS)
    texts = ["red apple", "unknown words", "green apple pie red", "pie pie pie apple"] * 400

    together = encoder.encode(texts)
    for position in (0, 1, 2, 3, 1023, 1024):
        assert encoder.encode([texts[position]])[0].tobytes() == together[position].tobytes()


def test_a_text_without_a_known_term_is_orthogonal_to_all_that_have_one() -> None:
    encoder = TfidfEncoder(CORPUS)
    unknown, known, other = encoder.encode(["blue sky", "red apple", "?!"])

    assert np.linalg.norm(unknown) == 1
    assert unknown @ known == 0
    assert unknown @ other == 1


def test_only_the_most_frequent_terms_are_kept() -> None:
    encoder = TfidfEncoder(["apple apple apple", "apple red", "pear"], max_features=1)

    assert encoder.dimension == 2
    assert encoder.encode(["apple"])[0].tolist() == [1, 0]
    assert encoder.encode(["pear"])[0].tolist() == [0, 1]


def test_the_identity_follows_the_vocabulary_and_its_weights() -> None:
    identity = TfidfEncoder(CORPUS).identity

    assert identity == TfidfEncoder(CORPUS[::-1]).identity, "the order of the corpus does not matter"
    assert identity != TfidfEncoder([*CORPUS, "red"]).identity, "other idf"
    assert identity != TfidfEncoder([*CORPUS, "plum"]).identity, "other vocabulary"
    assert identity.startswith("tfidf/")
    assert identity.endswith("/10/l2")


def test_a_corpus_without_words_or_without_texts_is_refused() -> None:
    with pytest.raises(InputError, match="none of the 2 texts"):
        TfidfEncoder(["?", "! !"])
    with pytest.raises(InputError, match="got none"):
        TfidfEncoder([])
    with pytest.raises(InputError, match="max_features must be at least 1, got 0"):
        TfidfEncoder(CORPUS, max_features=0)


def test_an_empty_text_is_refused_by_its_position() -> None:
    with pytest.raises(InputError, match="text 1 is empty"):
        TfidfEncoder(CORPUS).encode(["red", " "])
