"""What the cases of an eval.yaml ask, by their names: results of some tools do not repeat it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.tools.plain_values import JsonFields
from skilldelta.errors import InputError
from skilldelta.files import read_bytes

_NAMES = ("eval.yaml", "eval.yml", "evals/eval.yaml", "evals/eval.yml", "evals.yaml")
_MOST_BYTES = 4 << 20


def eval_prompts(tree: ResultTree) -> Mapping[str, str]:
    """Case names to prompts, of the files named so among the results and in the folders around them."""
    prompts: dict[str, str] = {}
    for content in _contents(tree):
        try:
            document = yaml.safe_load(content)
        except (yaml.YAMLError, RecursionError, ValueError):
            continue
        for case in JsonFields(document).rows("cases"):
            text = case.text("prompt", "user_prompt") or case.inner("task").text("user_prompt", "prompt")
            if text:
                prompts.setdefault(case.text("name", "id", "case_id"), text)
    return prompts


def _contents(tree: ResultTree) -> Iterable[Any]:
    for name in tree.names:
        if not tree.is_file and any(name == file_name or name.endswith(f"/{file_name}") for file_name in _NAMES):
            yield tree.read(name, most=_MOST_BYTES)
    if not tree.on_disk:
        return
    for above in list(Path(os.path.abspath(tree.root)).parents)[:4]:
        for name in _NAMES:
            path = above / name
            if path.is_file() and not path.is_symlink():
                try:
                    yield read_bytes(path, most=_MOST_BYTES)
                except InputError:
                    continue
