"""The optional encoder: what a missing extra says, and a real model where the extra is installed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from skilldelta.encoders.sentence_transformers import SentenceTransformersEncoder
from skilldelta.errors import InputError, MissingExtraError


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # what Python does for a package that is not there

    with pytest.raises(MissingExtraError, match="pip install 'sentence-transformers"):
        SentenceTransformersEncoder()


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    """A real, tiny model on disk: a bag of four words, so that nothing is downloaded."""
    library = pytest.importorskip("sentence_transformers", reason="the sentence-transformers extra is not installed")
    models = pytest.importorskip("sentence_transformers.models")
    folder = tmp_path / "four-words"
    library.SentenceTransformer(modules=[models.BoW(vocab=["red", "green", "apple", "pear"])]).save(str(folder))
    return folder


def test_a_model_folder_gives_unit_rows_and_an_identity(model_folder: Path) -> None:
    encoder = SentenceTransformersEncoder(str(model_folder))
    vectors = encoder.encode(["red apple", "green pear", "red pear"])

    assert vectors.shape == (3, 4)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert vectors[0] @ vectors[1] == pytest.approx(0)
    assert vectors[0] @ vectors[2] == pytest.approx(0.5)
    assert encoder.identity.startswith("sentence-transformers/four-words/")
    assert encoder.identity.endswith("/4/l2")


def test_a_model_that_does_not_exist_is_named(model_folder: Path) -> None:
    encoder = SentenceTransformersEncoder(str(model_folder.parent / "absent"))

    with pytest.raises(InputError, match="absent"):
        encoder.encode(["red"])
