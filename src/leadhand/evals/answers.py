"""Scores of the answer: its status and data, and how its text uses the results. Pure.

Code decides what it can: numbers, quotes and words. What only a reader can decide is for the judge.
"""

import json
import re
from collections.abc import Iterator, Sequence

from leadhand.contracts import events
from leadhand.contracts.answer import Answer
from leadhand.contracts.outcome import Result
from leadhand.evals.cases import ExpectedAnswer, ExpectedSynthesis, ExpectedWork
from leadhand.evals.outputs import output_scores, states
from leadhand.evals.trials import CaseScore, Trial, share
from leadhand.run.gaps import without_gaps
from leadhand.synthesis.citations import REMOVED, check_citations

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)")
_WORD = re.compile(r"[^\W\d_]{4,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\s\[])|\n+")
_CITED = re.compile(r"\[([^\[\]\n]{1,400})\](?!\()")


def answer_scores(expected: ExpectedAnswer | None, trial: Trial) -> Iterator[CaseScore]:
    answer = trial.answer
    wanted = expected.status if expected else None
    tolerated = ("complete", "partial") if trial.case.faults else ("complete",)
    right = answer.status == wanted if wanted else answer.status in tolerated
    why = "" if right else f"it is {answer.status}"
    if not right and answer.gaps:
        why += f": {answer.gaps[0].why:.200}"
    yield CaseScore(name="answer.status", value=float(right), why=why)
    if expected is not None:
        yield from output_scores("answer", expected, answer.output)


def synthesis_scores(expected: ExpectedSynthesis, trial: Trial) -> Iterator[CaseScore]:
    text = trial.answer.answer
    missing = missing_facts(expected, trial.answer)
    yield from share("synthesis.facts", missing, len(expected.facts), "lacks ")
    said = [one for one in expected.forbidden if states(text, one)]
    yield from share("synthesis.forbidden", said, len(expected.forbidden), "says ")
    yield from _citations(expected, trial)
    yield from _used(expected, trial)
    known = " ".join(f"{one.about} {one.why}" for one in trial.answer.conflicts)
    lost = [one for one in expected.conflicts if not states(f"{known} {text}", one)]
    yield from share("synthesis.conflicts", lost, len(expected.conflicts), "does not state ")
    yield from _gaps(expected, trial)


def missing_facts(expected: ExpectedSynthesis, answer: Answer) -> list[str]:
    """The facts that the text does not state in these words; what its gaps say does not count."""
    text = without_gaps(answer.answer, answer.gaps, contact=answer.contact)
    facts = [(one,) if isinstance(one, str) else (*one,) for one in expected.facts]
    return [" or ".join(fact) for fact in facts if not any(states(text, one) for one in fact)]


def _citations(expected: ExpectedSynthesis, trial: Trial) -> Iterator[CaseScore]:
    results, plan = trial.results, trial.plan
    known = {task.id for task in plan.tasks} | {*results} if plan else {*results}
    text = trial.answer.answer
    found = check_citations(text, known=known, given=results)
    wrong = found.removed + sum(map(int, REMOVED.findall(text)))
    total = len(found.cited) + wrong
    if not total:
        if expected.cites:
            yield CaseScore(name="synthesis.citations", value=0.0, why="it cites no task")
        return
    why = f"{wrong} of {total} cite no result" if wrong else ""
    yield CaseScore(name="synthesis.citations", value=1 - wrong / total, why=why)
    unsupported: list[str] = []
    claims = 0
    for sentence in _SENTENCE.split(found.text):
        sources = [results[id] for id in _cited(sentence) if id in results]
        if sources:
            claims += 1
            if not supports(sources, _CITED.sub("", sentence)):
                unsupported.append(sentence.strip())
    yield from share("synthesis.supported", unsupported, max(1, claims), "no cited result says ")


def supports(sources: Sequence[Result], sentence: str) -> bool:
    """Whether results have every number of a sentence, and words of it."""
    said = " ".join(text_of(one) for one in sources)
    numbers = {one.replace(",", "") for one in _NUMBER.findall(sentence)}
    there = {one.replace(",", "") for one in _NUMBER.findall(said)}
    words = _words(sentence)
    return numbers <= there and (not words or bool(words & _words(said)))


def text_of(result: Result) -> str:
    output = result.output
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    text = text.replace("\\n", "\n")
    return " ".join([result.summary, text, *result.evidence, *result.missing])


def _words(text: str) -> set[str]:
    return {one.casefold() for one in _WORD.findall(text)}


def _used(expected: ExpectedSynthesis, trial: Trial) -> Iterator[CaseScore]:
    tasks, results = trial.plan.tasks if trial.plan else (), trial.results
    text = trial.answer.answer
    needed = {id for task in tasks for id in task.depends_on}
    last = [task for task in tasks if task.id not in needed] if len(tasks) > 1 else []
    named = [task for task in tasks if {task.id, task.worker} & {*expected.uses}]
    wanted = named if expected.uses else last
    absent = {*expected.uses} - {name for task in named for name in (task.id, task.worker)}
    there = {*_NUMBER.findall(text)} | _words(text)
    unused = sorted(absent)
    for task in wanted:
        said = text_of(results[task.id]) if task.id in results else ""
        own = (_words(said) - _words(trial.case.request)) | {*_NUMBER.findall(said)}
        if task.id not in _cited(text) and own and len(own & there) < min(2, len(own)):
            unused.append(task.id)
    yield from share("synthesis.used", unused, len(wanted) + len(absent), "does not use ")


def _cited(text: str) -> set[str]:
    return {id for group in _CITED.findall(text) for id in re.split(r"\s*[,;]\s*", group)}


def _gaps(expected: ExpectedSynthesis, trial: Trial) -> Iterator[CaseScore]:
    answer = trial.answer
    workers = {task.id: task.worker for task in answer.tasks}
    known = {name for gap in answer.gaps for name in (gap.task_id, workers.get(gap.task_id, ""))}
    lost = [one for one in expected.gaps if one not in known]
    lost += [gap.task_id for gap in answer.gaps if not states(answer.answer, gap.task_id)]
    total = len(expected.gaps) + len(answer.gaps)
    yield from share("synthesis.gaps", lost, total, "does not state ")


def work_scores(expected: ExpectedWork, trial: Trial) -> Iterator[CaseScore]:
    result = next(iter(trial.results.values()), None)
    escalated = [one for one in trial.own if isinstance(one, events.TaskEscalated)]
    if result is not None:
        yield from output_scores("workers", expected, result.output)
    elif expected.model_fields_set & {"output", "check"}:
        failed = [one for one in trial.own if isinstance(one, events.TaskFailed)]
        why = next((one.message for one in (*failed, *escalated)), "it has no result")
        yield CaseScore(name="workers.output", value=0.0, why=why)
    called = {event.tool for event in trial.own if isinstance(event, events.ToolCalled)}
    wrong = [f"{name} was not called" for name in expected.must_call if name not in called]
    wrong += [f"{name} was called" for name in expected.must_not_call if name in called]
    total = len(expected.must_call) + len(expected.must_not_call)
    yield from share("workers.tools", wrong, total)
    if (wanted := expected.escalates) is not None:
        reasons = [one.reason for one in escalated]
        right = bool(reasons) == wanted if isinstance(wanted, bool) else wanted in reasons
        said = f"it handed the task back: {reasons[0]}" if reasons else "it handed nothing back"
        yield CaseScore(name="workers.escalated", value=float(right), why="" if right else said)
