"""One comparison of every definition before and after the change, for the rules of all lenses."""

from leadhand_teams.review.comparison.edits import Edit as Edit
from leadhand_teams.review.comparison.pairs import DefinitionPairs as DefinitionPairs
from leadhand_teams.review.comparison.pairs import Pair as Pair
from leadhand_teams.review.comparison.parts import Kind as Kind
from leadhand_teams.review.comparison.parts import Part as Part
from leadhand_teams.review.comparison.removals import Removal as Removal
from leadhand_teams.review.comparison.removals import Rows as Rows
from leadhand_teams.review.comparison.removals import finding as finding
from leadhand_teams.review.comparison.removals import findings as findings
from leadhand_teams.review.comparison.removals import of_edits as of_edits
from leadhand_teams.review.comparison.removals import shown as shown
