"""Asks the cases and says what came of it."""

import json
import os
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from statistics import median

from pydantic_ai.messages import TextPart, ToolCallPart

from benchmarks.live_prompts.case import Lab
from benchmarks.live_prompts.cases import CASES
from benchmarks.live_prompts.kept import Exchange, Exchanges, KeptModel
from leadhand.engine.recorder import Recorder, SystemClock
from leadhand.errors import LeadhandError
from leadhand.journal import MemoryJournal
from leadhand.models.calls import Caller
from leadhand.models.connections import Connections
from leadhand.models.habits import answers_of, forget
from leadhand.models.replay import texts_of
from leadhand.untrusted.fence import Fence

_KIND_CHARS = 60
"""How much of a problem the table shows."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one case."""

    name: str
    prompt: str
    exchanges: Sequence[Exchange]
    given_up: bool
    wrong: str
    """What is wrong with an answer that could be used, or why there was none."""

    @property
    def problems(self) -> list[str]:
        """What each further request was asked for that should not have been needed."""
        return [one.problem for one in self.exchanges if one.problem]

    @property
    def line(self) -> str:
        """The case in one line."""
        how = f"after {len(self.problems)} repairs" if self.problems else "at once"
        came = f"given up: {self.wrong}" if self.given_up else f"{how}; {self.wrong or 'right'}"
        return f"{self.name}: {came} ({sum(one.seconds for one in self.exchanges):.0f} s)"


async def measured(
    model: str, exchanges: Exchanges, names: Sequence[str]
) -> AsyncGenerator[Measured]:
    """Each case as it ends."""
    forget()
    async with Connections(answers=answers_of({}, os.environ)) as connections:
        kept = KeptModel(connections.to(model).model, exchanges)
        for name in names:
            exchanges.start(name)
            caller = Caller(connections, Recorder("prompts", MemoryJournal(), clock=SystemClock()))
            wrong, given_up = "", False
            try:
                wrong = await CASES[name].ask(Lab(kept, caller, Fence("0" * 16)))
            except LeadhandError as error:
                wrong, given_up = " ".join(str(error).split()), True
            yield Measured(name, CASES[name].prompt, exchanges.asked, given_up, wrong)


def shown(one: Measured) -> str:
    """The case with its exchanges, for a reader."""
    lines = [f"=== {one.line}"]
    for exchange in one.exchanges:
        asked = [*texts_of(exchange.messages[-1:])]
        lines += ["--- asked", *asked, f"--- answered ({exchange.parameters.output_mode})"]
        for part in exchange.response.parts:
            if isinstance(part, TextPart):
                lines.append(part.content)
            elif isinstance(part, ToolCallPart):
                lines.append(f"{part.tool_name}({part.args})")
    return "\n".join(lines)


def table(found: Sequence[Measured]) -> str:
    """The table, a prompt a row."""
    rows: defaultdict[str, list[Measured]] = defaultdict(list)
    for one in found:
        rows[one.prompt].append(one)
    head = (
        "| prompt | cases | at once | after repairs | given up | right | tokens in | out | s "
        "| what was wrong |"
    )
    lines = [head, "|" + "---|" * 10]
    for prompt, mine in rows.items():
        once = sum(not one.given_up and not one.problems for one in mine)
        lost = sum(one.given_up for one in mine)
        right = sum(not one.given_up and not one.wrong for one in mine)
        each = [[step.response.usage for step in one.exchanges] for one in mine]
        read = median(sum(usage.input_tokens for usage in one) for one in each)
        wrote = median(sum(usage.output_tokens for usage in one) for one in each)
        seconds = median(sum(step.seconds for step in one.exchanges) for one in mine)
        kinds = Counter(
            kind for one in mine for kind in {one.wrong[:_KIND_CHARS], *_kinds(one)} if kind
        )
        said = ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common())
        counts = f"{len(mine)} | {once} | {len(mine) - once - lost} | {lost} | {right}"
        lines.append(f"| {prompt} | {counts} | {read:.0f} | {wrote:.0f} | {seconds:.0f} | {said} |")
    return "\n".join(lines)


def _kinds(one: Measured) -> list[str]:
    """What each repair was for, in a few words."""
    lines = [" ".join(problem.split()) for problem in one.problems]
    return [json.dumps(line[:_KIND_CHARS]) for line in lines]
