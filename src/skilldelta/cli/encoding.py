"""The encoder that the options ask for. The endpoint's key is read from the environment, never from a flag."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilldelta.bank.store import Bank
    from skilldelta.encoders.base import Encoder


def chosen_encoder(bank: Bank, options: Mapping[str, Any]) -> Encoder:
    """The encoder of --encoder; TF-IDF takes its vocabulary from the bank's own task texts."""
    from skilldelta.cli.proxies import environment_proxy
    from skilldelta.encoders import load_encoder

    name = options["encoder"]
    return load_encoder(
        name,
        base_url=options.get("encoder_url"),
        model=options.get("encoder_model"),
        api_key=os.environ.get("SKILLDELTA_ENCODER_KEY") or os.environ.get("OPENAI_API_KEY"),
        proxy=environment_proxy(options.get("encoder_url")),
        corpus=[task.text for task in bank.tasks()] if name == "tfidf" else None,
    )
