"""The first 30 cases of each set, by a team without a model and with one, side by side.

    LEADHAND_MODEL=openai-chat:NAME OPENAI_BASE_URL=... python -m benchmarks.teams.with_model FILE

The sets: sections of a manual, kinds of issues (support), fields of questions (experts), questions
about folders (research). FILE keeps each answer, so that a run that was stopped goes on.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.research.folders import FOLDERS
from benchmarks.research.forms import Given, Question, verdict, write
from benchmarks.teams.experts import questions
from benchmarks.teams.support import DATA, rows
from leadhand import Supervisor
from leadhand.extension import load
from leadhand_teams.research.output import ResearchAnswer

CASES = 30
DEADLINE_S = 600


class Case(NamedTuple):
    """A request of a set, and what would be right."""

    set: str
    team: str
    request: str
    inputs: tuple[Path, ...]
    wanted: Any


def cases(folder: Path) -> Iterator[Case]:
    """The first cases of each set; their inputs are written into `folder`."""
    sections: dict[str, list[str]] = {}
    for row in rows("support_manuals/docs.jsonl.gz"):
        sections.setdefault(str(row["manual"]), []).append(json.dumps(row))
    for manual, lines in sections.items():
        (folder / f"{manual}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    for row in rows("support_manuals/data.jsonl.gz")[:CASES]:
        inputs = (folder / f"{row['manual']}.jsonl",)
        yield Case("section", "support", str(row["question"]), inputs, row["gold"])
    for row in rows("support_triage/data.jsonl.gz")[:CASES]:
        text = f"{row['title']}\n{row['body'] or ''}"
        yield Case("kind", "support", text, (), row["label"])
    for one in questions(DATA.parent)[:CASES]:
        wanted = None if one.domain == "other" else one.domain
        yield Case("expert", "experts", one.text, (), wanted)
    asked: list[tuple[Question, Path]] = []
    for each in FOLDERS:
        write(each, folder / each.name)
        asked += [(question, folder / each.name) for question in each.questions]
    for question, place in asked[:CASES]:
        yield Case("answer", "research", question.text, (place,), question)


def is_right(case: Case, output: dict[str, Any], status: str) -> bool:
    """Whether the promised field is right."""
    if case.set == "section":
        return any(one["ref"] in case.wanted for one in output["sections"][:1])
    if case.set != "answer":
        return output[case.set] == case.wanted
    made = ResearchAnswer.model_validate(output)
    cited = [one.ref for one in (*made.citations, *made.also)]
    given = Given(made.answer, made.answered, made.value, status, made.doubts, cited)
    return verdict(case.wanted, given) == "right"


async def answered(case: Case, model: str | None) -> dict[str, Any]:
    """How the team answered a case."""
    team = replace(load(case.team), model=model)
    supervisor = Supervisor(team, deadline_s=DEADLINE_S)
    answer = await supervisor.run(case.request, inputs=case.inputs)
    output = answer.output if isinstance(answer.output, dict) else {}
    return {
        "right": bool(output) and is_right(case, output, answer.status),
        "engine": answer.engine,
        "seconds": round(answer.metrics.makespan_s, 1),
    }


def stored(file: Path) -> dict[str, Any]:
    """The cases that were asked before, by name."""
    if not file.exists():
        return {}
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {line["case"]: line for line in lines}


async def main(file: Path, model: str) -> None:
    """Ask what was not asked before, and print the table."""
    known = stored(file)
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases(Path(folder))):
            name = f"{case.set} {number % CASES + 1}"
            if name in known:
                continue
            without, with_model = await answered(case, None), await answered(case, model)
            known[name] = {"case": name, "set": case.set, "without": without, "with": with_model}
            with file.open("a", encoding="utf-8") as kept:
                kept.write(json.dumps(known[name]) + "\n")
    print("| set | without | with | model used | better | worse | median |")
    print("|---|---|---|---|---|---|---|")
    for name in dict.fromkeys(one["set"] for one in known.values()):
        own = [one for one in known.values() if one["set"] == name]
        plain, model_right = ([one[key]["right"] for one in own] for key in ("without", "with"))
        pairs = list(zip(plain, model_right, strict=True))
        seconds = sorted(one["with"]["seconds"] for one in own)
        used = sum(one["with"]["engine"] == "model" for one in own)
        print(
            f"| {name} | {sum(plain)} of {len(own)} | {sum(model_right)} | {used} "
            f"| {pairs.count((False, True))} | {pairs.count((True, False))} "
            f"| {seconds[len(seconds) // 2]} s |"
        )


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), os.environ["LEADHAND_MODEL"]))
