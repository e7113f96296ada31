"""Sources against each other: the same entry twice, and what they state differently."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence

from leadhand_teams.patient.clinical import VOCABULARY
from leadhand_teams.patient.output import ClinicalItem, ClinicalLine, ItemKind
from leadhand_teams.patient.records import MeasuredValue, PatientRecord
from leadhand_teams.patient.units import convert


def moment(text: str | None) -> dt.datetime:
    """When a date of FHIR or of a table begins; the first of all moments if it is unknown."""
    for written in ((text or "").strip() + end for end in ("", "-01", "-01-01")):
        try:
            found = dt.datetime.fromisoformat(written)
        except ValueError:
            continue
        return found if found.tzinfo else found.replace(tzinfo=dt.UTC)
    return dt.datetime.min.replace(tzinfo=dt.UTC)


def is_active(item: ClinicalItem) -> bool:
    """Whether it is going on, as far as its source says."""
    return item.status in ("active", "recurrence", "relapse", "on-hold", "intended", None)


def merged(record: PatientRecord, *kinds: ItemKind) -> tuple[list[ClinicalItem], list[str]]:
    """The entries of these kinds, each once, by time; and those that are in two sources."""
    found: dict[tuple[str | None, ...], ClinicalItem] = {}
    duplicates: list[str] = []
    for item in (one for one in record.items if one.kind in kinds):
        day = (item.onset or "")[:10]
        key = (item.kind, item.code or item.display.casefold(), day, item.status)
        earlier = found.get(key)
        if earlier is None or earlier.file == item.file:
            found[key if earlier is None else (*key, item.ref)] = item
        else:
            found[key] = earlier.model_copy(update={"refs": [*earlier.refs, item.ref]})
            places = f"{_place(earlier)}, {_place(item)}"
            duplicates.append(f"{item.display} ({day or 'no date'}): {places}")
    return sorted(found.values(), key=lambda one: moment(one.onset)), duplicates


def _place(one: ClinicalItem | MeasuredValue) -> str:
    return one.ref if one.ref.startswith(one.file) else f"{one.file}#{one.ref}"


def contradictions(record: PatientRecord) -> list[ClinicalLine]:
    """What sources state differently, and an entry that contradicts itself."""
    stated = [*_subjects(record), *_items(record), *_values(record.measured)]
    lines = [(f"{about}: {' or '.join(said.values())}", list(said)) for about, said in stated]
    return [ClinicalLine(text=text, refs=refs) for text, refs in lines]


def _subjects(record: PatientRecord) -> Iterable[tuple[str, dict[str, str]]]:
    for name in ("sex", "birth_date", "deceased"):
        said = {str(getattr(one, name)): place for place, _, one in reversed(record.subjects)}
        said.pop("None", None)
        if len(said) > 1:
            yield f"the patient's {name.replace('_', ' ')}", {at: what for what, at in said.items()}


def _items(record: PatientRecord) -> Iterable[tuple[str, dict[str, str]]]:
    grouped = defaultdict[tuple[str, str, str], dict[bool, ClinicalItem]](dict)
    none = [one for one in record.items if VOCABULARY.no_known_allergy & set(one.codes)]
    for one in record.items:
        if one.kind == "problem" and one.status == "active" and one.end:
            yield one.display, {_place(one): f"active, and ended {one.end[:10]}"}
        if one.kind == "allergy" and none and one not in none and is_active(one):
            yield "allergies", {_place(none[0]): none[0].display, _place(one): one.display}
        if one.kind in ("problem", "medication", "allergy"):
            key = one.kind, one.code or one.display.casefold(), (one.onset or "")[:10]
            grouped[key].setdefault(is_active(one), one)
    for states in grouped.values():
        if len({one.file for one in states.values()}) == 2:
            said = {_place(one): one.status or "no status" for one in states.values()}
            one = next(iter(states.values()))
            yield f"{one.kind} {one.display}", said


def _values(measured: Sequence[MeasuredValue]) -> Iterable[tuple[str, dict[str, str]]]:
    """Values of the same code and time that differ by more than rounding."""
    grouped = defaultdict[tuple[str, str], list[MeasuredValue]](list)
    for one in measured:
        if one.date:
            grouped[one.code, one.date[:10]].append(one)
    for (_, day), (first, *others) in grouped.items():
        for one in others:
            value = convert(one.value, one.unit, first.unit, one.code)
            timed = len(first.date or "") > 10 and len(one.date or "") > 10
            other_time = timed and moment(first.date) != moment(one.date)
            if one.file == first.file or value is None or other_time:
                continue
            if abs(value - first.value) > 0.02 * max(abs(value), abs(first.value)):
                both = (first, one)
                said = {_place(it): f"{it.value:g} {it.unit or ''}".strip() for it in both}
                yield f"{first.display} of {day}", said
