"""The tools whose files are read: the package's own, and those that other packages bring as entry points.

An entry point of the group `skilldelta.importers` names a `ToolFormat`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from types import MappingProxyType

from skilldelta.bank.importers.tool_run import ToolFormat
from skilldelta.errors import InputError

GROUP = "skilldelta.importers"
_OWN = (
    *("skill_creator", "inspect_logs", "agent_skill_evals", "harbor_jobs", "benchflow_jobs", "skillevaluation"),
    *("promptfoo", "waza", "dotnet_validator", "vally", "skillgrade"),
)
"""The modules of `tools`, the most telling layouts first."""


@cache
def tool_formats() -> Mapping[str, ToolFormat]:
    """Every format by its name."""
    found = {one.name: one for one in _own()}
    for point, one in _installed():
        if one.name in found:
            raise InputError(f"{_origin(point)} names its format {one.name!r}, which is taken; uninstall or rename it")
        found[one.name] = one
    return MappingProxyType(found)


def _own() -> Iterator[ToolFormat]:
    for name in _OWN:
        module = importlib.import_module(f"skilldelta.bank.importers.tools.{name}")
        yield module.FORMAT


def _installed() -> Iterator[tuple[metadata.EntryPoint, ToolFormat]]:
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda one: one.name):
        try:
            loaded = point.load()
        except Exception as error:  # another package's code may raise anything
            raise InputError(f"{_origin(point)} cannot be loaded ({error}); repair or uninstall it") from error
        if not isinstance(loaded, ToolFormat):
            raise InputError(f"{_origin(point)}: {point.value} is no ToolFormat; repair or uninstall the package")
        yield point, loaded


def _origin(point: metadata.EntryPoint) -> str:
    """`package 1.0`, as installed."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
