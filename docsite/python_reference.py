"""The public names of the package, as directives that mkdocstrings fills in from signatures and docstrings."""

from __future__ import annotations

import inspect

import skilldelta


def python_reference() -> str:
    """A table of the names with the first sentence of each, then one section for each."""
    names = sorted((name for name in skilldelta.__all__ if name != "__version__"), key=str.casefold)
    rows = [f"| [`{name}`][skilldelta.{name}] | {_first_sentence(name)} |" for name in names]
    sections = [f"::: skilldelta.{name}\n" for name in names]
    return "\n".join(["| name | what it is |", "|---|---|", *rows, "", *sections])


def _first_sentence(name: str) -> str:
    lines = (inspect.getdoc(getattr(skilldelta, name)) or "").split("\n\n")[0]
    return " ".join(lines.split()).replace("|", "&#124;")
