"""The prompts of a worker's model: its instructions, and the handoff as its first message."""

from pydantic_core import to_json

from leadhand.contracts.outcome import Digest, Handoff, Result
from leadhand.contracts.team import MaterialFunction, Worker
from leadhand.models.prompts import joined, prompt
from leadhand.untrusted.cutting import cut
from leadhand.untrusted.fence import Fence

MAX_DRAFT_CHARS = 24_000
"""Characters of a draft that the model sees; its tools have what the draft was made of."""
CUT = " [cut here]"


def instructions(worker: Worker) -> str:
    if worker.plain:
        return worker.instructions
    return joined(worker.instructions, prompt("leadhand.workers", "worker"))


def opening(
    handoff: Handoff,
    fence: Fence,
    *,
    material: MaterialFunction | None = None,
    draft: Result | None = None,
) -> str:
    """The first message: the intent in the supervisor's own words, and everything else as data."""
    done = f"Done when: {handoff.done_when}" if handoff.done_when else ""
    shown = (material or _handed_over)(handoff)
    if handoff.payload is not None:
        shown = {"payload": to_json(handoff.payload).decode(), **shown}
    task = ""
    if draft is not None:
        task = prompt("leadhand.workers", "draft")
        output = to_json(draft.output).decode()
        shown = {**shown, "draft": joined(draft.summary, cut(output, MAX_DRAFT_CHARS, CUT))}
    given = [fence.around(text, source=name) for name, text in shown.items()]
    return joined(handoff.intent, done, task, fence.explanation if given else "", *given)


def _handed_over(handoff: Handoff) -> dict[str, str]:
    given = {one.task_id: _shown(one) for one in handoff.context}
    if handoff.artifacts:
        given["what to work on"] = "\n".join(handoff.artifacts)
    return given


def _shown(digest: Digest) -> str:
    # A summary that the output repeats, as a nested team's does, would be paid for twice.
    summary = "" if digest.summary.strip() in digest.excerpt else digest.summary
    if digest.why_missing is not None:
        missing = f"This task has no complete result ({digest.status}): {digest.why_missing}"
        return joined(missing, summary, digest.excerpt)
    left = "\n".join(f"Not done: {line}" for line in digest.missing)
    return joined(summary, left, digest.excerpt)
