"""The dashboard's files: one page, its modules, and a style sheet that shares type and colors with the report.

The security policy lets the page run its own scripts and ask its own server, and nothing else; with trusted types no
script can turn text into markup. The files hold no data, so they need no token.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from skilldelta.report.palette import shared_style

_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=["GET", "HEAD"])
def page(request: Request) -> Response:
    """The one page; the address says behind its # which part is shown."""
    return _answer(request, "index.html")


@router.api_route("/assets/{name}", methods=["GET", "HEAD"])
def file(request: Request, name: str) -> Response:
    """A module, a style sheet or a picture."""
    return _answer(request, name)


def _answer(request: Request, name: str) -> Response:
    """A file of the package by its exact name; unchanged ones are not sent twice."""
    content = _contents().get(name)
    if content is None:
        return PlainTextResponse("no such file", 404, headers=SECURITY_HEADERS)
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {**SECURITY_HEADERS, "ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=_KINDS[name.rpartition(".")[2]])


@cache
def _contents() -> dict[str, bytes]:
    folder = files("skilldelta.serve").joinpath("dashboard")
    contents = {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in _KINDS}
    return contents | {"shared.css": shared_style().encode()}
