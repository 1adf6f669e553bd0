"""One bar on stderr, from the first second on, for a terminal only."""

from __future__ import annotations

import io

import pytest

from skilldelta.cli import output as module
from skilldelta.cli.output import note, paused, progress

from .conftest import Skilldelta


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Called in the test itself, because pytest sets stderr anew after fixtures."""
    found = Terminal()
    monkeypatch.setattr("sys.stderr", found)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return found


def test_nothing_is_written_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("waiting") as advance:
        advance(1, 2)
    assert capsys.readouterr().err == ""


def test_a_step_takes_the_bar_over_and_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_on = terminal(monkeypatch)
    with progress("outer"):
        with progress("inner [/x]\x1b[2J") as advance:
            advance(3, 7)
            assert module._bar is not None
            shown = [task for task in module._bar.tasks if task.visible]
            assert [task.description for task in shown] == ["inner [/x]\\x1b[2J"]
            assert shown[0].fields["count"].startswith("3/7")
            module._bar.refresh()
        assert [task.description for task in module._bar.tasks if task.visible] == ["outer"]
    assert module._bar is None
    assert "inner [/x]\\x1b[2J" in shown_on.getvalue()


def test_the_bar_is_away_while_something_is_printed_and_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_on = terminal(monkeypatch)
    with pytest.raises(ZeroDivisionError), progress("working"):
        with paused():
            assert module._bar is not None
            assert not module._bar.live.is_started
        assert module._bar.live.is_started
        note("a remark")
        raise ZeroDivisionError
    assert module._bar is None
    assert "a remark\n" in shown_on.getvalue()


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "--resamples", "0", "--shuffles", "0"],
        ["sweep", "threshold", "--estimator", "paper"],
        ["sweep", "evidence"],
        ["calibrate", "--use-rate", "0.5", "--estimator", "paper", "--resamples", "0"],
    ],
)
def test_a_command_shows_its_bar_before_it_opens_the_bank(
    skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """The bank cannot be opened before there is a bar: whoever waits for it sees that something is going on."""
    from skilldelta.bank import Bank

    opened = Bank.open
    was_shown = []

    def watched(*arguments: object, **options: object) -> Bank:
        was_shown.append(module._bar is not None)
        return opened(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Bank, "open", watched)
    monkeypatch.setattr("sys.stderr", Terminal())
    assert skilldelta(*words, "--bank", toy_bank).code == 0
    assert was_shown
    assert all(was_shown)
