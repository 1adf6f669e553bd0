"""Which files of a harness say what it runs, and what they say with SkillDelta in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

import skilldelta
from skilldelta.errors import InputError
from skilldelta.serve.harness.installation import FileChange, content_of
from skilldelta.serve.harness.wanted_setup import HarnessName, Scope, WantedSetup, with_entries, without_entries
from skilldelta.serve.hooks.hook_event import HOSTS

_SETTINGS = {"claude-code": "settings.json", "codex": "hooks.json", "gemini": "settings.json"}
_LOADERS = {
    "opencode": ("plugins", "opencode-skilldelta/plugin.mjs"),
    "pi": ("extensions", "pi-skilldelta/extension.mjs"),
}
LOADER_NAME, PATCH_NAME = "skilldelta.js", "cordis.patch.yml"
_PATCH = "dsh-skilldelta/plugin.mjs"
_ROW = "skilldelta"
_WRITTEN = "// Written by `skilldelta install "


@dataclass(frozen=True, slots=True)
class HarnessHomes:
    """The folders of settings, by harness: the user's own, and what they are called in a project."""

    user: Mapping[HarnessName, Path]

    @classmethod
    def of(cls, home: Path, environment: Mapping[str, str]) -> HarnessHomes:
        """Where each harness looks on this machine."""

        def told(variable: str, default: Path) -> Path:
            return Path(environment[variable]).expanduser() if environment.get(variable, "").strip() else default

        config = told("XDG_CONFIG_HOME", home / ".config")
        return cls(
            {
                "claude-code": told("CLAUDE_CONFIG_DIR", home / ".claude"),
                "codex": told("CODEX_HOME", home / ".codex"),
                "gemini": told("GEMINI_CLI_HOME", home) / ".gemini",
                "opencode": told("OPENCODE_CONFIG_DIR", config / "opencode"),
                "pi": told("PI_CODING_AGENT_DIR", home / ".pi" / "agent"),
                "dsh": told("DSH_HOME", home / ".dsh"),
            }
        )

    def folder(self, harness: HarnessName, scope: Scope, project: Path) -> Path:
        """The folder of a harness's settings."""
        if scope == "user":
            return self.user[harness]
        if harness == "dsh":
            raise InputError("dsh has no settings of a project; install it with --scope user")
        names = {"claude-code": ".claude", "codex": ".codex", "gemini": ".gemini", "opencode": ".opencode", "pi": ".pi"}
        return project / names[harness]


def settings_file(harness: HarnessName, folder: Path) -> Path:
    """The file that SkillDelta is named in."""
    if harness in _SETTINGS:
        return folder / _SETTINGS[harness]
    return folder / PATCH_NAME if harness == "dsh" else folder / _LOADERS[harness][0] / LOADER_NAME


def planned_change(harness: HarnessName, folder: Path, wanted: WantedSetup) -> FileChange:
    """The file as it is, and with SkillDelta in it; empty where it is there already."""
    path = settings_file(harness, folder)
    before = content_of(path)
    with _naming(path):
        after = _edited(harness, (before or b"").decode("utf-8"), wanted)
    return FileChange(path, before, after.encode())


def cleaned(harness: HarnessName, path: Path, content: bytes) -> bytes | None:
    """What a file holds without SkillDelta, whatever else has changed in it; None where it was all ours."""
    with _naming(path):
        text = content.decode("utf-8")
        if harness in HOSTS:
            return without_entries(text, harness).encode()
        if harness == "dsh":
            return _without_row(text).encode()
        if not text.startswith(_WRITTEN):
            raise InputError("somebody else has written it; remove it by hand")
    return None


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors about a file's content name the file."""
    try:
        yield
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; SkillDelta leaves it alone") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def adapter(name: str) -> Path:
    """A file of an adapter: in the package where it was installed, else in the checkout."""
    package = Path(skilldelta.__file__).resolve().parent
    for folder in (package / "plugins", package.parents[1] / "plugins"):
        if (folder / name).is_file():
            return folder / name
    raise InputError(f"the adapter {name} is not part of this installation; install skilldelta again")


def _edited(harness: HarnessName, text: str, wanted: WantedSetup) -> str:
    if harness in HOSTS:
        return with_entries(text, harness, wanted)
    if len(wanted.skills) > 1:
        raise InputError(f"the adapter for {harness} supplies one skill, got {len(wanted.skills)}; name one")
    return _with_row(text, wanted) if harness == "dsh" else _loader(harness, wanted)


def _loader(harness: HarnessName, wanted: WantedSetup) -> str:
    """A module of its own, which hands the settings to the adapter."""
    module = json.dumps(adapter(_LOADERS[harness][1]).as_uri())
    settings = json.dumps(wanted.adapter_settings(), indent=2, ensure_ascii=False)
    return (
        f"{_WRITTEN}{harness}`; `skilldelta install {harness} --undo` removes it.\n"
        f"import {{ withSettings }} from {module}\n\nexport default withSettings({settings})\n"
    )


def _with_row(text: str, wanted: WantedSetup) -> str:
    """The list of patches with one that inserts the plugin; an earlier row of ours must be the same."""
    try:
        rows = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML ({' '.join(str(error).split())[:120]})") from None
    if rows is not None and not isinstance(rows, list):
        raise InputError("not a list of patches, so none can be added")
    row = {"id": _ROW, "name": str(adapter(_PATCH)), "config": wanted.adapter_settings()}
    inserted = [one for patch in rows or () if isinstance(patch, dict) for one in patch.get("insert") or ()]
    ours = [one for one in inserted if isinstance(one, dict) and one.get("id") == _ROW]
    if row in ours:
        return text
    if ours:
        raise InputError(f"it has a row {_ROW!r} with other settings; undo that installation first, or edit the row")
    if rows and not text.lstrip().startswith(("-", "#")):
        raise InputError("the list is written in brackets, where no row can be added; write one patch per line")
    begin = text if not text or text.endswith("\n") else f"{text}\n"
    return begin + yaml.safe_dump([{"insert": [row]}], sort_keys=False, allow_unicode=True, width=10_000)


def _without_row(text: str) -> str:
    """The list of patches without the one that inserts our row alone."""
    patches = re.split(r"^(?=- )", text, flags=re.MULTILINE)
    return "".join(patch for patch in patches if not _is_our_patch(patch))


def _is_our_patch(patch: str) -> bool:
    try:
        found = yaml.safe_load(patch)
    except yaml.YAMLError:
        return False
    rows = found[0].get("insert") if isinstance(found, list) and found and isinstance(found[0], dict) else None
    return isinstance(rows, list) and len(rows) == 1 and isinstance(rows[0], dict) and rows[0].get("id") == _ROW
