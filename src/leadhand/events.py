"""The events of a run, one class each: what `stream` and listeners give."""

from leadhand.contracts.events import *  # noqa: F403
