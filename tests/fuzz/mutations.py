"""Hostile variants of a good document, the same for the same seed: torn, nested, enormous, of the wrong kind or encoding."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2.5, 1e308, -1e308, 10**30, "", " ", "\x00", "\ud800", "\u2028x", "[/x]", "../..", "~"),
    *("a" * 5_000, [], {}, [[]], [None], {"": None}, {"type": []}, [{"a": 1}] * 3, "inf", "nan", "1e999", "NaN"),
)
ODD_TEXTS: tuple[bytes, ...] = (
    *(b"", b"\x00", b"\xff\xfe", b"\xff", b"\xef\xbb\xbf", b"\xc3\x28", b"\xed\xa0\x80", b"\x1b[2J", b"\r", b"\x0b"),
    *("\u2028".encode(), "\u0085".encode(), b"[" * 3_000, b"{" * 3_000, b'{"a":' * 3_000, b"9" * 5_000),
    *(b"- " * 2_000, b"a: &a [*a]\n", b"&x [1]\n*x\n", b"!!python/object:os.system", b"<<: *x", b"? ? ?", b"\t- x"),
    *(b"k = inf\n", b"k = nan\n", b"[[a]]\n[a]\n", b"a.b.c.d = 1\n", b"2026-99-99", b"1e999", b"0x" + b"f" * 5_000),
    *(b"[" + b"a." * 2_000 + b"a]\n", b"NaN", b"Infinity", b'"\\ud800"', b"#", b"---\n---\n", b"%YAML 9.9\n"),
)


def hostile_bytes(good: bytes, seed: int) -> Iterator[bytes]:
    """Endless variants: bytes changed, cut, doubled, and odd texts put in."""
    rng = random.Random(seed)
    while True:
        made = bytearray(good)
        for _ in range(rng.choice((1, 1, 1, 2, 5))):
            _damage(made, rng)
        yield bytes(made)


def hostile_documents(good: Any, seed: int) -> Iterator[Any]:
    """Endless variants of a JSON-like value: parts replaced by odd values, removed, doubled, renamed."""
    rng = random.Random(seed)
    while True:
        made = json.loads(json.dumps(good))
        for _ in range(rng.choice((1, 1, 2, 3))):
            made = _changed(made, rng)
        yield made


def _damage(made: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(made) + 1)
    kind = rng.randrange(6)
    if kind == 0 and made:
        made[rng.randrange(len(made))] = rng.randrange(256)
    elif kind == 1:
        del made[at:]
    elif kind == 2:
        del made[at : at + rng.randrange(1, 20)]
    elif kind == 3:
        made[at:at] = made[at : at + rng.randrange(1, 200)]
    else:
        made[at : at + rng.randrange(0, 8)] = rng.choice(ODD_TEXTS)


def _changed(value: Any, rng: random.Random) -> Any:
    """The value with one part of it changed; the deeper the part, the rarer."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        kind = rng.randrange(8)
        if kind == 0:
            del value[key]
        elif kind == 1:
            value[rng.choice(("", "x", "\u2028", key.upper(), f"{key} "))] = value.pop(key)
        else:
            value[key] = _changed(value[key], rng)
        return value
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        if rng.randrange(6) == 0:
            value.insert(at, _odd(rng))
        else:
            value[at] = _changed(value[at], rng)
        return value
    return _odd(rng)


def _odd(rng: random.Random) -> Any:
    return copy.deepcopy(rng.choice(ODD_VALUES))
