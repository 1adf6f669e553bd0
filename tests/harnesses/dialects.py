"""The four dialects in which agent harnesses talk to models, as far as a fake answer needs them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_USAGE = (100, 7)
"""Tokens in and out that every answer claims."""


@dataclass(frozen=True)
class Reply:
    """A text, or one call of a tool."""

    text: str = ""
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


def of(path: str) -> str:
    """The dialect of a request's path; empty for paths that are not model calls."""
    place = path.partition("?")[0]
    if place.endswith("/messages"):
        return "messages"
    if place.endswith("/responses"):
        return "responses"
    if place.endswith("/chat/completions"):
        return "chat"
    return "gemini" if place.rpartition(":")[2] in ("generateContent", "streamGenerateContent") else ""


def is_streamed(path: str, body: Mapping[str, Any]) -> bool:
    return bool(body.get("stream")) or ":streamGenerateContent" in path


def offers(body: Mapping[str, Any], tool: str) -> bool:
    """Whether a request lets the model call the tool."""
    return f'"{tool}"' in json.dumps(body.get("tools", []))


def encode(dialect: str, reply: Reply, *, streamed: bool) -> tuple[str, bytes]:
    """The content type and body of an answer."""
    events = list(_DIALECTS[dialect](reply, streamed))
    if not streamed:
        return "application/json", json.dumps(events[0]).encode()
    lines = [_event(event, named=dialect in ("messages", "responses")) for event in events]
    ending = "data: [DONE]\n\n" if dialect == "chat" else ""
    return "text/event-stream", ("".join(lines) + ending).encode()


def _event(event: Mapping[str, Any], *, named: bool) -> str:
    name = f"event: {event['type']}\n" if named else ""
    return f"{name}data: {json.dumps(event)}\n\n"


def _chat(reply: Reply, streamed: bool) -> Iterable[dict[str, Any]]:
    function = {"name": reply.tool, "arguments": json.dumps(reply.arguments)}
    calls = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
    message = {"role": "assistant", **({"tool_calls": calls} if reply.tool else {"content": reply.text})}
    finish = "tool_calls" if reply.tool else "stop"
    usage = {"prompt_tokens": _USAGE[0], "completion_tokens": _USAGE[1], "total_tokens": sum(_USAGE)}
    head = {"id": "chat_1", "created": 0, "model": "fake"}
    if not streamed:
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return [{**head, "object": "chat.completion", "choices": [choice], "usage": usage}]
    chunk = {**head, "object": "chat.completion.chunk"}
    return [
        {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**chunk, "choices": [], "usage": usage},
    ]


def _messages(reply: Reply, streamed: bool) -> Iterable[dict[str, Any]]:
    if reply.tool:
        block = {"type": "tool_use", "id": "toolu_1", "name": reply.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": reply.text}
    stop = "tool_use" if reply.tool else "end_turn"
    usage = {"input_tokens": _USAGE[0], "output_tokens": _USAGE[1]}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": [], "usage": usage}
    if not streamed:
        whole = {**block, "input": reply.arguments} if reply.tool else {"type": "text", "text": reply.text}
        return [{**message, "content": [whole], "stop_reason": stop, "stop_sequence": None}]
    return [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


def _responses(reply: Reply, streamed: bool) -> Iterable[dict[str, Any]]:
    if reply.tool:
        call = {"name": reply.tool, "arguments": json.dumps(reply.arguments)}
        item: dict[str, Any] = {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "status": "completed",
            **call,
        }
    else:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    usage = {"input_tokens": _USAGE[0], "output_tokens": _USAGE[1], "total_tokens": sum(_USAGE)}
    response = {"id": "resp_1", "object": "response", "model": "fake", "status": "completed", "output": [item]}
    if not streamed:
        return [{**response, "usage": usage}]
    return [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**response, "usage": usage}},
    ]


def _gemini(reply: Reply, _streamed: bool) -> Iterable[dict[str, Any]]:
    call = {"functionCall": {"name": reply.tool, "args": reply.arguments}}
    parts = [call if reply.tool else {"text": reply.text}]
    usage = {"promptTokenCount": _USAGE[0], "candidatesTokenCount": _USAGE[1], "totalTokenCount": sum(_USAGE)}
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return [{"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}]


_DIALECTS: Mapping[str, Callable[[Reply, bool], Iterable[dict[str, Any]]]] = {
    "chat": _chat,
    "messages": _messages,
    "responses": _responses,
    "gemini": _gemini,
}
