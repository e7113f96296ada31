"""Extraction and flags of the team `patient`, beside what the data's makers computed.

    python -m benchmarks.teams.patient [--workloads DIR]

Reads `teams/patients`: bundles of FHIR R4 with their gold, handed in as they are and without their
conditions, and last values of patients, each handed in as a table of observations.
"""

import argparse
import csv
import gzip
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, cast

from leadhand import Answer, Supervisor
from leadhand.contracts.task import Batch
from leadhand.errors import InputError
from leadhand.extension import load
from leadhand_teams.patient.clinical import known_problem
from leadhand_teams.patient.output import PatientSummary

NAMES: Final = ("hypertension", "prediabetes", "diabetes", "obesity", "ckd")
LOINC: Final = {
    "bmi": ("39156-5", "kg/m2"), "a1c": ("4548-4", "%"), "sys": ("8480-6", "mm[Hg]"),
    "dia": ("8462-4", "mm[Hg]"), "sys_max": ("8480-6", "mm[Hg]"),
    "egfr": ("33914-3", "mL/min/{1.73_m2}"), "ldl": ("18262-6", "mg/dL"),
}  # fmt: skip
Counts = Counter[str]


def summarised(name: str, text: str) -> PatientSummary | None:
    """What the team answers for one file; None if it finds nothing in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_text(text, encoding="utf-8")
        batches = {"inputs": [Batch(artifacts=(str(path),))]}
        try:
            answer: Answer = Supervisor(load("patient")).run_sync(
                "Summarise this patient", batches=batches
            )
        except InputError:
            return None
    return PatientSummary.model_validate(answer.output)


def compare(counts: Counts, name: str, found: Iterable[str], gold: Iterable[str]) -> None:
    """Count what is in both, only found and only in the gold."""
    found, gold = set(found), set(gold)
    counts[f"{name}: right"] += len(found & gold)
    counts[f"{name}: invented"] += len(found - gold)
    counts[f"{name}: missed"] += len(gold - found)


def bundle(counts: Counts, found: PatientSummary, gold: Mapping[str, Any]) -> None:
    """The entries and series of one bundle."""
    active = {one.display for one in found.problems if one.status == "active"}
    compare(counts, "active problems", active, gold["active_conditions"])
    rest = {one.display for one in found.problems} - active
    compare(counts, "resolved problems", rest, gold["resolved_only"])
    for status in ("active", "stopped"):
        own = {one.display for one in found.medications if one.status == status}
        if status == "stopped":
            own -= {one.display for one in found.medications if one.status == "active"}
        compare(counts, f"{status} medications", own, gold[f"{status}_medications"])
    compare(counts, "allergies", (one.display for one in found.allergies), gold["allergies"])
    subject = (found.subject.sex, found.subject.birth_date, found.subject.deceased)
    same = subject == (gold["gender"], gold["birthDate"], gold["deceased"])
    counts["subject: right" if same else "subject: wrong"] += 1
    encounters = sum(one.kind == "encounter" for one in found.timeline)
    counts["encounters: right" if encounters == gold["encounters"] else "encounters: wrong"] += 1
    labs = {one.code: one for one in found.labs}
    compare(counts, "series", labs, (one["loinc"] for one in gold["series"]))
    for one in gold["series"]:
        if lab := labs.get(one["loinc"]):
            values = [point.value for point in lab.series]
            exact = [lab.latest_date, lab.latest] == one["latest"]
            counts["latest: exact" if exact else "latest: wrong"] += 1
            whole = (len(values), min(values), max(values), lab.unit) == (
                one["n"], one["min"], one["max"], one["unit"],
            )  # fmt: skip
            counts["series: all points" if whole else "series: points differ"] += 1


def flags(counts: Counts, found: PatientSummary | None, gold: Iterable[str]) -> None:
    """The flags of one patient."""
    names = {one.name for one in found.flags} if found else set[str]()
    for name in NAMES:
        compare(counts, name, names & {name}, {name} & set(gold))


def shown(title: str, counts: Counts) -> None:
    """Print counts, and precision and recall where there are any."""
    print(f"\n{title}")
    for name in dict.fromkeys(key.partition(":")[0] for key in counts):
        own = {what: counts[f"{name}: {what}"] for what in ("right", "invented", "missed")}
        if own["invented"] or own["missed"] or own["right"]:
            found, gold = own["right"] + own["invented"], own["right"] + own["missed"]
            precision = f"{own['right'] / found:.3f}" if found else "-"
            recall = f"{own['right'] / gold:.3f}" if gold else "-"
            print(f"  {name}: precision {precision}, recall {recall}, {own}")
    for key, count in counts.items():
        if key.partition(": ")[2] not in ("right", "invented", "missed"):
            print(f"  {key} {count}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    default = os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads")
    parser.add_argument("--workloads", type=Path, default=Path(default))
    folder = cast("Path", parser.parse_args().workloads) / "teams" / "patients"
    if not folder.is_dir():
        raise SystemExit(f"there is no {folder}: name the folder of the workloads with --workloads")
    extraction, coded, values = Counts(), Counts(), Counts()
    for line in gzip.decompress((folder / "data.jsonl.gz").read_bytes()).splitlines():
        row: dict[str, Any] = json.loads(line)
        found = summarised(f"{row['id']}.json", json.dumps(row["bundle"]))
        assert found is not None
        bundle(extraction, found, row["gold"])
        gold = [known_problem([], name) or "" for name in row["gold"]["active_conditions"]]
        flags(coded, found, gold)
        entries = [
            one for one in row["bundle"]["entry"] if one["resource"]["resourceType"] != "Condition"
        ]
        bare = json.dumps({**row["bundle"], "entry": entries})
        flags(values, summarised(f"{row['id']}.json", bare), gold)
    shown("14 bundles: entries and series", extraction)
    shown("flags of the bundles as they are", coded)
    shown("flags of the bundles without conditions", values)
    rows = Counts()
    for row in csv.DictReader((folder / "flags.csv").read_text().splitlines()):
        lines = [
            f"{LOINC[name][0]},{row[name]},{LOINC[name][1]},"
            f"{'2019-06-01' if name == 'sys_max' else '2020-06-01'}"
            for name in LOINC
            if row[name]
        ]
        table = "\n".join(["code,value,unit,date", *lines])
        flags(
            rows,
            summarised("observations.csv", table),
            [name for name in NAMES if row[name] == "1"],
        )
    shown("flags of flags.csv", rows)


if __name__ == "__main__":
    main()
