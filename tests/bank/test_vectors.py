"""Nothing is encoded twice, and vectors of different encoders never meet."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.arrays import Vectors
from skilldelta.bank.batch import Batch
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError

from .small import AGENT, TASKS, TinyEncoder, vector


def test_a_text_is_encoded_once_and_rows_follow_the_texts(bank: Bank) -> None:
    encoder = TinyEncoder()
    first = bank.vectors(encoder, ["one", "two words", "one"])
    assert encoder.encoded == ["one", "two words"]
    assert first.tolist() == encoder.encode(["one", "two words", "one"]).tolist()
    fresh = TinyEncoder()
    again = bank.vectors(fresh, ["two words", "three", "one"])
    assert fresh.encoded == ["three"]
    assert (again[0] == first[1]).all()
    assert (again[2] == first[0]).all()


def test_vectors_that_were_given_are_not_encoded(bank: Bank) -> None:
    bank.add(Batch(vectors=[vector("one", 1, 0, 0)]))
    encoder = TinyEncoder()
    assert bank.vectors(encoder, ["one"]).tolist() == [[1, 0, 0]]
    assert encoder.encoded == []


def test_another_encoder_starts_from_nothing(bank: Bank) -> None:
    bank.vectors(TinyEncoder(), ["one"])
    other = TinyEncoder("tiny/3 of another version")
    bank.vectors(other, ["one"])
    assert other.encoded == ["one"]
    assert bank.status().vectors == {"tiny/3": 1, "tiny/3 of another version": 1}


def test_a_read_only_bank_encodes_without_storing(filled: Bank, location: str) -> None:
    with Bank.open(location, readonly=True) as reader:
        encoder = TinyEncoder()
        assert len(reader.support(encoder, agent=AGENT)) == 3
        assert len(encoder.encoded) == 3
    assert filled.status().vectors == {}


def test_no_texts_give_an_empty_matrix_as_wide_as_the_encoder(bank: Bank) -> None:
    assert bank.vectors(TinyEncoder(), []).shape == (0, 3)


def test_progress_counts_what_is_encoded(bank: Bank) -> None:
    calls: list[tuple[int, int]] = []
    bank.vectors(TinyEncoder(), ["one"])
    bank.vectors(TinyEncoder(), ["one", "two", "three"], progress=lambda done, total: calls.append((done, total)))
    assert calls == [(2, 2)]


class _Broken(TinyEncoder):
    def __init__(self, rows: list[list[float]]) -> None:
        super().__init__()
        self.rows = rows

    def encode(self, texts: object) -> Vectors:
        return np.array(self.rows, np.float32)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[0.0, 0.0, 0.0]], "is zero and has no direction"),
        ([[1.0, float("nan"), 0.0]], "not finite"),
        ([[1.0, 0.0]], "dimension 3 and one of 2 came"),
        ([[1.0, 0.0, 0.0]] * 2, "for 1 text"),
    ],
)
def test_an_encoder_that_misbehaves_is_refused_and_nothing_is_stored(
    bank: Bank, rows: list[list[float]], words: str
) -> None:
    bank.vectors(TinyEncoder(), ["known"])
    with pytest.raises(InputError) as error:
        bank.vectors(_Broken(rows), ["new"])
    assert words in str(error.value)
    assert bank.status().vectors == {"tiny/3": 1}


def test_a_support_has_the_pairs_in_record_order_with_vectors_and_texts(filled: Bank) -> None:
    support = filled.support(TinyEncoder(), agent=AGENT, suite="default")
    assert support.task_ids.tolist() == ["t1", "t2", "t3"]
    assert support.gains.tolist() == [1.0, 0.0, -1.0]
    assert support.tokens0.tolist()[0] == 10.0
    assert np.isnan(support.tokens0[1])
    assert support.texts == tuple(task.text for task in TASKS)
    assert (support.encoder, support.agent, support.suite) == ("tiny/3", "model-a", "default")
    assert len(filled.support(TinyEncoder(), agent=AGENT, family="travel")) == 1
