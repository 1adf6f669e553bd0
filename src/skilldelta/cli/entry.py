"""Where `skilldelta` starts. A hook of an agent harness goes its own way from here: somebody waits for it with every prompt."""

from __future__ import annotations

import os
import sys
import time


def main() -> None:
    """Run the command line and exit with its code."""
    words = sys.argv[1:]
    if words[:1] == ["hook"] and not {"-h", "--help"} & set(words):
        _hook(words[1:])
    from skilldelta.cli.main import main as run_command

    run_command()


def _hook(words: list[str]) -> None:
    """Answer the event on standard input, in time, and leave at once, whatever threads still wait for a server."""
    from skilldelta.cli.hook_deadline import Deadline, seconds_of

    deadline = Deadline(seconds_of(words))
    deadline.start(
        spent=time.process_time()
    )  # before anything else: the next import is the first thing that may take long
    code = 0
    try:
        from skilldelta.cli.hook import run

        code = run(words, deadline)
        sys.stdout.flush()
    except Exception as error:  # a damaged installation is not the agent's problem
        sys.stderr.write(f"skilldelta: {' '.join(str(error).split())[:400]}\n")
    finally:
        os._exit(code)
