"""The default encoder against the package whose weights it reads."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from skilldelta.encoders.wordllama import WordLlamaEncoder
from skilldelta.errors import InputError

TEXTS = [
    "Today is 3/5/1979. What is the date one week from today in MM/DD/YYYY?",
    "not ( True ) and ( True ) is",
    "a",
    "Zürich, naïve café, 東京 and the emoji 🙂 in one line",
    "def f(x):\n\treturn x  # two  spaces",
    "special tokens <s> </s> <unk> inside",
    "\u0000 a control character",
    "long " * 3000,
]


@pytest.fixture(scope="module")
def encoder() -> WordLlamaEncoder:
    return WordLlamaEncoder()


def test_the_vectors_equal_the_packages_own(encoder: WordLlamaEncoder) -> None:
    import wordllama

    own = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)

    np.testing.assert_allclose(encoder.encode(TEXTS), own.embed(TEXTS, norm=True), rtol=0, atol=1e-5)


def test_a_text_has_the_same_bits_alone_and_in_any_batch(encoder: WordLlamaEncoder) -> None:
    many = [f"{text} {number}" for number in range(60) for text in TEXTS[:-1]] + TEXTS
    together = encoder.encode(many)

    assert len(many) > 256, "the batch boundary is crossed"
    for position in (0, 1, 3, 255, 256, 257, len(many) - 1):
        alone = encoder.encode([many[position]])[0]
        assert alone.tobytes() == together[position].tobytes()
    assert encoder.encode(many[::-1]).tobytes() == together[::-1].tobytes()


def test_rows_are_float32_of_length_one(encoder: WordLlamaEncoder) -> None:
    vectors = encoder.encode(TEXTS)

    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 256)
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(vectors.astype(float), axis=1), 1, atol=1e-6)


def test_paraphrases_are_nearer_than_strangers(encoder: WordLlamaEncoder) -> None:
    date, same, other = encoder.encode(
        [
            "What is the date one week from today?",
            "Which day will it be seven days from now?",
            "Sort these words alphabetically.",
        ]
    )

    assert date @ same > date @ other


def test_no_text_gives_no_row(encoder: WordLlamaEncoder) -> None:
    assert encoder.encode([]).shape == (0, 256)


@pytest.mark.parametrize("empty", ["", "   ", "\n\t "])
def test_an_empty_text_is_refused_by_its_position(encoder: WordLlamaEncoder, empty: str) -> None:
    with pytest.raises(InputError, match="text 1 is empty"):
        encoder.encode(["fine", empty])


def test_half_a_surrogate_pair_is_refused_by_its_position(encoder: WordLlamaEncoder) -> None:
    with pytest.raises(InputError, match="text 0 has half a surrogate pair at character 3"):
        encoder.encode(["bad\ud800"])


def test_a_single_text_in_place_of_a_list_is_refused(encoder: WordLlamaEncoder) -> None:
    with pytest.raises(InputError, match="must be a list"):
        encoder.encode("one text")


def test_the_identity_names_model_version_dimension_and_norm(encoder: WordLlamaEncoder) -> None:
    assert encoder.identity == f"wordllama/l2_supercat-256/{version('wordllama')}/256/l2"


def test_encoding_imports_none_of_the_packages_modules_and_no_network_client() -> None:
    program = (
        "import sys, json, logging\n"
        "from skilldelta.encoders import load_encoder\n"
        "load_encoder().encode(['one sentence'])\n"
        "print(json.dumps([m for m in ('wordllama', 'requests', 'pydantic', 'sklearn', 'torch') if m in sys.modules]))\n"
        "print(logging.getLogger().handlers)"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules, handlers = answer.stdout.splitlines()

    assert json.loads(modules) == []
    assert handlers == "[]"


def test_real_questions_encode_without_a_zero_row(encoder: WordLlamaEncoder, shared_data: Path) -> None:
    lines = (shared_data / "bbh_cot" / "pairs.jsonl").read_text().splitlines()[::50]
    vectors = encoder.encode([json.loads(line)["question"] for line in lines])

    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors.astype(float), axis=1), 1, atol=1e-6)
