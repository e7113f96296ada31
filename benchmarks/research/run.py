"""Asks the research team the 80 questions: `python -m benchmarks.research.run [FOLDER]...`.

Prints what was answered wrong, and how many of each kind are right, wrong, wrong with a doubt that
was stated, and refused. `--model NAME` asks with a model.
"""

import argparse
import asyncio
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from pydantic import JsonValue

from benchmarks.research.folders import FOLDERS
from benchmarks.research.forms import Given, Question, verdict, write
from benchmarks.research.further_folders import FURTHER
from benchmarks.research.third_folders import THIRD
from leadhand import Supervisor, Team
from leadhand.extension import load
from leadhand_teams.research.output import ResearchAnswer

SETS = {"first": FOLDERS, "further": FURTHER, "third": THIRD}
VERDICTS = ("right", "doubt stated", "refused", "wrong")


async def ask(team: Team[JsonValue], question: Question, folder: Path) -> Given:
    """The answer of the team."""
    answer = await Supervisor(team).run(question.text, inputs=[folder])
    made = ResearchAnswer.model_validate(answer.output)
    cited = [one.ref for one in (*made.citations, *made.also)]
    return Given(made.answer, made.answered, made.value, answer.status, made.doubts, cited)


async def main(names: list[str], model: str | None, which: str) -> None:
    """Ask and print."""
    team = replace(load("research"), model=model)
    counts: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as place:
        for folder in SETS[which]:
            if names and folder.name not in names:
                continue
            path = Path(place) / folder.name
            write(folder, path)
            for question in folder.questions:
                given = await ask(team, question, path)
                found = verdict(question, given)
                counts.setdefault(question.kind, Counter())[found] += 1
                if found != "right":
                    wanted = question.value if question.value is not None else question.words
                    print(f"{folder.name} | {question.text} | wanted {wanted} | {found}")
                    print(f"    {given.answer} {given.value} {given.cited} {given.doubts}")
    print(f"{'kind':14}" + "".join(f"{name:>14}" for name in VERDICTS))
    for kind, found in {**counts, "all": sum(counts.values(), Counter[str]())}.items():
        print(f"{kind:14}" + "".join(f"{found[name]:>14}" for name in VERDICTS))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--model")
    parser.add_argument("--set", choices=SETS, default="first", help="80, 31 or 51 questions")
    options = parser.parse_args()
    asyncio.run(main(options.folders, options.model, options.set))
