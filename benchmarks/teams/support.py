"""How often the team `support` finds the right section, says that none fits, and names the kind.

    python -m benchmarks.teams.support [manuals] [rules] [triage]

`manuals`: the questions of `support_manuals`, with plain BM25 beside it; past tickets are all other
questions, and without those of the same words. The factors of the ranking and its threshold were
set by hand on these questions, so a choice among many settings is also cross-validated: for each
fifth of the sections the best setting on the other questions is used. `rules` and `triage`: the
kind of the issues of `support_triage` by rules, and by routers trained in ten folds (scikit-learn).
"""

import gzip
import json
import math
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple, cast

from leadhand.routing.examples import Example
from leadhand.routing.training import train
from leadhand_teams.shared.search import Index as Bm25
from leadhand_teams.support import sections as retrieval
from leadhand_teams.support.output import DocSection
from leadhand_teams.support.routing import routed
from leadhand_teams.support.sections import ANSWERS_FROM, PastTicket, SectionIndex
from leadhand_teams.support.troubleshooter import signs

DATA = Path(os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads"), "teams")
_FOLDS = 5


class Question(NamedTuple):
    manual: str
    text: str
    gold: tuple[str, ...]


def rows(name: str) -> list[dict[str, object]]:
    """The rows of a file of the data."""
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def interval(hits: int, of: int) -> str:
    """A share with its 95 % interval (Wilson 1927)."""
    z, share = 1.96, hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return f"{share:.3f} ({hits} of {of}; {middle - half:.2f} to {middle + half:.2f})"


def places(ranked: Iterable[Sequence[str]], questions: Iterable[Question]) -> str:
    """How often the right section is first, and among three."""
    at = [
        next((place for place, ref in enumerate(refs) if ref in question.gold), 99)
        for refs, question in zip(ranked, questions, strict=True)
    ]
    three = sum(one < 3 for one in at) / len(at)
    return f"first {interval(at.count(0), len(at))}, among three {three:.3f}"


def manuals() -> None:
    """Print the figures of the manuals."""
    questions = [
        Question(str(row["manual"]), str(row["question"]), tuple(cast("list[str]", row["gold"])))
        for row in rows("support_manuals/data.jsonl.gz")
    ]
    sections: defaultdict[str, list[DocSection]] = defaultdict(list)
    for row in rows("support_manuals/docs.jsonl.gz"):
        path = str(row["path"]).split(" > ")[:-1]
        section = DocSection.model_validate({**row, "ref": row["id"], "path": path})
        sections[str(row["manual"])].append(section)
    for manual, found in sections.items():
        own = [one for one in questions if one.manual == manual]
        other = [one for one in questions if one.manual != manual]
        plain = Bm25([(one.title, one.text) for one in found], heading_weight=1)
        hits = [[found[hit.item].ref for hit in plain.search(one.text)] for one in own]
        print(f"{manual}: {len(own)} questions")
        print("  BM25 without common words:", places(hits, own))
        index = SectionIndex(found)
        print("  ranked:", places(map(_ranked(index), own), own))
        for strict in (False, True):
            which = "other words" if strict else "all others"
            ranked = _with_tickets(found, own, strict=strict)
            print(f"  with past tickets, {which}:", places(ranked, own))
        if len(own) > 100:
            print("  settings cross-validated:", places(_chosen(index, own), own))
        yes, no = (sum(_answers(index, one) for one in asked) for asked in (own, other))
        print("  answered of its own:", interval(yes, len(own)))
        print("  refused of the other product:", interval(len(other) - no, len(other)))


def _ranked(index: SectionIndex) -> Callable[[Question], list[str]]:
    return lambda question: [one.ref for one in index.ranked(question.text)]


def _answers(index: SectionIndex, question: Question) -> bool:
    ranked = index.ranked(question.text, 1)
    return bool(ranked) and ranked[0].score >= ANSWERS_FROM


def _with_tickets(
    sections: Sequence[DocSection], questions: Sequence[Question], *, strict: bool
) -> list[list[str]]:
    """The ranking of each question, with the other questions as past tickets.

    `strict`: without those of the same words.
    """
    found: list[list[str]] = []
    index = SectionIndex(sections, [PastTicket(one.text, one.gold) for one in questions])
    words = [frozenset(index.words(one.text)) for one in questions]
    known = index.asked_before
    for number, (question, own) in enumerate(zip(questions, words, strict=True)):
        vars(index)["asked_before"] = [
            one
            for at, (one, other) in enumerate(zip(known, words, strict=True))
            if at != number and not (strict and other == own)
        ]
        found.append(_ranked(index)(question))
    return found


def _chosen(index: SectionIndex, questions: Sequence[Question]) -> list[list[str]]:
    """The ranking of each question by the setting that is best on the other folds."""
    names = ("PAIRS", "TITLE", "PROBLEM")
    settings = [*product((0.0, 1.0, 2.0, 3.0), (0.0, 0.67, 1.33, 2.0), (0.0, 1.0, 2.0))]
    ranked: dict[tuple[float, ...], list[list[str]]] = {}
    before = {name: getattr(retrieval, name) for name in names}
    for setting in settings:
        for name, value in zip(names, setting, strict=True):
            setattr(retrieval, name, value)
        ranked[setting] = [*map(_ranked(index), questions)]
    for name, value in before.items():
        setattr(retrieval, name, value)
    golds = sorted({one.gold for one in questions})
    fold = [golds.index(one.gold) % _FOLDS for one in questions]
    found: list[list[str]] = [[] for _ in questions]
    for number in range(_FOLDS):
        rest = [at for at, one in enumerate(fold) if one != number]

        def right(setting: tuple[float, ...], among: Sequence[int] = rest) -> float:
            refs = ranked[setting]
            first = sum(refs[at][:1] != [] and refs[at][0] in questions[at].gold for at in among)
            three = sum(any(ref in questions[at].gold for ref in refs[at][:3]) for at in among)
            return first + three

        best = max(settings, key=right)
        print(f"    fold {number}: {dict(zip(names, best, strict=True))}")
        for at in (at for at, one in enumerate(fold) if one == number):
            found[at] = ranked[best][at]
    return found


def f1(wanted: Sequence[str], given: Sequence[str]) -> str:
    """Macro F1, and that of each kind."""
    hits, asked, said = Counter[str](), Counter(wanted), Counter(given)
    for one, other in zip(wanted, given, strict=True):
        hits[one] += one == other
    each = {kind: 2 * hits[kind] / (asked[kind] + said[kind]) for kind in asked}
    shown = ", ".join(f"{kind} {value:.3f}" for kind, value in each.items())
    return f"macro F1 {sum(each.values()) / len(each):.4f} ({shown})"


def _issues() -> list[tuple[str, str]]:
    """Text and kind of each issue."""
    return [
        (f"{row['title']}\n{row['body'] or ''}", str(row["label"]))
        for row in rows("support_triage/data.jsonl.gz")
    ]


def rules() -> None:
    """Print the figures of the rules alone."""
    issues = _issues()
    given = [routed(text, signs(text, "request")).kind for text, _ in issues]
    print("kind by rules:", f1([kind for _, kind in issues], given))


def triage() -> None:
    """Print the figures of trained routers, in ten folds."""
    issues = _issues()
    given = [""] * len(issues)
    by_kind: Mapping[str, list[int]] = defaultdict(list)
    for at, (_, kind) in enumerate(issues):
        by_kind[kind].append(at)
    fold = {at: n % 10 for ats in by_kind.values() for n, at in enumerate(ats)}
    for number in range(10):
        examples = [Example(*one) for at, one in enumerate(issues) if fold[at] != number]
        router = train(examples).router
        for at, (text, _) in enumerate(issues):
            if fold[at] == number:
                given[at] = routed(text, [], router).kind
        print(f"  fold {number}", flush=True)
    print("kind by trained routers:", f1([kind for _, kind in issues], given))


def main() -> None:
    """Print the figures that the arguments name, by default all."""
    known = {"manuals": manuals, "rules": rules, "triage": triage}
    for name in sys.argv[1:] or known:
        known[name]()


if __name__ == "__main__":
    main()
