"""Settings that people write, in YAML and TOML, parsed within limits: no aliases, no depth, no number without an end.

An alias makes a file of a kilobyte into a document of gigabytes, and nobody needs one in settings.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import yaml

from skilldelta.errors import InputError

# Bytes of a settings file.
MOST_SETTINGS = 1 << 20
_DEEPEST = 32


def yaml_value(text: str, where: str) -> Any:
    """What a YAML text says; `where` names it in messages."""
    with _faults_of(where):
        return yaml.load(text, _Loader)


def toml_table(text: str, where: str) -> dict[str, Any]:
    """What a TOML text says; `where` names it in messages."""
    with _faults_of(where):
        return tomllib.loads(text)


@contextmanager
def _faults_of(where: str) -> Iterator[None]:
    """Whatever a parser says against a text, as one line."""
    try:
        yield
    except yaml.YAMLError as error:
        raise InputError(f"{where}: not valid YAML: {' '.join(str(error).split())[:300]}") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not valid TOML ({str(error)[:200]}); fix the line or remove the file") from None
    except RecursionError:
        raise InputError(f"{where}: nested too deeply; flatten it") from None
    except (ValueError, OverflowError) as error:  # a date that does not exist, a number of thousands of digits
        raise InputError(f"{where}: a value cannot be read ({str(error)[:120]}); fix it") from None


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader without aliases, to a limited depth, and with every key once."""

    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="aliases (*name) are not taken here", problem_mark=event.start_mark)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise RecursionError
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in keys:
                    problem = f"the key {key.value[:60]!r} stands twice"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
                keys.add(key.value)
        return super().construct_mapping(node, deep)
