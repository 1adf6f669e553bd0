"""HTML by small functions: every child that is not already `Markup` is escaped, so user text is always inert.

Also JSON inside a script element, where `</script>` in a task text must not end the element.
"""

from __future__ import annotations

import html
import json
from typing import Any

from skilldelta.files import jsonable

_VOID = frozenset({"meta", "br", "hr", "input", "col"})


class Markup(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()


def element(tag: str, /, *children: str | None, **attributes: str | bool | None) -> Markup:
    """One element; `class_` and `data_x` become class and data-x, None and False attributes are left out."""
    opening = f"<{tag}{_attributes(attributes)}>"
    if tag in _VOID:
        return Markup(opening)
    return Markup(f"{opening}{join(*children)}</{tag}>")


def join(*children: str | None) -> Markup:
    """Children one after another, plain text escaped, None left out."""
    return Markup("".join(escape(child) for child in children if child is not None))


def escape(text: str) -> Markup:
    """Markup as it is, other text with its five special characters as entities."""
    return text if isinstance(text, Markup) else Markup(html.escape(text, quote=True))


def json_script(name: str, value: Any) -> Markup:
    """A JSON data block that a script reads by its id; no character in it can end the element."""
    return element("script", Markup(script_safe_json(value)), type="application/json", id=name)


def script_safe_json(value: Any) -> str:
    """Compact JSON whose `<`, `>`, `&` and line separators are escapes; what is not finite is null."""
    text = json.dumps(jsonable(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_SCRIPT_ESCAPES)


_SCRIPT_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def _attributes(attributes: dict[str, str | bool | None]) -> str:
    parts = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name = key.rstrip("_").replace("_", "-")
        parts.append(f" {name}" if value is True else f' {name}="{html.escape(str(value), quote=True)}"')
    return "".join(parts)
