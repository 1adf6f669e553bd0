"""Names that were replaced: options, files, banks and requests may still use them, and one note names the new one."""

from __future__ import annotations

import warnings

# Old name to new name, by what is named.
ESTIMATORS = {"skilldelta": "paper", "stack": "blend"}
INTERVALS = {"stack": "blend"}
SCOPES = {"auto": "skill-family", "paper": "family"}


class RenamedWarning(UserWarning):
    """An old name was understood; the message says which one took its place."""


def renamed(kind: str, name: str, new_names: dict[str, str]) -> str:
    """The present name of something, with a warning where an old one was given.

    Examples:
        >>> renamed("estimator", "ridge", ESTIMATORS)
        'ridge'
    """
    if name not in new_names:
        return name
    warnings.warn(f"the {kind} {name} is now called {new_names[name]}", RenamedWarning, stacklevel=3)
    return new_names[name]


def estimator_name(name: str) -> str:
    """The present name of an estimator or of a policy; `family-mean` is `family_mean`.

    Examples:
        >>> estimator_name("family-mean")
        'family_mean'
    """
    return renamed("estimator", name, ESTIMATORS).replace("-", "_")
