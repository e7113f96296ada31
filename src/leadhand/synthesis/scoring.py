"""Scores findings of models: an independent model checks each of them and may refute it.

The scorer sees a finding and its code, never who reported it; it returns a number and a reason.
"""

import asyncio
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict

from leadhand.contracts.answer import Finding
from leadhand.contracts.team import ModelSpec, Tier
from leadhand.errors import ModelError
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.prompts import joined, prompt
from leadhand.models.structured import (
    BadAnswer,
    StructuredAnswer,
    ask_structured,
    output_tool,
    read_form,
)
from leadhand.synthesis.findings import UNSCORED
from leadhand.untrusted.cutting import cut
from leadhand.untrusted.fence import Fence

MAX_CONCURRENT = 16
DOUBTFUL = (50, 90)
"""A first score in this range, both ends included, is replaced by a second one."""
FIRST_LINES, SECOND_LINES = 20, 120
"""Lines before and after a finding that the model sees for the first and the second score."""
_REFUTED_AT_MOST = 24
_MAX_WHY_CHARS = 400
_REQUESTER = Requester("scorer")

_FORM = output_tool(
    "score",
    "Give your verdict on the finding.",
    why={"type": "string", "description": "What decides it, in one sentence that names the code."},
    verdict={"type": "string", "enum": ["confirmed", "refuted", "undecided"]},
    score={
        "type": "integer",
        "minimum": 0,
        "maximum": 100,
        "description": "How likely the finding is true and worth fixing, 0 to 100.",
    },
)


class Surroundings(Protocol):
    def around(self, finding: Finding, lines: int) -> str: ...


class Score(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    why: str
    verdict: Literal["confirmed", "refuted", "undecided"]
    score: float

    @property
    def confidence(self) -> int:
        """0 to 100, low if the finding is refuted."""
        most = _REFUTED_AT_MOST if self.verdict == "refuted" else 100
        return round(min(max(self.score, 0), most))


class Scorer:
    """Scores findings with the fast tier's model, and doubtful ones with the strong tier's."""

    def __init__(
        self,
        caller: Caller,
        tiers: Mapping[Tier, Sequence[ModelSpec]],
        fence: Fence,
        *,
        surroundings: Surroundings,
    ) -> None:
        self._caller = caller
        self._tiers = tiers
        self._fence = fence
        self._surroundings = surroundings
        instructions = joined(prompt("leadhand.synthesis", "scorer"), fence.explanation)
        self._request = CallRequest(instructions, output=_FORM)

    async def score(
        self,
        findings: Iterable[Finding],
        into: MutableMapping[str, Finding],
        *,
        objections: Mapping[str, str] | None = None,
    ) -> None:
        """Put each finding into `into` by its id, scored or with the reason why not."""
        said = objections or {}
        places = asyncio.Semaphore(MAX_CONCURRENT)

        async def scored(finding: Finding) -> None:
            async with places:
                into[finding.id] = await self._scored(finding, said.get(finding.id, ""))

        async with asyncio.TaskGroup() as group:
            for finding in findings:
                group.create_task(scored(finding))

    async def _scored(self, finding: Finding, objection: str) -> Finding:
        try:
            given = await self._look(finding, objection, "fast", FIRST_LINES)
            if DOUBTFUL[0] <= given.confidence <= DOUBTFUL[1]:
                given = await self._look(finding, objection, "strong", SECOND_LINES)
        except ModelError as error:
            why = f"{UNSCORED}: {error}"
            return finding.model_copy(update={"confidence": 0, "why": cut(why, _MAX_WHY_CHARS)})
        why = cut(" ".join(given.why.split()), _MAX_WHY_CHARS)
        return finding.model_copy(update={"confidence": given.confidence, "why": why})

    async def _look(self, finding: Finding, objection: str, tier: Tier, lines: int) -> Score:
        given = {
            "finding": _claim(finding),
            "objection": objection,
            "code": self._surroundings.around(finding, lines),
        }
        fenced = (self._fence.around(text, source=name) for name, text in given.items() if text)
        text = joined("Judge this finding by the code.", *fenced)
        return await ask_structured(
            self._caller,
            _REQUESTER,
            text,
            request=self._request,
            models=self._tiers[tier],
            read=_read,
        )


def _claim(finding: Finding) -> str:
    lines = (
        f"{finding.severity}, {finding.path}, line {finding.line}",
        finding.message,
        f"Proposed fix: {finding.suggestion}" if finding.suggestion else "",
        f"Quoted code:\n{finding.evidence}",
    )
    return "\n".join(line for line in lines if line)


def _read(answer: StructuredAnswer) -> Score:
    score = read_form(Score, answer, otherwise="Give your verdict by calling `score`.")
    if not 0 <= score.score <= 100:
        raise BadAnswer(f"`score` is {score.score:g}; it must be 0 to 100.")
    return score
