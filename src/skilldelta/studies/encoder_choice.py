"""The encoder that a bank's evidence is compared with: by name, with what the bank itself brings to it."""

from __future__ import annotations

from collections.abc import Mapping

from skilldelta.arrays import Vectors
from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder, load_encoder
from skilldelta.encoders.imported import ImportedEncoder
from skilldelta.errors import InputError


def bank_encoder(
    bank: Bank,
    name: str = "wordllama",
    *,
    base_url: str | None = None,
    model: str | None = None,
    api_key: str | None = None,
    proxy: str | None = None,
    given: Mapping[str, Vectors] | None = None,
) -> Encoder:
    """The encoder of that name; TF-IDF takes its vocabulary from the bank's own task texts.

    Vectors that came with an import are read from the bank; `given` are those of other texts.

    Examples:
        >>> bank_encoder(bank, "tfidf").identity.startswith("tfidf")
        True
    """
    if name.startswith("imported/"):
        return _imported(bank, name, given)
    if given:
        raise InputError(f"--query-vector needs vectors of the same model; {_choice(bank)}")
    corpus = [task.text for task in bank.tasks()] if name == "tfidf" else None
    return load_encoder(name, base_url=base_url, model=model, api_key=api_key, proxy=proxy, corpus=corpus)


def _imported(bank: Bank, name: str, given: Mapping[str, Vectors] | None) -> Encoder:
    if name not in bank.vector_counts():
        raise InputError(f"the bank has no vectors of {name!r}; {_choice(bank)}")
    alone = ImportedEncoder(name)
    return ImportedEncoder(name, stored=lambda texts: bank.vectors(alone, texts), given=given)


def _choice(bank: Bank) -> str:
    """The imported vectors there are, as one would ask for them."""
    names = [name for name in bank.vector_counts() if name.startswith("imported/")]
    if not names:
        return "import a panel or a support index that brings its vectors"
    return f"say --encoder {' or --encoder '.join(names)}"
