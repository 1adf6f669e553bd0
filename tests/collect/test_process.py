"""Command lines as people write them, on systems with and without backslashes in paths."""

from __future__ import annotations

from skilldelta.collect.process import split_words


def test_words_are_split_as_a_shell_does_and_a_windows_path_keeps_its_backslashes() -> None:
    assert split_words(r"agent --name 'a b' c\ d #x", windows=False) == ["agent", "--name", "a b", "c d", "#x"]
    assert split_words(r'C:\bin\agent.exe --in "C:\my files\a.txt"', windows=True) == [
        r"C:\bin\agent.exe",
        "--in",
        r"C:\my files\a.txt",
    ]
