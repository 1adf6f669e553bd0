"""A hook that a running server answers for the process that the harness has started.

The same options, settings and steps as in `hook_process`, read for the other process. What that process would have to do
itself is declined: to decide from a bank, to fall back, to say what is wrong with an option.
"""

from __future__ import annotations

import os
from typing import Any

from skilldelta.cli.hook_options import OptionError, read_options
from skilldelta.cli.hook_setup import hook_settings
from skilldelta.serve.hooks.hook_run import Ask, answer
from skilldelta.serve.hooks.hook_settings import WhomToAsk
from skilldelta.serve.hooks.relay_server import StartedHook


class _DeclinedError(BaseException):
    """Passes every handler on its way out, so that no fallback is kept for the conversation."""


def answer_in_server(hook: StartedHook, url: str = "", ask: Ask | None = None) -> str | None:
    """What the harness is told; None where the process is to answer itself.

    `ask` answers for the server at `url`. Other servers, and one that asks for tokens, are asked over HTTP.
    """
    if hook.environment.get("HOME") != os.environ.get("HOME"):  # ~ in a path would mean another folder
        return None
    try:
        host, options = read_options(hook.words, hook.environment, hook.folder)
        settings = hook_settings(host, options, hook.environment, hook.folder)
        if settings.ask == "bank":
            return None
        here = ask if settings.server.url.removesuffix("/") == url else None
        whom: WhomToAsk = "auto" if here is None else "bank"
        found = answer(settings._replace(ask=whom), hook.event, ask_bank=_or_declined(here))
    except (OptionError, OSError, _DeclinedError):
        return None
    return None if found.failure else found.output


def _or_declined(ask: Ask | None) -> Ask:
    """The same answers; what cannot be answered is the business of the process."""

    def asked(path: str, document: dict[str, Any]) -> dict[str, Any]:
        try:
            if ask is not None:
                return ask(path, document)
        except Exception as error:
            raise _DeclinedError from error
        raise _DeclinedError

    return asked
