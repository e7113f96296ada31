"""The law that a clause chooses: the names of states and countries in it."""

import re

from leadhand_teams.contracts.wording import wording


def jurisdictions(clause: str) -> tuple[str, ...]:
    """The states or countries whose law a clause chooses, in its order; empty if it names none.

    Names behind the first mention of courts, venue or arbitration are not the law's.
    """
    law = wording("law").search(clause)
    text = clause[law.start() :] if law is not None else clause
    venue = wording("venue").search(text)
    for part in (text[: venue.start()] if venue else text, clause):
        if found := [_tidy(match.group()) for match in wording("place").finditer(part)]:
            return tuple(dict.fromkeys(found))
        if union := wording("union").search(part):
            return (_tidy(union.group()),)
        if named := wording("other_place").search(part):
            return (_tidy(named["name"]),)
    return ()


def _tidy(name: str) -> str:
    plain = re.sub(r"\s+", " ", name)
    if plain.isupper() or plain.islower():
        plain = plain.title().replace(" Of ", " of ").replace("’S", "’s").replace("'S", "'s")
    return plain.removesuffix(" of America")
