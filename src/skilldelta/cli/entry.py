"""Where `skilldelta` starts. A hook of an agent harness goes its own way from here, before click is loaded: somebody waits
for it with every prompt.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    words = sys.argv[1:]
    if words[:1] == ["hook"] and not {"-h", "--help"} & set(words):
        from skilldelta.cli.hook_process import main as run_hook

        run_hook(words[1:])
    from skilldelta.cli.main import main as run_command

    run_command()
