"""Whether a message to an agent is a task, and which part of it says what is wanted.

"hi", "continue", "fix it", a slash command and a pasted log are no tasks: a decision that is bound to them would be about
the wrong thing. Of a long log with a question the question is judged. The rules look at words, not at meaning, and were
written for English with the commonest short messages of ten other languages. A message that no rule knows is a task:
applicability then says whether it is about a skill.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

# Why a skill is used that the user asks for by name, whatever the gate would say.
WISHED = "the user asked for this skill"

MessageKind = Literal["task", "small talk", "command", "log"]

# A slash command or a shell line; a path has a second slash.
_COMMAND = re.compile(r"/[A-Za-z][\w.:-]*(\s|$)|![a-z]")

# Messages of at most this many words can be small talk; longer ones say something of their own.
_MOST_SMALL_TALK_WORDS = 8
_LONGEST_SMALL_TALK = 120

# What begins or marks a line that a program has printed.
_PRINTED = re.compile(
    r"""
    ^\s*(?:
        [\[(]?\d{4}[-/]\d\d[-/]\d\d[T\s]\d\d:\d\d            # a date and a time
      | [\[(]?\d\d?:\d\d:\d\d\b                              # a time
      | (?:[A-Z][a-z]{2}\s+){1,2}\d{1,2}\s\d\d:\d\d:\d\d\b   # a time of syslog
      | \[?\s*(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE|PANIC|FAILED|PASSED)\b
      | (?:npm|yarn|pnpm|pip|cargo|make|docker|fatal|panic|curl|kernel|bash|zsh|git|mvn|gradle)(?:\[\d+\])?(?::|\sERR!|\sWARN)
      | (?:error|warning|note|help)(?:\[\w+\])?:\s
      | Traceback\s\(most\srecent
      | File\s".*",\sline\s\d+
      | Exception\sin\sthread
      | Caused\sby:
      | goroutine\s\d+
      | at\s[\w$.<>/]+\s?\(.*\)
      | [\w$]+(?:\.[\w$]+)*(?:Error|Exception|Warning|Interrupt|Fault)\b\s*(?::|$)
      | -->\s\S+:\d+
      | [\w./\\-]+:\d+(?::\d+)?:?\s
      | [\w./\\-]+\s\(\d+:\d+\):
      | \d{1,3}(?:\.\d{1,3}){3}\s
      | [$>%]\s\S
      | [+@-]{2,3}\s.*
      | [●✓✗✔✖×]\s
      | (?:Loaded|Active|Process|Main\sPID|Docs|Tasks|Memory|CGroup|exit\sstatus|exit\scode|HTTP)\b[:\s/]
      | Segmentation\sfault
      | core\sdumped
      | \w+:\s.*:\sNo\ssuch\sfile
      | [\w-]+\sv\d+\.\d+\S*\s
      | \{".*\}\s*$
    )
    """,
    re.VERBOSE,
)

# Lines that belong to the printed line above them: indented code, carets, blank lines.
_CONTINUED = re.compile(r"^(?:\s{2,}|\t|\s*[\^~|]+|\s*$|\s*\.\.\.)")

# Characters of a line that tell whether it was printed.
_LONGEST_LINE = 2_000

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class UserMessage(NamedTuple):
    """What a message is, and the words of it that say what is wanted; empty for one that is no task."""

    kind: MessageKind
    text: str = ""

    @property
    def is_task(self) -> bool:
        """Whether a decision may be bound to it."""
        return self.kind == "task"


def read_message(text: str) -> UserMessage:
    """Judge a message as the user wrote it.

    Examples
    --------
    >>> read_message("fix it").kind
    'small talk'
    >>> read_message("How many cans are in 4 pallets?").is_task
    True
    """
    stripped = text.strip()
    if not stripped or _COMMAND.match(stripped):
        return UserMessage("command" if stripped else "small talk")
    written = _written_lines(stripped)
    if not written:
        return UserMessage("log")
    if _is_small_talk(written):
        return UserMessage("log" if written != stripped else "small talk")
    return UserMessage("task", written)


def _written_lines(text: str) -> str:
    """The text without what a program has printed, where that is most of it; else the whole text."""
    lines = text.split("\n")
    printed = 0
    written = []
    in_print = False
    for line in lines:
        is_printed = bool(_PRINTED.match(line[:_LONGEST_LINE])) or (
            in_print and bool(_CONTINUED.match(line[:_LONGEST_LINE]))
        )
        in_print = is_printed
        if is_printed:
            printed += len(line)
        else:
            written.append(line)
    if 2 * printed <= len(text):
        return text
    return "\n".join(written).strip()


def _is_small_talk(text: str) -> bool:
    # Arithmetic and logic can do without words of their own.
    if len(text) > _LONGEST_SMALL_TALK or re.search(r"\d|[(\[{<].*[)\]}>]|[=+*]", text):
        return False
    words = [word.replace("’", "'").lower() for word in _WORD.findall(text)]
    if len(words) > _MOST_SMALL_TALK_WORDS:
        return False
    return all(word in _small_talk() for word in words)


@cache
def _small_talk() -> frozenset[str]:
    """Words of greetings, thanks, agreement, doubt and going on, and what they refer to without naming it.

    In languages that are written without spaces a word is a whole message.
    """
    return frozenset(Path(__file__).with_name("small_talk.txt").read_text("utf-8").split())
