"""The encoder that the options ask for. The endpoint's key is read from the environment, never from a flag."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skilldelta.errors import InputError

if TYPE_CHECKING:
    from skilldelta.arrays import Vectors
    from skilldelta.bank.store import Bank
    from skilldelta.encoders.base import Encoder


def chosen_encoder(bank: Bank, options: Mapping[str, Any], *, given: Mapping[str, Vectors] | None = None) -> Encoder:
    """The encoder of --encoder; TF-IDF takes its vocabulary from the bank's own task texts.

    Vectors that came with an import are read from the bank; `given` are those of other texts.
    """
    from skilldelta.cli.proxies import environment_proxy
    from skilldelta.encoders import load_encoder

    name = options["encoder"]
    if name.startswith("imported/"):
        return _imported(bank, name, given)
    if given:
        raise InputError(f"--query-vector needs vectors of the same model; {_choice(bank)}")
    return load_encoder(
        name,
        base_url=options.get("encoder_url"),
        model=options.get("encoder_model"),
        api_key=os.environ.get("SKILLDELTA_ENCODER_KEY") or os.environ.get("OPENAI_API_KEY"),
        proxy=environment_proxy(options.get("encoder_url")),
        corpus=[task.text for task in bank.tasks()] if name == "tfidf" else None,
    )


def _imported(bank: Bank, name: str, given: Mapping[str, Vectors] | None) -> Encoder:
    from skilldelta.encoders.imported import ImportedEncoder

    if name not in bank.status().vectors:
        raise InputError(f"the bank has no vectors of {name!r}; {_choice(bank)}")
    alone = ImportedEncoder(name)
    return ImportedEncoder(name, stored=lambda texts: bank.vectors(alone, texts), given=given)


def _choice(bank: Bank) -> str:
    """The imported vectors there are, as one would ask for them."""
    names = [name for name in bank.status().vectors if name.startswith("imported/")]
    if not names:
        return "import a panel or a support index that brings its vectors"
    return f"say --encoder {' or --encoder '.join(names)}"
