"""What a user wrote, out of a prompt that a harness and other hooks have added to."""

from __future__ import annotations

import re

# Elements that are no part of what a user wrote.
_ADDED = (
    "hook_context",
    "system-reminder",
    "task-notification",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "command-name",
    "command-message",
    "command-args",
    "ide_opened_file",
    "ide_selection",
    "environment_context",
    "user-prompt-submit-hook",
)

# A slash command; a path has a second slash.
_COMMAND = re.compile(r"/[A-Za-z][\w.:-]*(\s|$)")


def user_text(prompt: str) -> str:
    """The user's own words; empty where there are none, or where they are a command to the harness."""
    text = prompt
    for name in _ADDED:
        text = _without(text, f"<{name}", f"</{name}>")
    text = text.strip()
    return "" if _COMMAND.match(text) else text


def _without(text: str, opening: str, closing: str) -> str:
    """The text without an element. One that is never closed is text; each character is looked at once."""
    parts, at, look = [], 0, 0
    while (start := text.find(opening, look)) >= 0:
        look = start + len(opening)
        if text[look : look + 1] not in (">", " "):  # a longer name
            continue
        end = text.find(closing, look)
        if end < 0:
            break
        parts.append(text[at:start])
        at = look = end + len(closing)
    return "".join(parts) + text[at:]
