"""Attacks with texts: regular expressions that take very long on what somebody else wrote."""

from __future__ import annotations

import importlib
import pkgutil
import random
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from re import _parser as sre_parser  # type: ignore[attr-defined]
from types import FrameType
from typing import Any

import skilldelta
from attacks.attack import Tries, attack
from attacks.on_hooks import needs_unix
from skilldelta.redaction import redacted

_LENGTH, _LIMIT = 5_000, 1.0


def patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Every compiled expression that a module of the package holds, by the place of the first that has it."""
    result: dict[str, tuple[str, re.Pattern[str]]] = {}
    for module in pkgutil.walk_packages(skilldelta.__path__, "skilldelta."):
        if module.name.endswith("__main__") or ".migrations." in module.name:
            continue
        try:
            names = vars(importlib.import_module(module.name))
        except ImportError:  # an optional package is not installed
            continue
        for name, value in names.items():
            for number, one in enumerate(value if isinstance(value, tuple | list) else [value]):
                if isinstance(one, re.Pattern) and isinstance(one.pattern, str):
                    result.setdefault(one.pattern, (f"{module.name}.{name}[{number}]", one))
    return list(result.values())


def _pieces(tree: Any, rng: random.Random) -> Iterator[str]:
    """Short texts that parts of an expression match."""
    for kind, value in tree:
        name = str(kind)
        if name == "LITERAL":
            yield chr(value)
        elif name == "IN":
            yield from (_member(item) for item in value if str(item[0]) in ("LITERAL", "RANGE", "CATEGORY"))
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            inner = list(_pieces(value[2], rng))
            yield from inner
            yield "".join(inner[:6])
        elif name == "SUBPATTERN":
            inner = list(_pieces(value[3], rng))
            yield from inner
            yield "".join(inner[:12])
        elif name == "BRANCH":
            for branch in value[1]:
                inner = list(_pieces(branch, rng))
                yield from inner
                yield "".join(inner)
        elif name in ("ANY", "NOT_LITERAL", "CATEGORY"):
            yield "a"


def _member(item: Any) -> str:
    kind, value = str(item[0]), item[1]
    if kind == "LITERAL":
        return chr(value)
    if kind == "RANGE":
        return chr(value[0])
    return {"CATEGORY_SPACE": " ", "CATEGORY_DIGIT": "7", "CATEGORY_WORD": "a"}.get(str(value), "-")


class _TooLongError(Exception):
    pass


def _raise(_signal: int, _frame: FrameType | None) -> None:
    raise _TooLongError


@attack("texts", "regular expressions on texts made to let them search for long", tries=1_200, few=0, needs=needs_unix)
def long_searches(folder: Path, tries: int) -> Tries:
    """Every expression of the package, on repetitions of what its parts match, with an end that does not match."""
    rng = random.Random(7)
    every = patterns()
    pieces = [[*sorted(set(_pieces(sre_parser.parse(one.pattern), rng))), "a", " ", "\n"] for _, one in every]
    before = signal.signal(signal.SIGALRM, _raise)
    slowest = 0.0
    try:
        for number in range(tries):
            place, one = every[number % len(every)]
            parts = pieces[number % len(every)]
            unit = "".join(rng.choices(parts, k=rng.randrange(1, 5))) or "a"
            start = "".join(rng.choices(parts, k=rng.randrange(0, 6)))
            text = start + unit * (_LENGTH // len(unit)) + rng.choice(["\x00", "!", "", "\n\x00", "\u2028"])
            began = time.process_time()
            signal.setitimer(signal.ITIMER_REAL, 10 * _LIMIT)
            try:
                one.search(text)
            except _TooLongError:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            seconds = time.process_time() - began
            slowest = max(slowest, seconds)
            yield f"{place}: {seconds:.1f} s on {start!r} + {unit!r} repeated" if seconds > _LIMIT else ""
    finally:
        signal.signal(signal.SIGALRM, before)
    return f"{len(every)} expressions; the slowest search of {_LENGTH:,} characters took {1e3 * slowest:.0f} ms"


@attack("texts", "messages on which masking secrets could take long", tries=2_000, few=200)
def long_masking(folder: Path, tries: int) -> Tries:
    """Texts of ten thousand characters, of the words and marks by which secrets are known."""
    rng = random.Random(8)
    pieces = ["-", "--", "_", "a", "key", "token", "=", " ", "'", '"', "://", "@", ":", "&", "?", "bearer ", "sk-", "x_",
              "secret", "API_KEY", "http://", "\n", ";", "A" * 12, "auth", "sig"]  # fmt: skip
    slowest = 0.0
    for _ in range(tries):
        unit = "".join(rng.choices(pieces, k=rng.randrange(1, 6)))
        began = time.process_time()
        redacted(unit * (10_000 // len(unit)))
        seconds = time.process_time() - began
        slowest = max(slowest, seconds)
        yield f"{seconds:.1f} s on {unit!r} repeated" if seconds > _LIMIT else ""
    return f"the slowest took {1e3 * slowest:.0f} ms"
