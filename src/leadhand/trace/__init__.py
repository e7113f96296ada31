"""What a run looks like from outside: figures and views folded from its state and events."""

from leadhand.run.metrics import metrics

__all__ = ["metrics"]
