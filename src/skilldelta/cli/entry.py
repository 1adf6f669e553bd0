"""Where `skilldelta` starts. A hook of an agent harness goes its own way from here, before click is loaded: somebody waits
for it with every prompt.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    words = sys.argv[1:]
    if words[:1] == ["hook"] and not {"-h", "--help"} & set(words):
        _hook(words[1:])
    from skilldelta.cli.main import main as run_command

    run_command()


def _hook(words: list[str]) -> None:
    """Let a running server answer, else answer in this process; ends it either way."""
    from skilldelta.serve.hooks.relay import relay

    relayed = relay(words, os.environ)
    if relayed.output is None:
        from skilldelta.cli.hook_process import main as run_hook

        run_hook(words, relayed)
    try:
        sys.stdout.buffer.write(relayed.output and relayed.output + b"\n")
        sys.stdout.flush()
    finally:
        os._exit(0)
