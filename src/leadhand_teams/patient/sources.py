"""Sources against each other: the same entry twice, and what they state differently."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator

from leadhand_teams.patient.clinical import VOCABULARY
from leadhand_teams.patient.output import ClinicalItem, ClinicalLine, ItemKind, MeasuredValue
from leadhand_teams.patient.records import PatientRecord
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


def day_of(date: str | None) -> str:
    """The day of a date; empty if it is unknown."""
    return (date or "")[:10]


def differ(one: float, other: float) -> bool:
    """Whether two values differ by more than rounding."""
    return abs(one - other) > 0.02 * max(abs(one), abs(other))


def is_active(item: ClinicalItem) -> bool:
    """Whether it is going on, as far as its source says."""
    return item.status in ("active", "recurrence", "relapse", "on-hold", "intended", None)


def merged(record: PatientRecord, *kinds: ItemKind) -> tuple[list[ClinicalItem], list[str]]:
    """The entries of these kinds, each once, by time; and those that are in two sources."""
    found: dict[tuple[str | None, ...], ClinicalItem] = {}
    duplicates: list[str] = []
    for item in (one for one in record.items if one.kind in kinds):
        day = day_of(item.onset)
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
    stated = [*_subjects(record), *_items(record), *_values(record)]
    lines = [(f"{about}: {' or '.join(said.values())}", list(said)) for about, said in stated]
    return [ClinicalLine(text=text, refs=refs) for text, refs in lines]


def _subjects(record: PatientRecord) -> Iterator[tuple[str, dict[str, str]]]:
    for name, about in (("sex", "sex"), ("birth_date", "birth date"), ("deceased", "death")):
        said = {str(getattr(one, name)): place for place, _, one in reversed(record.subjects)}
        said.pop("None", None)
        if len(said) > 1:
            words = {"True": "dead, without a date", "False": "not dead"}
            yield f"the patient's {about}", {at: words.get(it, it) for it, at in said.items()}


def _items(record: PatientRecord) -> Iterator[tuple[str, dict[str, str]]]:
    """Active and ended, and an allergy beside none known; of each file its latest entry counts."""
    latest = defaultdict[tuple[str, str], dict[str, ClinicalItem]](dict)
    none = [one for one in record.items if VOCABULARY.no_known_allergy & set(one.codes)]
    for one in sorted(record.items, key=lambda item: moment(item.onset)):
        if one.kind == "problem" and one.status == "active" and one.end:
            yield one.display, {_place(one): f"active, and ended {day_of(one.end)}"}
        if one.kind == "allergy" and none and one not in none and is_active(one):
            yield "allergies", {_place(none[0]): none[0].display, _place(one): one.display}
        if one.kind in ("problem", "medication", "allergy"):
            latest[one.kind, one.code or one.display.casefold()][one.file] = one
    for (kind, _), by_file in latest.items():
        active = [one for one in by_file.values() if is_active(one)]
        for one in (one for one in by_file.values() if active and not is_active(one)):
            if not one.onset or moment(one.onset) >= moment(active[0].onset):
                both = (one, active[0])
                said = {_place(it): f"{it.status} ({day_of(it.onset) or '?'})" for it in both}
                yield f"{kind} {one.display}", said


def _values(record: PatientRecord) -> Iterator[tuple[str, dict[str, str]]]:
    """Values of the same code and time that differ by more than rounding."""
    grouped = defaultdict[tuple[str, str], list[MeasuredValue]](list)
    for one in record.measured:
        if one.date:
            grouped[one.code, day_of(one.date)].append(one)
    for (_, day), (first, *others) in grouped.items():
        for one in (one for one in others if one.file != first.file):
            value = convert(one.value, one.unit, first.unit, one.code)
            timed = len(first.date or "") > 10 and len(one.date or "") > 10
            same_time = not timed or moment(first.date) == moment(one.date)
            if value is not None and same_time and differ(value, first.value):
                said = {_place(it): f"{it.value:g} {it.unit or ''}".strip() for it in (first, one)}
                yield f"{first.display} of {day}", said
