"""Figures as a table for a terminal of 100 columns, and as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from benchmarks.figure import Figure

WIDTH = 100
_ARROWS = {"lower": "↓", "higher": "↑"}
Groups = Mapping[str, Sequence[Figure]]


def as_text(group: str, figures: Sequence[Figure]) -> str:
    """Two lines per figure: its value beside its peer's, and below them what it means."""
    lines = [f"{group}:", f"  {'figure':<36} {'value':>15}  {'peer':<30} {'ratio':>9}"]
    for one in figures:
        peer = f"{one.peer.name} {number(one.peer.value)}" if one.peer else ""
        ratio = _times(one.ratio)
        value = f"{_ARROWS[one.better]} {number(one.value)} {one.unit:<5}"
        lines.append(f"  {one.name[:36]:<36} {value:>15}  {peer[:30]:<30} {ratio:>9}".rstrip())
        lines += textwrap.wrap(one.meaning, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def as_markdown(groups: Groups, machine: str) -> str:
    """One table per group, under the words about the machine."""
    parts = ["# Benchmarks", f"{machine} ↓ lower is better, ↑ higher is better."]
    for group, figures in groups.items():
        rows = ["| figure | value | peer | ratio | meaning |", "|---|---|---|---|---|"]
        for one in figures:
            peer = f"{one.peer.name}: {number(one.peer.value)} {one.unit}" if one.peer else ""
            ratio = _times(one.ratio)
            value = f"{_ARROWS[one.better]} {number(one.value)} {one.unit}"
            rows.append(f"| {one.name} | {value} | {peer} | {ratio} | {one.meaning} |")
        parts += [f"## {group}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def number(value: float) -> str:
    """Three significant digits, without an exponent where a reader needs none."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{value:.3g}"


def _times(ratio: float | None) -> str:
    """As a factor; one far below 1 is easier to read as a fraction."""
    if ratio is None:
        return ""
    return f"1/{number(1 / ratio)}×" if 0 < ratio < 0.01 else f"{number(ratio)}×"
