"""The bar on stderr that shows from the first second on that a command is at work.

There is one bar at a time: a step inside another takes it over and gives it back. What is printed meanwhile pauses it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from skilldelta.cli.standard_streams import readable

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from skilldelta.studies import StudyProgress

Progress = Callable[[int, int], None]
"""Called with what is done and what there is to do."""

_bar: Bar | None = None


@contextmanager
def progress(label: str) -> Iterator[Progress]:
    """A bar with rate and remaining time; nothing at all when stderr is not a terminal.

    Around a whole command it comes before heavy imports, so that these are waited for with a sign of life.
    """
    if _bar is not None:
        with _as_step(_bar, label) as advance:
            yield advance
    elif sys.stderr.isatty():
        with _shown() as bar, _as_step(bar, label) as advance:
            yield advance
    else:
        yield lambda done, total: None


@contextmanager
def step_bars() -> Iterator[StudyProgress]:
    """A callback for a study, which says its steps itself; each takes the bar over from the one before."""
    with ExitStack() as shown:
        current = ""
        advance: Progress

        def tell(step: str, done: int, total: int | None) -> None:
            nonlocal current, advance
            if step != current:
                shown.close()
                current, advance = step, shown.enter_context(progress(step))
            if total is not None:
                advance(done, total)

        yield tell


@contextmanager
def paused() -> Iterator[None]:
    """Away with the bar while something else is printed."""
    if _bar is None:
        yield
        return
    _bar.stop()
    try:
        yield
    finally:
        _bar.start()


@contextmanager
def _shown() -> Iterator[Bar]:
    global _bar
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn("line"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[count]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        _bar = bar
        try:
            yield bar
        finally:
            _bar = None


@contextmanager
def _as_step(bar: Bar, label: str) -> Iterator[Progress]:
    """The bar for one step; the step around it is hidden meanwhile."""
    around = [task.id for task in bar.tasks if task.visible]
    for other in around:
        bar.update(other, visible=False)
    own = bar.add_task(readable(label), total=None, count="")

    def advance(done: int, total: int) -> None:
        speed = next(task.speed for task in bar.tasks if task.id == own)
        rate = f"  {speed:,.0f}/s" if speed else ""
        bar.update(own, completed=done, total=total, count=f"{done:,}/{total:,}{rate}")

    try:
        yield advance
    finally:
        bar.remove_task(own)
        for other in around:
            bar.update(other, visible=True)
