"""The style that the report and the dashboard share: type and spacing from one file, colours from the palette."""

from __future__ import annotations

from importlib.resources import files

from skilldelta.report.palette import dark_variables, light_variables


def shared_style() -> str:
    """The style sheet as text: light or dark as the system says, unless the page's `data-theme` says otherwise."""
    dark = f"{dark_variables()}color-scheme:dark"
    return (
        asset("base.css") + f":root{{{light_variables()}}}"
        f":root[data-theme=dark]{{{dark}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f"@media print{{:root,:root[data-theme=dark]{{{light_variables()}color-scheme:light}}}}"
    )


def asset(name: str) -> str:
    """A style sheet or script of this package."""
    return files("skilldelta.report").joinpath("assets", name).read_text(encoding="utf-8")
