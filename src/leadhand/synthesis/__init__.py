"""Puts the results of many tasks together; sees results only, never who was sent where."""

from leadhand.synthesis.duplicates import SEVERITIES
from leadhand.synthesis.findings import Dropped, Quote, Quotes, Review, synthesize

__all__ = ["SEVERITIES", "Dropped", "Quote", "Quotes", "Review", "synthesize"]
