"""The one place that needs vl-convert: the plotting library as JavaScript for the page, and images from the same specs."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from skilldelta.errors import MissingExtraError
from skilldelta.report.content import Plot, Spec
from skilldelta.report.marks import config
from skilldelta.report.palette import resolve, role

_IMAGE_WIDTH = 720


@cache
def javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script that defines `vegaEmbed` and loads nothing."""
    script: str = _vl_convert().javascript_bundle("window.vegaEmbed=vegaEmbed;")
    return script.replace("</script", "<\\/script")


def require_plots() -> None:
    """Raise at once where the optional package is missing, instead of after a long evaluation."""
    _vl_convert()


def png(plot: Plot, *, width: int = _IMAGE_WIDTH, scale: float = 2.0) -> bytes:
    """The plot as an image in the light colours, with its title."""
    image: bytes = _vl_convert().vegalite_to_png(image_spec(plot, width), scale=scale)
    return image


def image_spec(plot: Plot, width: int = _IMAGE_WIDTH) -> Spec:
    """A specification that stands alone: a fixed width, a background, colours instead of roles."""
    spec = {**plot.spec, "width": width, "config": {**config(), "background": role("paper")}, "padding": 16}
    spec["title"] = {
        "text": plot.title,
        "anchor": "start",
        "color": role("ink"),
        "fontWeight": "normal",
        "offset": 12,
    }
    resolved: Spec = resolve(spec)
    return resolved


def _vl_convert() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError("the report", "report") from None
    module: ModuleType = vl_convert
    return module
