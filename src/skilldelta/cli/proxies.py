"""The proxy that the environment, or the system's settings, name for an address."""

from __future__ import annotations

import ipaddress
import urllib.request
from urllib.parse import urlsplit


def environment_proxy(url: str | None) -> str | None:
    """From http_proxy, https_proxy and no_proxy. This machine's own addresses never go through a proxy."""
    try:
        parts = urlsplit(url or "")
        host = parts.hostname or ""
    except ValueError:
        return None  # not a URL: whoever uses it refuses it with a better message
    if not host or _is_this_machine(host) or urllib.request.proxy_bypass(host):
        return None
    return urllib.request.getproxies().get(parts.scheme)


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
