"""Deciding in the process of a hook, where no server answers: the bank, the encoder and the log, loaded for one question."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skilldelta.cli.arguments import chosen_encoder


def ask_bank(options: Mapping[str, Any], path: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """What the server would answer at a path."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from skilldelta.files import check_file
    from skilldelta.redaction import keep_secrets_of
    from skilldelta.serve.gate_service import GateService, GateSettings
    from skilldelta.serve.hooks.bank_answer import answer_from

    keep_secrets_of(os.environ)
    if "://" not in options["bank"]:
        check_file(Path(options["bank"]))  # a database library would wait for a pipe
    settings = GateSettings(agent=options["agent"], fallback=options["fallback"])
    encoder = {**options, "encoder": options["encoder"] or "wordllama"}
    with GateService.open(options["bank"], settings, encoder=lambda bank: chosen_encoder(bank, encoder)) as service:
        return answer_from(service, path, document, fallback=options["fallback"])
