"""What a job is asked for: the options of `evaluate`, `sweep`, `calibrate` and `report`, by the same names and defaults."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from skilldelta.errors import InputError
from skilldelta.serve.wire_formats import Finite, Name, WireModel

_Draws = Annotated[int, Field(ge=0, le=100_000)]
_Estimator = Annotated[str, Field(min_length=1, max_length=100)]


class PanelOptions(WireModel):
    """Which panels, and by which rule."""

    agent: Name | None = None
    suite: Name | None = None
    k: Annotated[int, Field(ge=1, le=1_000)] = 6
    weighting: Literal["cosine", "uniform"] = "cosine"
    scope: Literal["family", "skill", "global"] | None = None
    threshold: Finite = 0.0
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0


class EvaluateOptions(PanelOptions):
    """Those of `evaluate`."""

    resamples: _Draws = 10_000
    margin: Annotated[float, Field(ge=0, le=1)] = 0.02
    shuffles: Annotated[int, Field(ge=0, le=10_000)] = 199
    holdout: Literal["task", "family"] = "task"
    refit_intervals: bool = False
    exclude: Annotated[tuple[Name, ...], Field(max_length=1_000, strict=False)] = ()


class SweepOptions(PanelOptions):
    """Those of `sweep threshold` and `sweep evidence`."""

    over: Literal["threshold", "evidence"] = "threshold"
    estimator: _Estimator = "stack"
    at_least: Annotated[int, Field(ge=1, le=1_000_000)] = 1


class CalibrateOptions(PanelOptions):
    """Those of `calibrate`; exactly one goal."""

    estimator: _Estimator = "stack"
    resamples: _Draws = 10_000
    use_rate: Finite | None = None
    token_budget: Finite | None = None
    margin: Finite | None = None
    best_value: bool = False
    success_worth: Finite | None = None
    price: Finite | None = None


class ReportOptions(EvaluateOptions):
    """Those of `report`."""

    gate: _Estimator | None = None


class EvaluateJob(WireModel):
    """What the gate would have bought."""

    kind: Literal["evaluate"]
    options: EvaluateOptions = EvaluateOptions()


class SweepJob(WireModel):
    """Success and tokens over thresholds, or error over the amount of evidence."""

    kind: Literal["sweep"]
    options: SweepOptions = SweepOptions()


class CalibrateJob(WireModel):
    """A threshold for a goal."""

    kind: Literal["calibrate"]
    options: CalibrateOptions


class ReportJob(WireModel):
    """One HTML file with all figures and tables."""

    kind: Literal["report"]
    options: ReportOptions = ReportOptions()


JobBody = Annotated[EvaluateJob | SweepJob | CalibrateJob | ReportJob, Field(discriminator="kind")]


def check_goal(options: CalibrateOptions) -> None:
    """Refuse a calibration without a goal, or with several, before it waits for its turn."""
    given = [name for name in ("use_rate", "token_budget", "margin") if getattr(options, name) is not None]
    given += ["best_value"] if options.best_value else []
    if len(given) != 1:
        named = f"got {' and '.join(given)}" if given else "none was given"
        raise InputError(f"choose exactly one goal of use_rate, token_budget, margin and best_value; {named}")
    if (options.success_worth is None) != (options.price is None):
        raise InputError("success_worth and price weigh tokens only together; give both or none")
    if options.price is not None and not options.best_value:
        raise InputError(f"price belongs to best_value, not to {given[0]}; leave it out")
