"""The rules on removed protections."""

from leadhand.extension.findings import Severity
from leadhand_teams.review.lens import LensRule

_RESTORE = "Restore it, or explain in the change why it is no longer needed."


def _rule(name: str, severity: Severity, why: str, family: str) -> LensRule:
    family = f"security/removed-{family}"
    return LensRule(f"security/removed-{name}", family, severity, why, _RESTORE, removal=True)


GUARD = _rule("guard", "warning", "What it refused may now pass.", "guard")
ACCESS = _rule("access-guard", "critical", "Users that it refused may now have access.", "guard")
CLAUSE = _rule("clause", "warning", "The condition now lets more through.", "guard")
SWALLOWED = _rule("refusing-handler", "warning", "The error may now be ignored.", "guard")
CALL = _rule("call", "warning", "Its input or its result may now be unsafe.", "call")
SAFER = _rule("safer-variant", "warning", "The new one trusts its input more.", "call")
WRAPPER = _rule("wrapper", "warning", "The value is now used as it comes.", "call")
FALLBACK = _rule("fallback", "warning", "A case that it covered may now fail.", "call")
FUNCTION = _rule("check", "warning", "What it checked or encoded may now pass.", "call")
DECORATOR = _rule("decorator", "critical", "What it refused may now reach the code.", "setting")
VALIDATOR = _rule("validator", "warning", "Values that it refused are accepted now.", "setting")
LIMIT = _rule("limit", "warning", "Input or work may now be unlimited.", "setting")
TLS = _rule("tls", "critical", "The peer's certificate may no longer be verified.", "setting")
HEADER = _rule("header", "warning", "Browsers or caches may no longer protect users.", "setting")
FLAG = _rule("flag", "warning", "The former value is the safe one.", "setting")
ENTRY = _rule("entry", "warning", "The list now refuses less.", "setting")
PATTERN = _rule("anchor", "warning", "The pattern now accepts more.", "guard")
FLOOR = _rule("version-floor", "warning", "Releases with known holes may be installed.", "setting")
REQUEST = _rule("request-check", "warning", "Other requests now take this way.", "guard")
OVERRIDE = _rule("override", "warning", "What it refused goes to the method of a base.", "guard")
RULES = (
    GUARD, ACCESS, CLAUSE, SWALLOWED, WRAPPER, FALLBACK, CALL, SAFER,
    FUNCTION, DECORATOR, VALIDATOR, LIMIT, TLS, HEADER, FLAG, ENTRY, PATTERN, FLOOR,
    REQUEST, OVERRIDE,
)  # fmt: skip

WEAK = frozenset((CLAUSE, WRAPPER, FALLBACK, LIMIT))
"""Rules that see what is missing, and not whether it protected: they don't judge rewritten code."""
