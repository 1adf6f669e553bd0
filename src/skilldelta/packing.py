"""Frozen dataclasses of numbers, words and arrays as bytes, and back. Never pickle: what is read is data, not code.

One JSON header says how values nest; the arrays follow as raw bytes. Whatever is not exactly that is refused: another
class than SkillDelta's own dataclasses, an array of objects, a number that is not finite, a byte too few or too many.
Neither NPZ nor safetensors would do: they hold named arrays, without what nests them, and keep no memory layout.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

_MAGIC = b"SkDlP1\n"
# Floats, integers, flags and words; nothing that could hold an object.
_KINDS = "fiubU"
_HOME = "skilldelta."
# Where classes of learned states live that may have to be loaded first. Nothing else is loaded because data names it: to
# load `skilldelta.__main__` would run a command.
_LOADABLE = "skilldelta.estimators."


class DamagedError(ValueError):
    """Bytes that `pack` did not make, or not all of them."""


def pack(value: object) -> bytes:
    """A dataclass, or anything it may hold: numbers, words, None, arrays, tuples, lists, mappings, dataclasses."""
    arrays: list[NDArray[Any]] = []
    tree = _tree(value, arrays)
    shapes = [[array.dtype.str, list(array.shape), _is_fortran(array)] for array in arrays]
    header = json.dumps({"tree": tree, "arrays": shapes}, separators=(",", ":")).encode()
    blobs = [array.tobytes("F" if _is_fortran(array) else "C") for array in arrays]
    return b"".join([_MAGIC, len(header).to_bytes(8, "little"), header, *blobs])


def unpack(data: bytes, kind: type[T]) -> T:
    """What was packed; DamagedError where it is damaged, or something else than a `kind`."""
    try:
        start = len(_MAGIC) + 8
        size = int.from_bytes(data[len(_MAGIC) : start], "little")
        if data[: len(_MAGIC)] != _MAGIC or start + size > len(data):
            raise DamagedError("not a packed value")
        header = json.loads(data[start : start + size])
        value = _value(header["tree"], _arrays(header["arrays"], data, start + size))
    except (ArithmeticError, AttributeError, ImportError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise DamagedError(f"{type(error).__name__}: {error}") from None
    if not isinstance(value, kind):
        raise DamagedError(f"a {type(value).__name__} and not a {kind.__name__}")
    return value


def _tree(value: object, arrays: list[NDArray[Any]]) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float | np.integer | np.floating):
        number = int(value) if isinstance(value, int | np.integer) else float(value)
        return _finite(number)
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if is_dataclass(value) and not isinstance(value, type):
        held = {field.name: _tree(getattr(value, field.name), arrays) for field in fields(value) if field.init}
        return {"class": f"{type(value).__module__}:{type(value).__qualname__}", "held": held}
    if isinstance(value, Mapping):
        if all(type(key) is str and type(item) is int for key, item in value.items()):
            return {"numbers": dict(value)}  # a vocabulary: tens of thousands of words, as JSON has them
        return {"mapping": [[_tree(key, arrays), _tree(item, arrays)] for key, item in value.items()]}
    if isinstance(value, tuple | list):
        return {type(value).__name__: [_tree(item, arrays) for item in value]}
    raise TypeError(f"a {type(value).__name__} cannot be packed")


def _value(tree: Any, arrays: list[NDArray[Any]]) -> Any:
    if not isinstance(tree, dict):
        return _finite(tree) if isinstance(tree, int | float) else tree
    if "array" in tree:
        return arrays[tree["array"]]
    if "class" in tree:
        return _class(tree["class"])(**{name: _value(held, arrays) for name, held in tree["held"].items()})
    if "numbers" in tree:
        if not all(type(item) is int for item in tree["numbers"].values()):
            raise DamagedError("a number is not whole")
        return tree["numbers"]
    if "mapping" in tree:
        return {_value(key, arrays): _value(item, arrays) for key, item in tree["mapping"]}
    ((name, items),) = tree.items()
    return {"tuple": tuple, "list": list}[name](_value(item, arrays) for item in items)


def _class(name: str) -> Any:
    """One of SkillDelta's own dataclasses; any other name is damage."""
    module, _, qualified = name.partition(":")
    if module.startswith(_LOADABLE):
        importlib.import_module(module)
    kind = getattr(sys.modules.get(module), qualified, None) if module.startswith(_HOME) else None
    if not (isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module):
        raise DamagedError(f"{name} is no class to hold data")
    return kind


def _arrays(shapes: list[Any], data: bytes, at: int) -> list[NDArray[Any]]:
    arrays = []
    for name, shape, is_fortran in shapes:
        dtype = np.dtype(name)
        count = math.prod(int(side) for side in shape)
        if dtype.kind not in _KINDS or min(shape, default=0) < 0 or at + count * dtype.itemsize > len(data):
            raise DamagedError(f"no array of {name} {shape} is here")
        flat = np.frombuffer(data, dtype, count, at)
        if dtype.kind == "f" and not np.isfinite(flat).all():
            raise DamagedError("a number is not finite")
        arrays.append(flat.reshape(shape, order="F" if is_fortran else "C").copy("K"))
        at += count * dtype.itemsize
    if at != len(data):
        raise DamagedError(f"{len(data) - at} bytes too many")
    return arrays


def _is_fortran(array: NDArray[Any]) -> bool:
    """Kept as it lies in memory: a product of the same numbers in another layout may differ in its last digit."""
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise DamagedError("a number is not finite")
    return number
