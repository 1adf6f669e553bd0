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
        try:
            _hook(words[1:])
        except Exception as error:  # a damaged installation is not the agent's problem
            sys.stderr.write(f"skilldelta: {' '.join(str(error).split())[:400]}\n")
        finally:
            os._exit(0)
    from skilldelta.cli.main import main as run_command

    run_command()


def _hook(words: list[str]) -> None:
    """Let a running server answer, else answer in this process; ends it either way, and in time."""
    from skilldelta.cli.hook_deadline import Deadline, seconds_of

    deadline = Deadline(seconds_of(words))
    deadline.start()  # before anything else: the next import is the first thing that may take long
    from skilldelta.serve.hooks.relay import relay

    relayed = relay(words, os.environ)
    if relayed.output is None:
        from skilldelta.cli.hook_process import main as run_hook

        run_hook(words, relayed, deadline)
    sys.stdout.buffer.write(relayed.output and relayed.output + b"\n")
    sys.stdout.flush()
