"""How each command-line harness runs one task without a person: its words, its home, and where its output has what."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skilldelta.collect.execution_errors import IncompleteError
from skilldelta.serve.harness.wanted_setup import HarnessName

Permission = Literal["default", "edits", "full"]


@dataclass(frozen=True, slots=True)
class HarnessReply:
    """What one run of a harness said."""

    answer: str
    tokens: float | None = None
    usd: float | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class HarnessRecipe:
    """One harness: `{prompt}` among the words stands for the task, which otherwise goes to standard input."""

    program: str
    words: tuple[str, ...]
    passed: tuple[str, ...]
    """The person's variables that it needs to reach its model: keys and addresses."""
    read: Callable[[str], HarnessReply]
    home: Mapping[str, str] = field(default_factory=dict)
    """Variables that lead it into the run's own home; `{home}` is that folder."""
    permissions: Mapping[Permission, tuple[str, ...]] = field(default_factory=lambda: {"default": ()})
    """The words of each permission mode that it has."""
    model_option: str = "--model"
    quiet: tuple[str, ...] = ()
    """Variables that keep it from updating itself and from talking to anything but its model."""


def _events(printed: str) -> Iterable[dict[str, Any]]:
    """The lines of an output that are JSON objects; harnesses print warnings between them."""
    for line in printed.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


def _sum(documents: Iterable[Any], *names: str) -> float | None:
    """The sum of the counts of these names that the documents have; None where there is none."""
    values: list[Any] = [one.get(name) for one in documents if isinstance(one, dict) for name in names]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    known = [float(number) for number in numbers if 0 <= number < 1e15]
    return sum(known) if known else None


def _claude_code(printed: str) -> HarnessReply:
    results = [event for event in _events(printed) if event.get("type") == "result"]
    if not results:
        raise IncompleteError(f"the harness printed no 'result' event: {printed.strip()[-160:]!r}")
    result = results[-1]
    if result.get("is_error") or not isinstance(result.get("result"), str):
        raise IncompleteError(f"Claude Code ended with {result.get('subtype')!r}: {str(result.get('result'))[:160]!r}")
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    models = result.get("modelUsage")
    model = next(iter(models), "") if isinstance(models, dict) else ""
    return HarnessReply(result["result"], _sum([result.get("usage")], *names), _sum([result], "total_cost_usd"), model)


def _codex(printed: str) -> HarnessReply:
    events = list(_events(printed))
    if failed := [event for event in events if event.get("type") in ("turn.failed", "error")]:
        raise IncompleteError(f"Codex ended with an error: {json.dumps(failed[-1])[:200]}")
    items = [event.get("item") or {} for event in events if event.get("type") == "item.completed"]
    said = [str(item.get("text", "")) for item in items if item.get("type") == "agent_message"]
    turns = [event.get("usage") for event in events if event.get("type") == "turn.completed"]
    if not turns:
        raise IncompleteError(f"Codex completed no turn: {printed.strip()[-160:]!r}")
    return HarnessReply(said[-1] if said else "", _sum(turns, "input_tokens", "output_tokens"))


def _gemini(printed: str) -> HarnessReply:
    try:
        document = json.loads(printed[printed.index("{") :])
        answer = document["response"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise IncompleteError(f"Gemini CLI printed no answer: {printed.strip()[-160:]!r}") from None
    models = (document.get("stats") or {}).get("models") or {}
    tokens = _sum([(one or {}).get("tokens") for one in models.values()], "total")
    return HarnessReply(str(answer or ""), tokens, model=",".join(models))


def _opencode(printed: str) -> HarnessReply:
    events = list(_events(printed))
    if failed := [event for event in events if event.get("type") == "error"]:
        raise IncompleteError(f"OpenCode ended with an error: {json.dumps(failed[-1].get('error'))[:200]}")
    parts = [event.get("part") or {} for event in events]
    steps = [part for part in parts if part.get("type") == "step-finish"]
    if not steps:
        raise IncompleteError(f"OpenCode finished no step: {printed.strip()[-160:]!r}")
    last = steps[-1].get("messageID")
    said = [str(p.get("text", "")) for p in parts if p.get("type") == "text" and p.get("messageID") == last]
    tokens = _sum([step.get("tokens") for step in steps], "total")
    return HarnessReply("".join(said), tokens, _sum(steps, "cost"))


def _pi(printed: str) -> HarnessReply:
    messages = [event.get("message") or {} for event in _events(printed) if event.get("type") == "message_end"]
    replies = [message for message in messages if message.get("role") == "assistant"]
    if not replies or replies[-1].get("stopReason") in ("error", "aborted"):
        raise IncompleteError(f"pi gave no answer: {json.dumps(replies[-1:])[:200]}")
    content = replies[-1].get("content") or []
    said = [str(part.get("text", "")) for part in content if isinstance(part, dict) and part.get("type") == "text"]
    usages = [reply.get("usage") or {} for reply in replies]
    cost = _sum([usage.get("cost") for usage in usages], "total")
    model = str(replies[-1].get("responseModel") or replies[-1].get("model") or "")
    return HarnessReply("".join(said), _sum(usages, "totalTokens"), cost, model)


_ANY_PROVIDER = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")

RECIPES: Mapping[HarnessName, HarnessRecipe] = {
    "claude-code": HarnessRecipe(
        program="claude",
        words=("-p", "--output-format", "json"),
        permissions={
            "default": (),
            "edits": ("--permission-mode", "acceptEdits"),
            "full": ("--dangerously-skip-permissions",),
        },
        home={"CLAUDE_CONFIG_DIR": "{home}/.claude"},
        passed=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"),
        quiet=("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY"),
        read=_claude_code,
    ),
    "codex": HarnessRecipe(
        program="codex",
        # Hooks have to be trusted by a person first; the only hooks of this home are the ones that were put there.
        words=("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
        permissions={
            "default": ("--sandbox", "read-only"),
            "edits": ("--sandbox", "workspace-write"),
            "full": ("--dangerously-bypass-approvals-and-sandbox",),
        },
        home={"CODEX_HOME": "{home}/.codex"},
        passed=("OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"),
        read=_codex,
    ),
    "gemini": HarnessRecipe(
        program="gemini",
        words=("--output-format", "json"),
        permissions={"default": (), "edits": ("--approval-mode", "auto_edit"), "full": ("--approval-mode", "yolo")},
        passed=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
        quiet=("GEMINI_CLI_TRUST_WORKSPACE",),
        read=_gemini,
    ),
    "opencode": HarnessRecipe(
        program="opencode",
        words=("run", "--format", "json"),
        home={"XDG_CONFIG_HOME": "{home}/.config", "XDG_DATA_HOME": "{home}/.local/share"},
        passed=_ANY_PROVIDER,
        quiet=("OPENCODE_DISABLE_AUTOUPDATE",),
        read=_opencode,
    ),
    "pi": HarnessRecipe(
        program="pi",
        words=("-p", "--mode", "json"),
        home={"PI_CODING_AGENT_DIR": "{home}/.pi/agent"},
        passed=_ANY_PROVIDER,
        read=_pi,
    ),
    "dsh": HarnessRecipe(
        program="dsh",
        words=("--profile", "headless", "{prompt}"),
        model_option="",
        home={"DSH_HOME": "{home}/.dsh"},
        passed=("DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"),
        read=lambda printed: HarnessReply(printed.strip()),
    ),
}
