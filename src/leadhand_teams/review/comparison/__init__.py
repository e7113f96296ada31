"""One comparison of every definition before and after the change, for the rules of all lenses."""

from leadhand_teams.review.comparison.edits import Edit
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.removals import Removal, asked, finding, findings, shown

__all__ = ["DefinitionPairs", "Edit", "Pair", "Removal", "asked", "finding", "findings", "shown"]
