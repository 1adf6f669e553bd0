"""OpenCode."""

from __future__ import annotations

import json

from skilldelta.harnesses.harness import Harness, Recipe, Reply, told
from skilldelta.harnesses.json_values import ANY_PROVIDER, json_events, sum_of
from skilldelta.harnesses.loader import JavaScriptLoader

# The plugin's functions are asked for when OpenCode starts; without SkillDelta there are none.
_LOADER = """\
export default {
  id: 'skilldelta',
  server: async input => {
    try {
      const { withSettings } = await import(MODULE)
      return await withSettings(SETTINGS).server(input)
    } catch {
      return {}
    }
  },
}
"""


def _read(printed: str) -> Reply:
    events = list(json_events(printed))
    if failed := [event for event in events if event.get("type") == "error"]:
        raise ValueError(f"OpenCode ended with an error: {json.dumps(failed[-1].get('error'))[:200]}")
    parts = [event.get("part") or {} for event in events]
    steps = [part for part in parts if part.get("type") == "step-finish"]
    if not steps:
        raise ValueError(f"OpenCode finished no step: {printed.strip()[-160:]!r}")
    last = steps[-1].get("messageID")
    texts = [str(p.get("text", "")) for p in parts if p.get("type") == "text" and p.get("messageID") == last]
    tokens = sum_of([step.get("tokens") for step in steps], "total")
    return Reply("".join(texts), tokens, sum_of(steps, "cost"))


HARNESS = Harness(
    name="opencode",
    title="OpenCode",
    program="opencode",
    folder=lambda home, environment: told(
        environment, "OPENCODE_CONFIG_DIR", told(environment, "XDG_CONFIG_HOME", home / ".config") / "opencode"
    ),
    project_folder=".opencode",
    setup=JavaScriptLoader("plugins/skilldelta.js", "opencode-skilldelta/plugin.mjs", _LOADER),
    next_step="Start a new session of OpenCode.",
    tested_version="1.18.33",
    recipe=Recipe(
        words=("run", "--format", "json"),
        passed=ANY_PROVIDER,
        variables={
            "XDG_CONFIG_HOME": "{home}/.config",
            "XDG_DATA_HOME": "{home}/.local/share",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
        },
        read=_read,
    ),
)
