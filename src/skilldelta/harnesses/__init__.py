"""Agent harnesses: Claude Code, Codex and their like. One file says everything about one of them.

A package adds a harness with an entry point in the group `skilldelta.harnesses`, whose name is the harness's and whose value
is a `Harness`. `install`, `hook`, `doctor` and `collect --harness` then know it.

    [project.entry-points."skilldelta.harnesses"]
    acme = "acme_skilldelta:HARNESS"
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as `typing` has it; every hook of an agent harness would wait for its import
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from skilldelta.harnesses.harness import Harness

GROUP = "skilldelta.harnesses"
# The module of each harness that is part of SkillDelta, loaded when it is asked for.
_OWN = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "pi": "pi",
    "dsh": "dsh",
}


def harness_named(name: str) -> Harness:
    """The harness with that name.

    Raises:
        InputError: nobody has declared it, or its package cannot be loaded.

    Example:
        >>> harness_named("claude-code").program
        'claude'
    """
    if name in _OWN:
        declared: Harness = import_module(f"skilldelta.harnesses.{_OWN[name]}").HARNESS
        return declared
    from skilldelta.errors import InputError, unknown_name
    from skilldelta.harnesses.harness import Harness

    point = _declared_elsewhere().get(name)
    if point is None:
        raise unknown_name("harness", name, harness_names())
    try:
        loaded = point.load()
    except Exception as error:
        package = point.dist.name if point.dist else point.value
        raise InputError(f"the harness {name} of {package} cannot be loaded ({error}); update or remove it") from error
    if not isinstance(loaded, Harness) or loaded.name != name:
        raise InputError(f"the harness {name} is declared by {point.value}, which is no Harness of that name")
    return loaded


def harness_names() -> tuple[str, ...]:
    """Every harness that is known here, SkillDelta's own first."""
    return (*_OWN, *(name for name in sorted(_declared_elsewhere()) if name not in _OWN))


def _declared_elsewhere() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}
