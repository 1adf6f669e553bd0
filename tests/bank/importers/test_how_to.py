"""The pages about importing and encoding say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skilldelta.bank import Bank
from skilldelta.bank.importers import FORMATS, detect, read_source
from skilldelta.bank.skill_versions import add_skill_text, read_skill_text
from skilldelta.errors import InputError

_HOW_TO = Path(__file__).resolve().parents[3] / "docs" / "how-to"


def _blocks(page: str, language: str) -> list[str]:
    text = (_HOW_TO / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}(?: [^\n]*)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def examples(tmp_path: Path) -> list[Path]:
    """The JSON rows of the page as files."""
    names = ("pairs.jsonl", "runs.jsonl")
    for name, block in zip(names, _blocks("import.md", "json"), strict=True):
        (tmp_path / name).write_text(block, encoding="utf-8")
    return [tmp_path / name for name in names]


def test_the_example_rows_import_as_the_formats_they_show(examples: list[Path]) -> None:
    assert [detect(path) for path in examples] == ["pairs.jsonl", "runs.jsonl"]
    assert [len(read_source(path).executions) for path in examples] == [5, 1]


def test_the_page_lists_every_format() -> None:
    text = (_HOW_TO / "import.md").read_text(encoding="utf-8")

    assert re.findall(r"^\| `([\w.-]+)` \| (?:one|a|the)", text.split("## pairs.jsonl")[0], re.MULTILINE) == list(
        FORMATS
    )


def test_the_shown_refusals_are_the_real_ones(examples: list[Path]) -> None:
    pairs = examples[0]
    good = pairs.read_text(encoding="utf-8")
    cut_off = good[: good.index(" + 3?")]
    bad_lines = ((17, good.replace("0.5]", "1.5]")), (3, good.replace('"What is 2 + 3?"', "7")), (201, cut_off))
    (shown,) = _blocks("import.md", "text")
    for (line, bad), expected in zip(bad_lines, shown.splitlines(), strict=True):
        rows = [good.replace('"t1"', f'"t{number}x"') for number in range(1, line)]
        pairs.write_text("".join(rows) + bad, encoding="utf-8")
        with pytest.raises(InputError) as caught:
            read_source(pairs)
        said = str(caught.value).removeprefix(f"{pairs.parent}/")
        assert re.sub(r"column \d+", "column N", said) == re.sub(r"column \d+", "column N", expected)


def test_the_encoders_are_called_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tests/docs` runs the blocks of every page; here what one of them says in its comments is compared."""
    monkeypatch.chdir(tmp_path)
    for code in _blocks("encoders.md", "python"):
        scope: dict[str, object] = {}
        exec(compile(code, "encoders.md", "exec"), scope)
        for said in re.findall(r"print\(encoder\.identity\)  # (.*)", code):
            assert scope["encoder"].identity == said  # type: ignore[attr-defined]


def test_the_table_of_ones_own_imports_and_says_what_the_page_shows(tmp_path: Path) -> None:
    (table,) = _blocks("import.md", "csv")
    (tmp_path / "mine.csv").write_text(table, encoding="utf-8")
    batch = read_source(tmp_path / "mine.csv", agent="my-agent", skill="my-skill")
    shown = [line for block in _blocks("import.md", "console") for line in block.splitlines() if "mine.csv: " in line]

    assert [f"mine.csv: {note}" for note in batch.notes] == shown
    assert len(batch.executions) == 6


def test_the_skill_text_is_added_with_the_line_that_the_page_shows(tmp_path: Path) -> None:
    (table,), (skill,) = _blocks("import.md", "csv"), _blocks("import.md", "markdown")
    (tmp_path / "mine.csv").write_text(table, encoding="utf-8")
    (tmp_path / "SKILL.md").write_text(skill, encoding="utf-8")
    with Bank.open(tmp_path / "bank", create=True) as bank:
        bank.add(read_source(tmp_path / "mine.csv", agent="my-agent", skill="my-skill"))
        added = add_skill_text(bank, "my-skill", read_skill_text(tmp_path))

    assert f"\n{added.in_words()}\n" in "".join(_blocks("import.md", "console"))
