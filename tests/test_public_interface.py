"""The public Python interface does not change unnoticed: its names, signatures and fields are written down beside this file.

After a change that is meant, `python -m tests.test_public_interface` writes it down anew, and the changelog tells users.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import skilldelta
import skilldelta.paper
import skilldelta.studies

_WRITTEN = Path(__file__).with_name("public_interface.txt")


def test_the_public_interface_is_as_written_down() -> None:
    assert _interface() == _WRITTEN.read_text(encoding="utf-8"), (
        "the public interface has changed; if that is meant, run python -m tests.test_public_interface and tell users in "
        "the changelog"
    )


def _interface() -> str:
    lines: list[str] = []
    for module in (skilldelta, skilldelta.paper, skilldelta.studies):
        for name in sorted(module.__all__):
            lines += _described(f"{module.__name__}.{name}", getattr(module, name))
    return "\n".join(lines) + "\n"


def _described(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        yield f"{name}{_signature(value)}"
        for attribute, member in sorted(vars(value).items()):
            if attribute.startswith("_"):
                continue
            if inspect.isfunction(member) or isinstance(member, classmethod | staticmethod):
                yield f"{name}.{attribute}{_signature(getattr(value, attribute))}"
            elif isinstance(member, property):
                yield f"{name}.{attribute}: property"
        if dataclasses.is_dataclass(value):
            yield from (f"{name}.{field.name}: {field.type}" for field in dataclasses.fields(value))
        if issubclass(value, enum.Enum):
            yield from (f"{name}.{member.name}" for member in value)
    elif callable(value):
        yield f"{name}{_signature(value)}"
    elif not name.endswith(".__version__"):
        yield f"{name}: {type(value).__name__}"


def _signature(value: Any) -> str:
    try:
        text = str(inspect.signature(value))
    except ValueError:
        return "(…)"
    # Functions and other objects as defaults print their address.
    return re.sub(r"<([\w. ]+) at 0x[0-9a-f]+>", r"<\1>", text)


if __name__ == "__main__":
    _WRITTEN.write_text(_interface(), encoding="utf-8")
