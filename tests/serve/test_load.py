"""A server under load that is killed in the middle: what it accepted is there, once; what it did not is nowhere.

Clients decide, then record an outcome under a key of their own, and send it again until they get an answer, as a client
must that cannot know whether the first request arrived.
"""

from __future__ import annotations

import itertools
import socket
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from serve.running_server import RunningServer, running
from skilldelta.bank import Bank

CLIENTS = 8


@dataclass
class Client(threading.Thread):
    """One client: what it was promised."""

    url: str
    number: int
    end: float
    accepted: dict[str, int] = field(default_factory=dict)
    """The keys of accepted outcomes, with their decisions."""
    conversations: dict[str, set[int]] = field(default_factory=dict)
    """Every id that a conversation was ever given."""
    tried: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    def __hash__(self) -> int:
        return self.number

    def run(self) -> None:
        with httpx.Client(base_url=self.url, timeout=5) as http:
            for count in itertools.count():
                if time.monotonic() > self.end:
                    return
                conversation = f"{self.number}-{count // 2}"  # each one asks twice
                decision = self._sent(http, "/v1/decide", self._question(conversation, count))
                if decision is None:
                    return
                self.conversations.setdefault(conversation, set()).add(decision["decision_id"])
                key = f"{self.number}-{count}"
                self.tried.add(key)
                outcome = {"decision_id": decision["decision_id"], "success": count % 2, "tokens": count, "key": key}
                if self._sent(http, "/v1/outcomes", outcome) is not None:
                    self.accepted[key] = decision["decision_id"]

    def _question(self, conversation: str, count: int) -> dict[str, object]:
        return {"task": f"convert {count % 20} miles", "skill": "units-skill", "conversation": conversation}

    def _sent(self, http: httpx.Client, path: str, body: dict[str, object]) -> dict[str, int] | None:
        """The answer, however often it has to be asked for; None when the time is up."""
        while time.monotonic() < self.end + 10:
            try:
                answer = http.post(path, json=body)
            except httpx.TransportError:
                time.sleep(0.05)
                continue
            if answer.status_code in (200, 201):
                found: dict[str, int] = answer.json()
                return found
            assert answer.status_code == 503, answer.text
            time.sleep(0.05)
        return None


def test_what_was_accepted_survives_a_kill_once(bank_path: Path) -> None:
    hold_against_kill(bank_path, seconds=5.0)


@pytest.mark.slow
def test_what_was_accepted_survives_a_kill_in_a_minute_of_load(bank_path: Path) -> None:
    clients = hold_against_kill(bank_path, seconds=60.0)
    assert sum(len(client.accepted) for client in clients) > 1_000


def hold_against_kill(bank_path: Path, *, seconds: float) -> list[Client]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with running(bank_path, port=port) as first:
        first.wait_until_ready()
        began = time.monotonic()
        clients = [Client(first.url, number, began + seconds) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        time.sleep(seconds / 2)
        first.kill()
    with running(bank_path, port=port) as second:
        for client in clients:
            client.join(timeout=seconds + 30)
        assert not any(client.is_alive() for client in clients)
        check_clean_end(second)
    check_the_log(bank_path, clients)
    return clients


def check_clean_end(server: RunningServer) -> None:
    assert server.end() in (0, -15)
    assert "Traceback" not in server.log


def check_the_log(bank_path: Path, clients: list[Client]) -> None:
    with Bank.open(bank_path) as bank:
        assert bank.verify() == []
        decisions = bank.decisions()
    kept = [(outcome.key, outcome.decision_id) for decision in decisions for outcome in decision.outcomes]
    accepted = {key: decision for client in clients for key, decision in client.accepted.items()}
    tried = {key for client in clients for key in client.tried}
    assert len(accepted) > 2 * CLIENTS
    assert len(kept) == len(dict(kept))  # no duplicate
    assert accepted.items() <= dict(kept).items()  # nothing accepted is lost
    assert set(dict(kept)) <= tried
    given = [ids for client in clients for ids in client.conversations.values()]
    assert all(len(ids) == 1 for ids in given)  # one decision per conversation, before and after the restart
    assert len({decision.conversation for decision in decisions}) == len(decisions)
