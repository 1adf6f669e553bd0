"""Edits of JSON files that other people own: comments, order and spelling of everything else stay as they are.

Comments and trailing commas are read, because some harnesses allow them in their settings. A file that is not JSON even
then is refused, never guessed at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from skilldelta.errors import InputError

_SKIPPED = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"[-+.\w]+")
# Levels of a settings file: the edit is recursive.
_DEEPEST = 200
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands in the text."""

    value: Any
    start: int
    end: int
    members: dict[str, Node] = field(default_factory=dict)
    """Of an object."""
    elements: tuple[Node, ...] = ()
    """Of an array."""
    begin: int = -1
    """Where a member, at its key, or an element begins."""

    @property
    def held(self) -> list[Node]:
        """The members or elements."""
        return [*self.members.values(), *self.elements]


def parse(text: str) -> Node:
    """The value of a text; an empty one is an empty object."""
    if not text[_skip(text, 0) :]:
        return Node({}, len(text), len(text))
    node = _value(text, _skip(text, 0), 0)
    rest = _skip(text, node.end)
    if rest < len(text):
        raise _fault(text, rest, "something follows the end")
    return node


def appended(text: str, path: Sequence[str], element: object) -> str:
    """The text with one more element in the array at a path of keys; keys that are missing on the way are added."""
    root = parse(text)
    if root.start == root.end:  # nothing but blanks and comments
        return text + _pretty(_nested(path, [element]), 0) + "\n"
    node, depth = root, 0
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise InputError(f"{'.'.join(path[:depth]) or 'the file'} is no JSON object, so nothing can be put into it")
        if key not in node.members:
            member = f"{json.dumps(key)}: {_pretty(_nested(path[depth + 1 :], [element]), depth + 1)}"
            return _inserted(text, node, member, depth + 1)
        node = node.members[key]
    if not isinstance(node.value, list):
        raise InputError(f"{'.'.join(path)} is no JSON array, so nothing can be added to it")
    return _inserted(text, node, _pretty(element, len(path) + 1), len(path) + 1)


def with_member(text: str, path: Sequence[str], value: object) -> str:
    """The text with a value at a path of keys, in place of the one that is there; missing keys are added."""
    root = parse(text)
    if root.start == root.end:  # nothing but blanks and comments
        return text + _pretty(_nested(path, value), 0) + "\n"
    node = root
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise InputError(f"{'.'.join(path[:depth]) or 'the file'} is no JSON object, so nothing can be put into it")
        if key not in node.members:
            member = f"{json.dumps(key)}: {_pretty(_nested(path[depth + 1 :], value), depth + 1)}"
            return _inserted(text, node, member, depth + 1)
        node = node.members[key]
    return text[: node.start] + _pretty(value, len(path)) + text[node.end :]


def without(text: str, path: Sequence[str], is_ours: Callable[[Any], bool]) -> str:
    """The text without the elements of an array that are ours; containers that this empties go with them."""
    node = _at(parse(text), path)
    if node is None or not isinstance(node.value, list):
        return text
    ours = [i for i, element in enumerate(node.elements) if is_ours(element.value)]
    if not ours:
        return text
    if len(ours) == len(node.elements):
        return without_member(text, path)
    for i in reversed(ours):
        text = _cut(text, _at(parse(text), path), i)
    return text


def without_member(text: str, path: Sequence[str]) -> str:
    """Without the member at a path, and without the objects that hold nothing else."""
    *above, key = path
    while above and len((_at(parse(text), above) or parse(text)).members) == 1:
        *above, key = above
    holder = _at(parse(text), above)
    assert holder is not None
    return _cut(text, holder, list(holder.members).index(key))


def _cut(text: str, holder: Node | None, at: int) -> str:
    """Without one member or element, its comma, and the blanks before it."""
    assert holder is not None
    held = holder.held
    if at + 1 < len(held):
        return text[: held[at].begin] + text[held[at + 1].begin :]
    before = held[at - 1].end if at else holder.start + 1
    return text[:before] + text[held[at].end :].removeprefix(",") if at else text[:before] + text[holder.end - 1 :]


def _inserted(text: str, holder: Node, addition: str, depth: int) -> str:
    """With an addition at the end of an object or array, on a line of its own."""
    close, pad = holder.end - 1, "\n" + _INDENT * depth
    if not holder.held:
        inside = text[holder.start + 1 : close].rstrip()
        return text[: holder.start + 1] + inside + pad + addition + "\n" + _INDENT * (depth - 1) + text[close:]
    last = holder.held[-1]
    after = _skip(text, last.end)
    if text[after] == ",":  # a trailing comma serves the addition
        return text[: after + 1] + pad + addition + text[after + 1 :]
    return text[: last.end] + "," + pad + addition + text[last.end :]


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _pretty(value: object, depth: int) -> str:
    return json.dumps(value, indent=len(_INDENT), ensure_ascii=False).replace("\n", "\n" + _INDENT * depth)


def _at(node: Node, path: Sequence[str]) -> Node | None:
    for key in path:
        if key not in node.members:
            return None
        node = node.members[key]
    return node


# Reading


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise _fault(text, at, "it is nested too deeply")
    opening = text[at : at + 1]
    if opening == "{":
        return _object(text, at, depth)
    if opening == "[":
        return _array(text, at, depth)
    if opening == '"':
        return _string(text, at)
    match = _SCALAR.match(text, at)
    try:
        return Node(json.loads(match[0] if match else ""), at, match.end() if match else at)
    except ValueError:
        raise _fault(text, at, "a value is expected") from None


def _string(text: str, at: int) -> Node:
    try:
        value, end = json.decoder.scanstring(text, at + 1)  # type: ignore[attr-defined]
    except ValueError:
        raise _fault(text, at, "a text does not end") from None
    return Node(value, at, end)


def _object(text: str, start: int, depth: int) -> Node:
    members: dict[str, Node] = {}
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise _fault(text, at, "a key in quotes is expected")
        key = _string(text, at)
        at = _skip(text, key.end)
        if text[at : at + 1] != ":":
            raise _fault(text, at, "a colon is expected")
        if key.value in members:
            raise _fault(text, key.start, f"the key {key.value[:60]!r} stands twice")
        node = replace(_value(text, _skip(text, at + 1), depth + 1), begin=key.start)
        members[key.value] = node
        at = _next(text, node.end, "}")
    return Node({key: node.value for key, node in members.items()}, start, at + 1, members)


def _array(text: str, start: int, depth: int) -> Node:
    elements: list[Node] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        elements.append(replace(_value(text, at, depth + 1), begin=at))
        at = _next(text, elements[-1].end, "]")
    return Node([node.value for node in elements], start, at + 1, {}, tuple(elements))


def _next(text: str, at: int, closing: str) -> int:
    """Behind a comma, or at the end of the container."""
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] != closing:
        raise _fault(text, at, f"a comma or {closing} is expected")
    return at


def _skip(text: str, at: int) -> int:
    match = _SKIPPED.match(text, at)
    return match.end() if match else at


def _fault(text: str, at: int, what: str) -> InputError:
    line = text.count("\n", 0, at) + 1
    return InputError(f"line {line}: not valid JSON, {what}")
