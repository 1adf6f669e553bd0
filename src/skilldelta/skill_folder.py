"""What belongs to a skill besides its text: the scripts, references and assets in its folder.

A version of a skill is its whole folder, because a changed script changes what the agent does as much as a changed
sentence. The version's digest covers the text and a list of the other files; without other files it is the digest of the
text, as it was before folders counted. Only the standard library is used, because hooks read through this file while a
person waits.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import NamedTuple

from skilldelta.front_matter import split_front_matter
from skilldelta.regular_file import read_regular
from skilldelta.text_sketch import joint_sketch, text_sketch

TYPE_CHECKING = False  # as `typing` has it, which takes 2 ms to load
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SKILL_FILE = "SKILL.md"
# The folders of the Agent Skills layout. Others count where the text names them.
_FOLDERS = ("scripts", "references", "assets")
_PASSED_OVER = frozenset(("__pycache__", "node_modules", "evals"))
# Files and bytes beyond these enter the list with their sizes only: a hook must not read for long.
_MOST_FILES = 300
_MOST_BYTES = 8 << 20
# Bytes of the files that the sketch is made from.
_SKETCHED = 64 << 10
_DEEPEST = 6


class FolderFiles(NamedTuple):
    """The files beside a skill's text, and the sketch of everything together."""

    listing: str
    """One line per file, in order: `SHA-256  path`, as sha256sum prints it. Empty where there are none."""
    sketch: str


NO_FILES = FolderFiles("", "")
# How a question about one skill names its version, and how one about several skills does.
VERSION_FIELDS = {
    "skill_digest": "skill_digests",
    "skill_sketch": "skill_sketches",
    "skill_folder_digest": "skill_folder_digests",
    "skill_folder_sketch": "skill_folder_sketches",
}


def folder_digest(text_digest: str, listing: str) -> str:
    """The digest of a version: that of its text, where it has no other files.

    >>> folder_digest("ab", "")
    'ab'
    """
    return hashlib.sha256(f"{text_digest}  {SKILL_FILE}\n{listing}".encode()).hexdigest() if listing else text_digest


def files_beside(path: str | Path) -> FolderFiles:
    """The files of the skill whose SKILL.md, or whose folder, is at `path`; none for a text of another name.

    These are the files in `scripts`, `references`, `assets` and in folders that the text names, and, where the folder is
    called like the skill, those beside SKILL.md. Hidden files, links and `evals` do not count. What cannot be read is left
    out: whoever needs the text says so.
    """
    place = os.path.abspath(os.fspath(path))
    file = os.path.join(place, SKILL_FILE) if os.path.isdir(place) else place
    if os.path.basename(file) != SKILL_FILE:
        return NO_FILES
    try:
        text = _decoded(read_regular(file, _MOST_BYTES))
    except OSError:
        return NO_FILES
    folder = os.path.dirname(file)
    paths = sorted(_paths(folder, text), key=os.fsencode)
    if not paths:
        return NO_FILES
    lines, sketched, left = [], [split_front_matter(text).body], _MOST_BYTES
    to_sketch = _SKETCHED
    for number, name in enumerate(paths):
        full = os.path.join(folder, *name.split("/"))
        try:
            if number >= _MOST_FILES:
                raise OSError
            content = read_regular(full, left, follow_links=False).replace(b"\r\n", b"\n")
        except OSError:
            lines.append(f"{_size(full)} bytes  {name}")
            continue
        left -= len(content)
        lines.append(f"{hashlib.sha256(content).hexdigest()}  {name}")
        if to_sketch > 0 and b"\0" not in content:
            sketched.append(_decoded(content[:to_sketch]))
            to_sketch -= len(content)
    return FolderFiles("".join(f"{line}\n" for line in lines), text_sketch("\n".join(sketched)))


def files_together(text: str, parts: Iterable[tuple[str, FolderFiles]]) -> FolderFiles:
    """The files of a bundle whose whole text is `text`, each under the name of its skill."""
    with_files = [(name, beside) for name, beside in parts if beside.listing]
    if not with_files:
        return NO_FILES
    lines = [
        f"{line.replace('  ', f'  {name}/', 1)}\n"
        for name, beside in with_files
        for line in beside.listing.splitlines()
    ]
    return FolderFiles("".join(lines), joint_sketch([text_sketch(text), *(beside.sketch for _, beside in with_files)]))


def _paths(folder: str, text: str) -> Iterator[str]:
    """The files that count, relative to the folder with forward slashes."""
    front = (line.removeprefix("name:").strip().strip("'\"") for line in split_front_matter(text).front)
    is_own = os.path.basename(folder) in front
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            if entry.name in _FOLDERS or (is_own and re.search(rf"\b{re.escape(entry.name)}/", text)):
                yield from _below(entry.path, entry.name, 1)
        elif is_own and entry.name != SKILL_FILE and entry.is_file(follow_symlinks=False):
            yield entry.name


def _below(folder: str, prefix: str, depth: int) -> Iterator[str]:
    entries = _entries(folder)
    if any(entry.name == SKILL_FILE for entry in entries):
        return  # another skill
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if depth < _DEEPEST:
                yield from _below(entry.path, f"{prefix}/{entry.name}", depth + 1)
        elif entry.is_file(follow_symlinks=False):
            yield f"{prefix}/{entry.name}"


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if entry.name[0] != "." and _counts(entry.name)]
    except OSError:
        return []


def _counts(name: str) -> bool:
    """Whether a name is not one of what programs leave behind, and can stand on a line."""
    return name not in _PASSED_OVER and not name.endswith((".pyc", ".bank")) and name.isprintable()


def _size(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except OSError:
        return 0


def _decoded(content: bytes) -> str:
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
