"""The product's own estimator: local and pooled evidence, combined by weights that never see a task's own outcome."""

from skilldelta.estimators.stack.stack import FittedStack, Stack

__all__ = ["FittedStack", "Stack"]
