"""DeepSeek Harness: a row in its list of patches, and a module beside it that the row names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from skilldelta.errors import InputError
from skilldelta.harnesses.harness import FileContent, Harness, Recipe, Reply, told
from skilldelta.harnesses.hook_entries import read_text_exactly
from skilldelta.harnesses.loader import check_one_skill, check_ours, loaded_modules, loader_text
from skilldelta.harnesses.wanted_setup import WantedSetup

_ROW = "skilldelta"
_PATCHES, _MODULE = "cordis.patch.yml", "skilldelta.mjs"
_ADAPTER = "dsh-skilldelta/plugin.mjs"
# dsh does not start with a row whose module is missing, or whose configuration is refused.
_LOADER = """\
const plugin = await import(MODULE).catch(() => undefined)

const read = settings => {
  const { value, issues } = plugin.Config['~standard'].validate(settings)
  if (issues) throw new Error(issues.map(issue => issue.message).join('; '))
  return value
}

export const name = 'skilldelta'
export const inject = []
export function apply(ctx, settings) {
  try {
    return plugin?.apply(ctx, read(settings))
  } catch (error) {
    ctx.logger?.warn(`SkillDelta: ${error.message}`)
  }
}
"""


class CordisPatch:
    """The row and its module."""

    def files(self, harness: Harness, folder: Path) -> Sequence[Path]:
        """The list of patches, and the module."""
        return [folder / _PATCHES, folder / _MODULE]

    def wanted(self, harness: Harness, folder: Path, setup: WantedSetup) -> Sequence[FileContent]:
        """The list with a row of ours, and the module."""
        check_one_skill(harness, setup)
        patches = _with_row(read_text_exactly(folder / _PATCHES), str(folder / _MODULE), setup)
        module = loader_text(harness.name, _LOADER, _ADAPTER)
        return [FileContent(folder / _PATCHES, patches.encode()), FileContent(folder / _MODULE, module.encode())]

    def cleaned(self, harness: Harness, path: Path, text: str) -> str | None:
        """The list without the patch that inserts our row alone; no module."""
        if path.name == _MODULE:
            check_ours(text)
            return None
        patches = re.split(r"^(?=- )", text, flags=re.MULTILINE)
        return "".join(patch for patch in patches if not _is_our_patch(patch))

    def commands(self, harness: Harness, text: str) -> Mapping[str, Sequence[str]]:
        """None: the harness loads a module."""
        return {}

    def modules(self, harness: Harness, folder: Path) -> Iterable[Path]:
        """The module, and the adapter that it names."""
        return [folder / _MODULE, *loaded_modules(read_text_exactly(folder / _MODULE))]


def _with_row(text: str, module: str, setup: WantedSetup) -> str:
    """The list of patches with one that inserts the plugin; an earlier row of ours must be the same."""
    try:
        rows = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"not valid YAML ({' '.join(str(error).split())[:120]})") from None
    if rows is not None and not isinstance(rows, list):
        raise InputError("not a list of patches, so none can be added")
    row = {"id": _ROW, "name": module, "config": setup.adapter_settings()}
    inserted = [inner for patch in rows or () if isinstance(patch, dict) for inner in patch.get("insert") or ()]
    ours = [inner for inner in inserted if isinstance(inner, dict) and inner.get("id") == _ROW]
    if row in ours:
        return text
    if ours:
        raise InputError(f"it has a row {_ROW!r} with other settings; undo that installation first, or edit the row")
    if rows and not text.lstrip().startswith(("-", "#")):
        raise InputError("the list is written in brackets, where no row can be added; write one patch per line")
    begin = text if not text or text.endswith("\n") else f"{text}\n"
    return begin + yaml.safe_dump([{"insert": [row]}], sort_keys=False, allow_unicode=True, width=10_000)


def _is_our_patch(patch: str) -> bool:
    try:
        document = yaml.safe_load(patch)
    except yaml.YAMLError:
        return False
    is_patch = isinstance(document, list) and bool(document) and isinstance(document[0], dict)
    rows = document[0].get("insert") if is_patch else None
    return isinstance(rows, list) and len(rows) == 1 and isinstance(rows[0], dict) and rows[0].get("id") == _ROW


HARNESS = Harness(
    name="dsh",
    title="DeepSeek Harness",
    program="dsh",
    folder=lambda home, environment: told(environment, "DSH_HOME", home / ".dsh"),
    setup=CordisPatch(),
    next_step="Start a new session of dsh.",
    tested_version="0.1.0-rc.8",
    recipe=Recipe(
        words=("--profile", "headless", "{prompt}"),
        model_option="",
        passed=("DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"),
        variables={"DSH_HOME": "{home}/.dsh"},
        read=lambda printed: Reply(printed.strip()),
    ),
)
