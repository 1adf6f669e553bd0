"""ToolQA's corpora for tests, laid out on disk from the invented ones: tables, texts, and graphs as networkx pickles them."""

from __future__ import annotations

import pickle
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


@contextmanager
def _networkx_names() -> Iterator[dict[bool, type]]:
    """Classes that pickle under the names of networkx's graphs, without networkx."""
    modules = {"networkx": None, "networkx.classes": None, "networkx.classes.graph": "Graph"}
    modules["networkx.classes.digraph"] = "DiGraph"
    before = {name: sys.modules.get(name) for name in modules}
    classes = {}
    for module, name in modules.items():
        sys.modules[module] = types.ModuleType(module)
        if name:
            made = type(name, (), {"__module__": module})
            setattr(sys.modules[module], name, made)
            classes[name == "DiGraph"] = made
    try:
        yield classes
    finally:
        for module, old in before.items():
            if old is None:
                del sys.modules[module]
            else:
                sys.modules[module] = old


def write_corpora(folder: Path, corpus: dict[str, Any]) -> Path:
    for place, text in corpus["files"].items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text)
    graph = corpus["graph"]
    (folder / "dblp").mkdir()
    with _networkx_names() as classes:
        for name in ("paper_net", "author_net"):
            _pickle(folder / "dblp" / f"{name}.pkl", _graph(graph[name], classes))
    for name in ("title2id", "author2id", "id2title", "id2author"):
        _pickle(folder / "dblp" / f"{name}_dict.pkl", graph[name])
    return folder


def _graph(description: dict[str, Any], classes: dict[bool, type]) -> Any:
    made = classes[description["directed"]]()
    made.graph = {}
    made._node = dict(description["nodes"])
    made._adj = {node: {} for node in made._node}
    for start, end, attributes in description["edges"]:
        made._adj[start][end] = attributes
        if not description["directed"]:
            made._adj[end][start] = attributes
    return made


def _pickle(path: Path, content: Any) -> None:
    path.write_bytes(pickle.dumps(content))


def stand_in_search(folder: Path, corpus: dict[str, Any], queries: dict[str, list[float]]) -> Callable[[str, str], str]:
    """Ranks by the stand-in vectors, which test ranking and joining, not an encoder."""
    from skilldelta.paper.suites.lookup_tools import PassageSearch

    vectors = {text: vector for rows in corpus["vectors"].values() for text, vector in rows} | queries

    class Encoder:
        identity = "stand-in"

        def encode(self, texts: Sequence[str]) -> Any:
            rows = np.array([vectors[text] for text in texts], dtype=float)
            return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    return PassageSearch(folder, Encoder()).nearest
