"""Names that people type."""

from __future__ import annotations

import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError
from skilldelta.records import Agent

from .small import AGENT, skip


def test_an_unknown_name_is_refused_with_the_nearest_ones(filled: Bank) -> None:
    with pytest.raises(InputError, match="unknown skill 'datse'; did you mean dates"):
        filled.resolve_skill("datse")
    with pytest.raises(InputError, match="unknown agent 'modela'; did you mean model-a"):
        filled.resolve_agent("modela")


def test_an_agent_is_found_by_name_and_fingerprint(filled: Bank) -> None:
    assert filled.resolve_agent(None) == AGENT
    one, two = Agent("model-c", "abc123"), Agent("model-c", "abd456")
    filled.add(Batch(executions=[skip("t1", 1.0, agent=one), skip("t1", 1.0, agent=two)]))
    assert filled.resolve_agent("model-a") == AGENT
    assert filled.resolve_agent("model-c@abd") == two
    assert filled.resolve_agent(None) == AGENT
    with pytest.raises(InputError, match=r"choose one: .*model-c@abc123, model-c@abd456"):
        filled.resolve_agent("model-c")
    with pytest.raises(InputError, match="unknown agent 'model-c@zzz'"):
        filled.resolve_agent("model-c@zzz")


def test_an_empty_bank_says_that_it_has_nothing_yet(bank: Bank) -> None:
    with pytest.raises(InputError, match="no agent yet; import or collect"):
        bank.resolve_agent(None)
    with pytest.raises(InputError, match="the bank has none yet"):
        bank.resolve_skill("dates")
