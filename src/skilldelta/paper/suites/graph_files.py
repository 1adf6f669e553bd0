"""ToolQA's two citation graphs, converted once from their pickles into JSON: the answers of every check, by name.

A pickle can run code when it is read. It is therefore read in the sandbox, and even there with an unpickler that knows
nothing but plain containers and graphs of networkx, for which a stand-in holds the data; networkx is not needed.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from skilldelta.collect.sandbox import Limits, Payload, Sandbox
from skilldelta.errors import InputError
from skilldelta.files import json_document, write_text

GRAPHS = ("PaperNet", "AuthorNet")
FILES = ("paper_net", "author_net", "title2id_dict", "author2id_dict", "id2title_dict", "id2author_dict")
_LIMITS = Limits(seconds=1800.0, memory_mb=8192, disk_mb=8192, processes=16)
_CONVERTER = """\
import collections, json, pickle, sys

class Plain:
    def __new__(cls, *arguments, **options):
        return object.__new__(cls)
    def __init__(self, *arguments, **options):
        pass
    def __setstate__(self, state):
        self.__dict__.update(state[0] or {} if isinstance(state, tuple) else state)

ALLOWED = {("builtins", name): getattr(__builtins__, name) for name in (
    "dict", "list", "set", "frozenset", "tuple", "str", "int", "float", "bool", "bytes", "object", "complex")}
ALLOWED.update({("collections", name): getattr(collections, name) for name in ("OrderedDict", "defaultdict", "Counter")})
ALLOWED[("copyreg", "_reconstructor")] = lambda cls, base, state: object.__new__(cls)

class Reader(pickle.Unpickler):
    def find_class(self, module, name):
        module = {"__builtin__": "builtins", "copy_reg": "copyreg"}.get(module, module)
        if (module, name) in ALLOWED:
            return ALLOWED[module, name]
        if module.split(".")[0] == "networkx":
            return Plain
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a graph")

def read(name):
    with open(f"/workspace/{name}.pkl", "rb") as file:
        return Reader(file).load()

def answers(graph, id_of, name_of, titles):
    nodes, neighbours, edges = {}, {}, {}
    names_of = {}
    for name, node in id_of.items():
        names_of.setdefault(node, []).append(name)
    own, near = graph._node, graph._adj
    for name, node in id_of.items():
        if node not in own:
            continue
        nodes[name] = str(own[node])
        try:
            neighbours[name] = str([name_of[other] for other in near.get(node, {})])
        except KeyError:
            pass
        for other, attributes in near.get(node, {}).items():
            try:
                shown = {key: [titles[paper] for paper in value] if key == "papers" else value
                         for key, value in attributes.items()}
            except KeyError:
                continue
            for other_name in names_of.get(other, ()):
                edges.setdefault(name, {})[other_name] = str(shown)
    return {"nodes": nodes, "neighbours": neighbours, "edges": edges}

titles = read("id2title_dict")
made = {
    "PaperNet": answers(read("paper_net"), read("title2id_dict"), titles, titles),
    "AuthorNet": answers(read("author_net"), read("author2id_dict"), read("id2author_dict"), titles),
}
with open("/workspace/graphs.json", "w") as file:
    json.dump(made, file)
"""


def has_graphs(corpora: Path) -> bool:
    """Whether the six files of the graphs are there."""
    return all((corpora / "dblp" / f"{name}.pkl").is_file() for name in FILES)


async def load_graphs(corpora: Path, cache: Path, sandbox: Sandbox) -> dict[str, Any]:
    """The answers of both graphs, converted on first use into the folder `cache`."""
    target = cache / "graphs.json"
    if not target.is_file():
        await _convert(corpora, target, sandbox)
    return dict(json_document(target))


async def _convert(corpora: Path, target: Path, sandbox: Sandbox) -> None:
    with tempfile.TemporaryDirectory(prefix="skilldelta-") as folder:
        work = Path(folder) / "work"
        work.mkdir()
        for name in FILES:
            await asyncio.to_thread(shutil.copyfile, corpora / "dblp" / f"{name}.pkl", work / f"{name}.pkl")
        finished = await sandbox.run(Payload([sandbox.python, "-I", "-c", _CONVERTER], _LIMITS, "", work))
        made = work / "graphs.json"
        if finished.exit_code != 0 or made.is_symlink() or not made.is_file():
            lines = finished.stderr.strip().splitlines()
            raise InputError(
                f"{corpora / 'dblp'}: the graphs cannot be read: {lines[-1] if lines else finished.stopped}"
            )
        converted = json.loads(made.read_text("utf-8"))
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text(target, json.dumps(converted))
