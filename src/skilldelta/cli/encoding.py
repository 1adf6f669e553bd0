"""The encoder that the options ask for. The endpoint's key is read from the environment, never from a flag."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilldelta.arrays import Vectors
    from skilldelta.bank.store import Bank
    from skilldelta.encoders.base import Encoder


def chosen_encoder(bank: Bank, options: Mapping[str, Any], *, given: Mapping[str, Vectors] | None = None) -> Encoder:
    """The encoder of --encoder; `given` are vectors of texts that an import did not bring."""
    from skilldelta.cli.proxies import environment_proxy
    from skilldelta.studies.encoder_choice import bank_encoder

    return bank_encoder(
        bank,
        options["encoder"],
        base_url=options.get("encoder_url"),
        model=options.get("encoder_model"),
        api_key=os.environ.get("SKILLDELTA_ENCODER_KEY") or os.environ.get("OPENAI_API_KEY"),
        proxy=environment_proxy(options.get("encoder_url")),
        given=given,
    )
