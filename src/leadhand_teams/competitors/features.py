"""Which competitor has what: yes, no, partly or unknown, from what its sources state. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from rapidfuzz import fuzz

from leadhand_teams.competitors.output import Feature, Has
from leadhand_teams.competitors.records import SourceRecord
from leadhand_teams.shared.search import stem

_YES: Final = re.compile(
    r"^\W*(?:[✓✔☑✅●]|(?:yes|true|included|available|unlimited|full|supported|ja|oui|sí)\b|x$)",
    re.I,
)
_NO: Final = re.compile(
    r"^\s*(?:[✗✘❌☐×–—-]\s*$|(?:no|not|none|false|never|n/a|without|nein|non|kein\w*)\b)", re.I
)
_PARTLY: Final = re.compile(
    r"\b(?:add-?on|beta|preview|limited|partial(?:ly)?|partly|enterprise only|on request|"
    r"optional|extra cost|only (?:in|on|for|with)|read-?only|teilweise)\b",
    re.IGNORECASE,
)
_NOT_YET: Final = re.compile(r"\b(?:coming soon|planned|roadmap|announced)\b", re.IGNORECASE)
_SILENT: Final = re.compile(r"^\W*(?:unknown|tbd|tbc|nan|null|n\.?k\.?)?\W*$", re.IGNORECASE)
_BARE: Final = re.compile(r"^\W*(?:yes|no|true|false|included|x)\b\W?|^[^\w(]+", re.IGNORECASE)
_SAME: Final = (
    ("sso", "single sign-on", "single sign on", "saml"),
    ("2fa", "mfa", "two-factor", "two factor", "multi-factor"),
    ("api", "rest api", "api access"),
    ("audit log", "audit logs", "audit trail", "activity log"),
    ("on-premises", "on-premise", "on premise", "self-hosted", "self hosted"),
    ("mobile app", "mobile apps", "ios app"),
    ("custom domain", "custom domains", "own domain"),
)
"""Words for the same feature."""
_FILLER: Final = frozenset(
    ("the", "a", "an", "and", "or", "of", "for", "with", "to", "all", "access")
)
_ALIKE: Final = 90


def has(value: str) -> Has:
    """What a table's cell says of a feature."""
    if _NO.match(value) or _NOT_YET.search(value):
        return "no"
    if _PARTLY.search(value):
        return "partly"
    return "yes" if _YES.match(value) or not _SILENT.match(value) else "unknown"


def is_verdict(value: str) -> bool:
    """Whether a cell says yes, no or partly, rather than naming or counting something."""
    partly = _PARTLY.search(value) and len(value) < 40
    return bool(_YES.match(value) or _NO.match(value) or _NOT_YET.search(value) or partly)


def matrix(records: Sequence[SourceRecord], competitors: Sequence[str]) -> list[Feature]:
    """A cell for each feature and competitor; features that most of them state come first."""
    groups: list[tuple[dict[str, None], list[tuple[SourceRecord, str, str]]]] = []
    for record in records:
        for attribute, value in record.values.items():
            for names, stated in groups:
                if attribute in names or any(same_feature(attribute, name) for name in names):
                    names[attribute] = None
                    stated.append((record, attribute, value))
                    break
            else:
                groups.append(({attribute: None}, [(record, attribute, value)]))
    shown = [group for group in groups if any(is_verdict(value) for _, _, value in group[1])]
    shown.sort(key=lambda group: -len({record.competitor for record, _, _ in group[1]}))
    return [
        _cell(min(names, key=len), one, [entry for entry in stated if entry[0].competitor == one])
        for names, stated in shown
        for one in competitors
    ]


def _cell(name: str, competitor: str, stated: Sequence[tuple[SourceRecord, str, str]]) -> Feature:
    found: list[tuple[SourceRecord, str, Has, str]] = [
        (one, value, verdict, one.refs[key])
        for one, key, value in stated
        if (verdict := has(value)) != "unknown"
    ]
    if not found:
        return Feature(attribute=name, competitor=competitor, has="unknown")
    having = [entry for entry in found if entry[2] != "no"] or found
    _, value, verdict, ref = having[0]
    items = ", ".join(dict.fromkeys(one.item for one, *_ in having if one.item))
    if len({entry[2] for entry in found}) > 1:  # some plans have it and some don't
        value, items = "", f"only {items}" if items else value
        verdict = "partly"
    parts = [_BARE.sub("", value).strip(" ()"), items] if verdict != "no" else []
    cell = Feature(attribute=name, competitor=competitor, has=verdict, ref=ref)
    cell.value = "; ".join(filter(None, parts))
    return cell


def only_one_has(cells: Sequence[Feature]) -> list[Feature]:
    """The features that one competitor has and every other one is stated not to have."""
    found: list[Feature] = []
    for name in dict.fromkeys(cell.attribute for cell in cells):
        group = [cell for cell in cells if cell.attribute == name]
        owners = [cell for cell in group if cell.has == "yes"]
        if len(owners) == 1 and [cell.has for cell in group].count("no") == len(group) - 1 > 0:
            found += owners
    return found


def same_feature(one: str, two: str) -> bool:
    """Whether two names are of one feature: `SSO (SAML)` and `Single sign-on`."""
    first, second = one.lower().strip(), two.lower().strip()
    if first == second or any(_has(first, words) and _has(second, words) for words in _SAME):
        return True
    stems, others = _stems(first), _stems(second)
    if not stems or re.findall(r"\d+", first) != re.findall(r"\d+", second):
        return False
    return fuzz.ratio(stems, others) >= _ALIKE


def _has(text: str, words: Sequence[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for word in words)


def _stems(text: str) -> str:
    words = (word for word in re.findall(r"[^\W_]+", text) if word not in _FILLER)
    return " ".join(sorted(stem(word) for word in words))
