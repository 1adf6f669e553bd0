"""Inspect AI's models and solvers by the names people give them, with errors that say what to do."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skilldelta.collect.chat_endpoint import reasoning_fields
from skilldelta.collect.graders.function import load_function
from skilldelta.collect.suite import AgentSettings
from skilldelta.errors import InputError, MissingExtraError


def require_inspect() -> None:
    """Import Inspect AI, quiet on the console: the collector has a display of its own."""
    os.environ["INSPECT_DISPLAY"] = "none"
    try:
        from inspect_ai.util._display import init_display_type
    except ImportError:
        raise MissingExtraError("collecting with Inspect AI", "collect") from None
    init_display_type("none")


def inspect_version() -> str:
    """The installed version, part of an agent's fingerprint."""
    try:
        return importlib.metadata.version("inspect_ai")
    except importlib.metadata.PackageNotFoundError:
        raise MissingExtraError("collecting with Inspect AI", "collect") from None


def open_model(name: str, settings: AgentSettings, *, base_url: str, api_key: str, retries: int, timeout: float) -> Any:
    """A model of one of Inspect's providers; an unknown one, or one without key or package, is an InputError."""
    require_inspect()
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.model import GenerateConfig, get_model

    config = GenerateConfig(
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        top_p=settings.top_p,
        stop_seqs=list(settings.stop) or None,
        max_retries=retries,
        attempt_timeout=math.ceil(timeout),
        max_connections=1024,  # the collector itself limits how many executions run at once
        extra_body=reasoning_fields(name, settings) or None,
    )
    place: dict[str, Any] = {"base_url": base_url, "api_key": api_key or "none"} if base_url else {}
    try:
        return get_model(name, config=config, memoize=False, **place)
    except (ValueError, PrerequisiteError, ImportError) as error:
        message = " ".join(re.sub(r"\[/?[a-z]+\]", "", str(error)).split()).removeprefix("ERROR: ")
        raise InputError(f"model {name!r} cannot be used: {message}") from None


def load_solver(reference: str, arguments: Mapping[str, Any], folder: Path) -> Any:
    """A solver from `file.py@name`, from an installed `package/name`, or one of Inspect's own by name.

    An agent is turned into a solver. `folder` is what a file is relative to.
    """
    require_inspect()
    from inspect_ai.agent import as_solver, is_agent
    from inspect_ai.solver import chain

    from_file = "@" in reference
    loaded: Any = load_function(reference.replace("@", ":"), folder, "--solver") if from_file else _named(reference)
    try:
        solver = loaded(**arguments)
        return chain(solver) if isinstance(solver, list) else as_solver(solver) if is_agent(solver) else solver
    except TypeError as error:
        raise InputError(f"solver {reference!r} cannot be made with these arguments: {error}") from None


def describe_solver(reference: str, arguments: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What the fingerprint says about a solver: its name, its arguments, and its file's content where it has one."""
    described: dict[str, Any] = {"name": reference, "arguments": dict(arguments)}
    path = folder / reference.partition("@")[0]
    if "@" in reference and path.is_file():
        described["file"] = hashlib.sha256(path.read_bytes()).hexdigest()
    package = reference.partition("/")[0]
    if "/" in reference and "@" not in reference:
        try:
            described["version"] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            described["version"] = "unknown"
    return described


def _named(reference: str) -> Any:
    import inspect_ai.agent
    import inspect_ai.solver
    from inspect_ai._util.registry import registry_lookup

    if "/" in reference:
        try:
            importlib.import_module(reference.partition("/")[0].replace("-", "_"))
        except ImportError as error:
            raise InputError(f"solver {reference!r}: its package cannot be imported ({error})") from None
        solver = registry_lookup("solver", reference) or registry_lookup("agent", reference)
    else:
        solver = getattr(inspect_ai.solver, reference, None) or getattr(inspect_ai.agent, reference, None)
    if not callable(solver):
        raise InputError(
            f"unknown solver {reference!r}; give generate, code, a solver or agent of Inspect AI such as react, "
            "package/name, or file.py@name"
        )
    return solver
