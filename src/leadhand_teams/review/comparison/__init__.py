"""One comparison of every definition before and after the change, for the rules of all lenses."""

from leadhand_teams.review.comparison.edits import Edit
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.parts import Kind, Part
from leadhand_teams.review.comparison.removals import (
    Removal,
    Rows,
    finding,
    findings,
    of_edits,
    shown,
)

__all__ = [
    "DefinitionPairs", "Edit", "Kind", "Pair", "Part", "Removal", "Rows", "finding", "findings",
    "of_edits", "shown",
]  # fmt: skip
