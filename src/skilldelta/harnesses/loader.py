"""A small JavaScript module in a harness's own folder, which loads SkillDelta's adapter if it is there.

What `install` writes needs nothing but the harness: an adapter that was removed, moved or damaged is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import skilldelta
from skilldelta.errors import InputError
from skilldelta.harnesses.harness import FileContent, Harness
from skilldelta.harnesses.installation import content_of
from skilldelta.harnesses.wanted_setup import WantedSetup

_WRITTEN = "// Written by `skilldelta install "


@dataclass(frozen=True, slots=True)
class JavaScriptLoader:
    """A module that hands the settings to the adapter."""

    file: str
    """Below the folder of settings."""
    adapter: str
    """Below the folder of SkillDelta's plugins."""
    code: str
    """With MODULE and SETTINGS for the adapter's address and the settings."""

    def files(self, harness: Harness, folder: Path) -> Sequence[Path]:
        """The loader."""
        return [folder / self.file]

    def wanted(self, harness: Harness, folder: Path, setup: WantedSetup) -> Sequence[FileContent]:
        """The loader with its settings in it."""
        check_one_skill(harness, setup)
        settings = json.dumps(setup.adapter_settings(), indent=2, ensure_ascii=False)
        return [FileContent(folder / self.file, loader_text(harness.name, self.code, self.adapter, settings).encode())]

    def cleaned(self, harness: Harness, path: Path, text: str) -> str | None:
        """No file."""
        check_ours(text)
        return None

    def commands(self, harness: Harness, text: str) -> Mapping[str, Sequence[str]]:
        """None: the harness loads a module."""
        return {}

    def modules(self, harness: Harness, folder: Path) -> Iterable[Path]:
        """The adapter that the loader names."""
        return loaded_modules((content_of(folder / self.file) or b"").decode("utf-8", "replace"))


def adapter(name: str) -> Path:
    """A file of an adapter: in the package where it was installed, else in the checkout."""
    package = Path(skilldelta.__file__).resolve().parent
    for folder in (package / "plugins", package.parents[1] / "plugins"):
        if (folder / name).is_file():
            return folder / name
    raise InputError(f"the adapter {name} is not part of this installation; install skilldelta again")


def loader_text(harness: str, code: str, module: str, settings: str = "") -> str:
    """The text of a loader."""
    code = code.replace("MODULE", json.dumps(adapter(module).as_uri())).replace("SETTINGS", settings)
    head = f"{_WRITTEN}{harness}`; `skilldelta install {harness} --undo` removes it.\n"
    return f"{head}// If SkillDelta is gone or damaged, the harness goes on without it.\n{code}"


def loaded_modules(text: str) -> list[Path]:
    """The modules that a loader's text names."""
    urls = re.findall(r'"(file:[^"]+\.m?js)"', text)
    return [Path(url2pathname(unquote(urlsplit(url).path))) for url in urls]


def check_ours(text: str) -> None:
    """Refuse to remove what somebody else has written."""
    if not text.startswith(_WRITTEN):
        raise InputError("somebody else has written it; remove it by hand")


def check_one_skill(harness: Harness, setup: WantedSetup) -> None:
    """The adapters in JavaScript supply one skill."""
    if len(setup.skills) > 1:
        raise InputError(f"the adapter for {harness.name} supplies one skill, got {len(setup.skills)}; name one")
