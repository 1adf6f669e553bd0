"""What a hook was set up with: the skills on offer, whom to ask, and what to do when nobody answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from skilldelta.harnesses.harness import Dialect
from skilldelta.harnesses.offered_skill import Delivery, OfferedSkill, Part
from skilldelta.serve.hooks.server_client import ServerAddress

WhomToAsk = Literal["auto", "server", "bank"]
"""`auto` is the server, and where none answers the bank, in this process."""
Fallback = Literal["use", "skip", "abstain"]


class HookSettings(NamedTuple):
    """Everything but the event itself."""

    host: str
    """The harness's name."""
    dialect: Dialect
    skills: tuple[OfferedSkill, ...]
    agent: str = ""
    suite: str = ""
    gate: Mapping[str, Any] = {}
    """Settings of the decision, as the server takes them; what is not said is the server's own."""
    server: ServerAddress = ServerAddress()
    ask: WhomToAsk = "auto"
    fallback: Fallback = "skip"
    part: Part = Part()
    delivery: Delivery = "text"
    record: bool = True
    """Whether decisions go into the bank's log."""
    state: Path | None = None
    """The folder of what was decided in each conversation; None keeps nothing."""
