"""Encoders by name."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from skilldelta.encoders import ENCODERS, load_encoder
from skilldelta.encoders.imported import ImportedEncoder
from skilldelta.encoders.openai import OpenAIEncoder
from skilldelta.encoders.tfidf import TfidfEncoder
from skilldelta.encoders.wordllama import WordLlamaEncoder
from skilldelta.errors import InputError


def test_the_default_is_wordllama() -> None:
    assert isinstance(load_encoder(), WordLlamaEncoder)


def test_tfidf_learns_from_the_corpus() -> None:
    encoder = load_encoder("tfidf", corpus=["red apple", "green pear"])

    assert isinstance(encoder, TfidfEncoder)
    assert encoder.encode(["red apple"]) @ encoder.encode(["green pear"]).T == 0


def test_tfidf_without_a_corpus_is_refused() -> None:
    with pytest.raises(InputError, match="got none"):
        load_encoder("tfidf")


def test_openai_needs_a_base_url_and_a_model() -> None:
    assert isinstance(load_encoder("openai", base_url="http://127.0.0.1:9/v1", model="m"), OpenAIEncoder)
    with pytest.raises(InputError, match="base URL and a model"):
        load_encoder("openai", model="m")
    with pytest.raises(InputError, match="base URL and a model"):
        load_encoder("openai", base_url="http://127.0.0.1:9/v1")


def test_imported_vectors_have_a_name_and_no_model() -> None:
    encoder = load_encoder("imported/text-embedding-3-small/1536/l2")

    assert isinstance(encoder, ImportedEncoder)
    assert encoder.identity == "imported/text-embedding-3-small/1536/l2"
    assert isinstance(encoder.encode([]), np.ndarray)
    with pytest.raises(InputError, match="'a new question' has no imported vector"):
        encoder.encode(["a new question"])


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        load_encoder("wordlama")

    assert "'wordlama'" in str(caught.value)
    assert all(name in str(caught.value) for name in ENCODERS)


def test_importing_the_encoders_imports_none_of_their_libraries() -> None:
    program = (
        "import sys, skilldelta.encoders\n"
        "print([m for m in ('tokenizers', 'sklearn', 'wordllama', 'http.client', 'importlib.metadata') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == "[]"
