"""Vega-Lite: the pieces that figures share, and the one place that needs vl-convert, for the page's script and for images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any

from skilldelta.errors import MissingExtraError
from skilldelta.report.content import Plot, Spec
from skilldelta.report.palette import resolve, role

# A Vega expression: whether the plot has a phone's width. False where there is no page, as in images.
NARROW = "(containerSize()[0] < 480)"

# Height of one row in a figure with a row per policy or family.
BAR_STEP = 27


def config() -> Spec:
    """Type, axes and spacing of every plot; colors are roles."""
    sans = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
    return {
        "background": "transparent",
        "font": sans,
        "view": {"stroke": None},
        "axis": {
            "labelColor": role("ink-2"),
            "titleColor": role("ink-2"),
            "titleFontWeight": "normal",
            "titlePadding": 9,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "labelLimit": 260,
            "domainColor": role("line"),
            "tickColor": role("line"),
            "gridColor": role("grid"),
            "labelPadding": 6,
        },
        "axisY": {"ticks": False, "domain": False},
        "legend": {
            "orient": "top",
            "title": None,
            "labelColor": role("ink"),
            "labelFontSize": 12,
            "symbolStrokeWidth": 2.5,
            "columnPadding": 14,
            "columns": {"expr": "containerSize()[0] < 320 ? 1 : containerSize()[0] < 620 ? 2 : 0"},
            "offset": 10,
            "labelLimit": 220,
        },
        "text": {"fontSize": 12, "color": role("ink-2")},
        "rule": {"strokeCap": "round"},
    }


def base(data: Sequence[dict[str, Any]], **rest: Any) -> Spec:
    """A plot as wide as its place in the page."""
    return {
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"values": list(data)},
        **rest,
    }


# Names often differ at their end, so a long one is cut in its middle; a phone has room for half as much.
_LABEL = (
    f"length(datum.label) <= ({NARROW} ? 19 : 36) ? datum.label : "
    f"slice(datum.label, 0, {NARROW} ? 9 : 18) + '…' + slice(datum.label, {NARROW} ? -9 : -17)"
)


def row_axis(field: str, order: Sequence[str]) -> Spec:
    """One row per name, in the given order."""
    return {
        "field": field,
        "type": "nominal",
        "sort": list(order),
        "title": None,
        "axis": {"labelColor": role("ink"), "grid": False, "labelExpr": _LABEL},
    }


def number_axis(field: str, title: str | None, format: str, *, zero: bool = False, **axis: Any) -> Spec:
    """A measured value; the axis begins at zero only where lengths are compared."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": zero, "nice": True},
        "axis": {"format": format, "tickCount": 5, **axis},
    }


def layer(mark: Spec, *, data: Sequence[dict[str, Any]] | None = None, **encoding: Any) -> Spec:
    """One layer of a plot; with `data` it draws these rows instead of the plot's own."""
    own = {} if data is None else {"data": {"values": list(data)}}
    return {**own, "mark": mark, "encoding": encoding}


def measured(field: str) -> Spec:
    """A number of the data on an axis that another layer describes."""
    return {"field": field, "type": "quantitative"}


def reference_line(value: float, *, dash: bool = True) -> Spec:
    """A thin vertical line at a value that the others are compared with."""
    mark: Spec = {"type": "rule", "color": role("ink-3"), "strokeWidth": 1}
    if dash:
        mark["strokeDash"] = [4, 3]
    return layer(mark, data=[{"at": value, "label": ""}], x=measured("at"))


def interval_over_bar(**encoding: Any) -> list[Spec]:
    """A horizontal 95% interval with a halo of the paper's color, so that it can be read on its bar."""
    halo = interval_rule("low", "high", width=4.0, stroke="page", **encoding)
    return [halo, interval_rule("low", "high", width=1.6, **encoding)]


def interval_rule(low: str, high: str, *, width: float, stroke: str = "ink", **encoding: Any) -> Spec:
    """A horizontal 95% interval; a row without one has none."""
    mark = {"type": "rule", "strokeWidth": width, "color": role(stroke)}
    filtered = {"transform": [{"filter": f"isValid(datum['{low}'])"}]}
    return filtered | layer(mark, x=measured(low), x2={"field": high}, **encoding)


def tooltip(*fields: tuple[str, str, str]) -> list[Spec]:
    """Tooltip lines as (field, title, format); an empty format means words."""
    return [
        {"field": field, "title": title, "type": "quantitative", "format": format}
        if format
        else {"field": field, "title": title, "type": "nominal"}
        for field, title, format in fields
    ]


@cache
def javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script that defines `vegaEmbed` and loads nothing."""
    script: str = _vl_convert().javascript_bundle("window.vegaEmbed=vegaEmbed;")
    return script.replace("</script", "<\\/script")


def require_plots() -> None:
    """Raise at once where the optional package is missing, instead of after a long evaluation."""
    _vl_convert()


def png(plot: Plot) -> bytes:
    """The plot as an image in the light colors, with its title."""
    image: bytes = _vl_convert().vegalite_to_png(image_spec(plot), scale=2.0)
    return image


def image_spec(plot: Plot) -> Spec:
    """A specification that stands alone: a fixed width, a background, colors instead of roles."""
    spec = {**plot.spec, "width": 720, "config": {**config(), "background": role("page")}, "padding": 16}
    title = {"text": plot.title, "anchor": "start", "color": role("ink"), "fontWeight": "normal", "offset": 12}
    resolved: Spec = resolve({**spec, "title": title})
    return resolved


def _vl_convert() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError("the report", "report") from None
    module: ModuleType = vl_convert
    return module
