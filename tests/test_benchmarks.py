"""The benchmarks' table: every figure beside its peer, within the width of a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks.figure import Figure, Peer
from benchmarks.table import WIDTH, as_markdown, as_text, number

FIGURES = [
    Figure("decision", 61.24, "µs", "lower", "One task. " * 20, Peer("bare product and sort", 30.62)),
    Figure("a_name_that_is_far_longer_than_its_column_is", 1_234_567.0, "per s", "higher", "Rate."),
]


def test_a_table_has_values_peers_and_ratios_within_a_hundred_columns() -> None:
    lines = as_text("predictor", FIGURES).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert lines[2].split() == ["decision", "↓", "61.2", "µs", "bare", "product", "and", "sort", "30.6", "2×"]


def test_a_peer_that_takes_far_longer_makes_a_fraction() -> None:
    faster = Figure("auroc", 0.02, "s", "lower", "Fast.", Peer("loop", 6.4))
    assert as_text("evaluation", [faster]).splitlines()[2].endswith(" 1/320×")


def test_markdown_says_on_which_machine_what_was_measured_and_what_it_means() -> None:
    text = as_markdown({"predictor": FIGURES[1:]}, command.machine())
    assert "load average" in text
    assert f"| {FIGURES[1].name} | ↑ 1,234,567 per s |  |  | Rate. |" in text


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (0.00012, "1.2e-04"), (0.136, "0.136"), (9.156, "9.16"), (23_432.4, "23,432")]
)
def test_numbers_have_three_digits(value: float, shown: str) -> None:
    assert number(value) == shown


def test_an_unknown_benchmark_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.main(["predictr"])
    assert stopped.value.code == 2
    assert "known are bank, blend, collect" in capsys.readouterr().err


def test_the_chosen_benchmark_is_printed_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks import bench_import

    monkeypatch.setattr(bench_import, "ROWS", 20)
    command.main(["import", "--markdown", str(tmp_path / "bench.md")])
    assert "json.loads alone" in capsys.readouterr().out
    assert "## import" in (tmp_path / "bench.md").read_text(encoding="utf-8")
