"""The product's own estimator: local and pooled evidence, combined by weights that never see a task's own outcome."""

from skilldelta.estimators.blend.blend import Blend, FittedBlend

__all__ = ["Blend", "FittedBlend"]
