"""All cases by name: the prompt and a number."""

from collections import Counter

from benchmarks.live_prompts.case import Case
from benchmarks.live_prompts.checks import CHECK_CASES
from benchmarks.live_prompts.held_out import HELD_OUT_CASES
from benchmarks.live_prompts.work import WORK_CASES


def _named(cases: list[Case]) -> dict[str, Case]:
    counts: Counter[str] = Counter()
    named: dict[str, Case] = {}
    for case in cases:
        counts[case.prompt] += 1
        named[f"{case.prompt} {counts[case.prompt]}"] = case
    return named


CASES = _named([*WORK_CASES, *CHECK_CASES, *HELD_OUT_CASES])
