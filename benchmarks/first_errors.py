"""How often code finds the agent and the step that made a team of agents fail.

    python -m benchmarks.first_errors [--workloads DIR]

The logs are those of Who&When (`teams/failure_attribution`), in which people have named the agent
and the step of the decisive mistake. They are read as the steps of a run, and the rules of
`leadhand.evals.first_error` name the first one that is wrong: a step that states the wrong answer
which the log ends with, else the first that reports an error, whose author is the agent before the
terminal, else the first agent's first step. No model is asked.

Published for the models of Who&When (Zhang et al. 2025): agent 53.5 %, step 14.2 %.
"""

import argparse
import gzip
import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from leadhand.evals.first_error import LogStep, first_wrong

_TOOLS = {"computer_terminal", "human", "computerterminal"}
"""Speakers that make no mistake of their own: they show what others did."""
_BROKEN = re.compile(
    r"Traceback \(most recent call last\)|exitcode: [1-9]|\b\w*(?:Error|Exception):|"
    r"\b(?:unable to|failed to|could not be (?:found|accessed)|not found|timed out)\b"
)
_ANSWER = re.compile(r"(?:FINAL ANSWER|final answer(?: is)?|answer is)\W{0,6}([^\n.]{1,80})")


class Failure(NamedTuple):
    """A log, and where people say that it went wrong."""

    kind: str
    truth: str
    steps: tuple[LogStep, ...]
    agent: str
    step: int


def failures(workloads: Path) -> list[Failure]:
    """The logs."""
    file = workloads / "teams" / "failure_attribution" / "data.jsonl.gz"
    if not file.exists():
        raise SystemExit(f"no {file}: name the folder of workloads with --workloads")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Failure(
            row["kind"],
            str(row["ground_truth"]),
            tuple(
                LogStep(
                    one["agent"],
                    "task",
                    one["content"],
                    failed=_BROKEN.search(one["content"]) is not None,
                    seq=int(one["step"]),
                )
                for one in row["history"]
            ),
            row["mistake_agent"],
            int(row["mistake_step"]),
        )
        for row in rows
    ]


def by_rules(log: Failure) -> tuple[str, int]:
    """The agent and the step that the rules name."""
    steps = [step for step in log.steps if (step.who or "").lower() != "human"]
    wrong = [one for one in _answers(steps) if one.casefold() != log.truth.casefold()]
    place, _ = first_wrong(steps[1:], said=wrong[-1:])
    at = 0 if place is None else place + 1
    while at > 0 and (steps[at].who or "").lower() in _TOOLS:
        at -= 1
    return steps[at].who or "", steps[at].seq


def _answers(steps: Sequence[LogStep]) -> list[str]:
    """The final answers that a log states, in order."""
    found = [match[1].strip(" *`'\"") for step in steps for match in _ANSWER.finditer(step.text)]
    return [one for one in found if one]


def first_agent(log: Failure) -> tuple[str, int]:
    """The first agent and its first step."""
    first = next(step for step in log.steps if (step.who or "").lower() not in _TOOLS)
    return first.who or "", first.seq


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    default = Path(os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads"))
    parser.add_argument("--workloads", type=Path, default=default)
    logs = failures(parser.parse_args().workloads)
    guesses: dict[str, Callable[[Failure], tuple[str, int]]] = {
        "rules": by_rules,
        "first agent": first_agent,
    }
    print(f"{'':<22}{'logs':>6}{'agent':>9}{'step':>9}")
    for kind in (*dict.fromkeys(log.kind for log in logs), "all"):
        mine = [log for log in logs if kind in (log.kind, "all")]
        for name, guess in guesses.items():
            named = [(log, *guess(log)) for log in mine]
            agents = sum(agent.lower() == log.agent.lower() for log, agent, _ in named)
            right = sum(step == log.step for log, _, step in named)
            shares = f"{agents / len(mine):>9.1%}{right / len(mine):>9.1%}"
            print(f"{f'{name}, {kind}':<22}{len(mine):>6}{shares}")
    print(f"{'published best':<22}{'':>6}{0.535:>9.1%}{0.142:>9.1%}")


if __name__ == "__main__":
    main()
