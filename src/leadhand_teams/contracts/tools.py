"""What a model must not do in its head: read limits and laws, compare limits and wordings."""

from leadhand.tools.errors import ToolCallError
from leadhand_teams.contracts.comparing import direction
from leadhand_teams.contracts.jurisdictions import jurisdictions
from leadhand_teams.contracts.limits import limits


def law_of(clause: str) -> list[str]:
    """Name the states or countries whose law a clause chooses; none if it names none.

    Args:
        clause: The clause, word for word.
    """
    return list(jurisdictions(clause))


def within_limit(clause: str, limit: str) -> bool:
    """Say whether all limits of a clause are at most `limit`.

    Args:
        clause: The clause, word for word.
        limit: A period, a sum or a percentage, such as 60 days.
    """
    allowed = limits(limit)
    found = [one for one in limits(clause) if allowed and one.kind == allowed[0].kind]
    if not found:
        raise ToolCallError(f"the clause has no limit that can be compared with {limit!r}")
    return all(one.value <= allowed[0].value * 1.02 for one in found)


def wording_changes(before: str, after: str) -> str:
    """Say which limits and which binding or loosening words differ between two wordings.

    Args:
        before: The earlier wording.
        after: The later wording.
    """
    score, why = direction("", before, after)
    word = "tighter" if score > 0 else "looser" if score < 0 else "no direction"
    return f"{word}: {why or 'no limit and no binding word differs'}"
