"""The writer without a model: puts the findings of the others together in one report.

It rewords, weighs and leaves out nothing: that would take a model.
"""

import json
from collections.abc import Sequence

from pydantic import JsonValue

from leadhand import Handoff, Result
from leadhand.contracts.outcome import Digest
from leadhand.tools.text import counted, grouped_by_reason, joined_names
from leadhand_teams.research.findings import Findings, findings_in
from leadhand_teams.research.quoting import block, inline
from leadhand_teams.research.word_forms import asks_for_texts, request_in

_NOTE = (
    "*No model was used: passages were picked and figures computed by code. Nothing was "
    "interpreted: what it means is for the reader to judge.*"
)


def write(handoff: Handoff) -> Result:
    """One report of all findings; other results are quoted verbatim."""
    read = {id: findings_in(output) for id, output in handoff.inputs.items()}
    findings = [one for one in read.values() if one is not None]
    others = {id: handoff.inputs[id] for id, one in read.items() if one is None}
    sources = [one for one in findings if one.about == "sources"]
    tables = [one for one in findings if one.about == "tables"]
    parts = [f"# {inline(request_in(handoff.intent))}"]
    parts += [part for one in (*tables, *sources) for part in one.answer]
    parts.append(_NOTE)
    parts += _part("What the sources say", sources)
    parts += _part("What the tables show", tables)
    for id, output in others.items():
        parts += [f"## Result of {inline(id)}", block(_text(output))]
    missing = _missing(findings, handoff.context)
    if missing:
        parts += ["## What was not found or not read", "\n".join(missing)]
    return Result(
        output="\n\n".join(parts),
        summary=f"A report of {counted(len(handoff.inputs), 'finding')}, put together by code.",
        missing=_not_found(handoff.intent, findings),
    )


def _not_found(intent: str, findings: Sequence[Findings]) -> tuple[str, ...]:
    """What the request asks for and no input has."""
    if findings and not any(one.found for one in findings):
        return ("no input is relevant to the request",)
    sources = [one for one in findings if one.about == "sources"]
    if sources and not any(one.found for one in sources) and asks_for_texts(request_in(intent)):
        groups = [group for one in findings for group in one.groups]
        if groups:
            return (f"no document that was handed in mentions {joined_names(groups)}",)
        return ("no document that was handed in says anything on this",)
    return ()


def _text(output: JsonValue) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _part(title: str, findings: Sequence[Findings]) -> list[str]:
    parts: list[str] = []
    for one in findings:
        mark = "- " if len(one.lead) > 1 else ""
        parts.append("\n".join(f"{mark}{line}" for line in one.lead))
        for section in one.sections:
            parts += [f"### {section.title}", section.body]
    parts = [part for part in parts if part]
    return [f"## {title}", *parts] if parts else []


def _missing(findings: Sequence[Findings], context: Sequence[Digest]) -> list[str]:
    lines: list[str] = []
    unknown = [
        word
        for word in dict.fromkeys(word for one in findings for word in one.unknown)
        if all(word in one.unknown for one in findings)
    ]
    if unknown:
        words = joined_names([f'"{inline(word)}"' for word in unknown], most=12)
        lines.append(f"- Found nowhere, in documents or tables: {words}.")
    lines += [
        f"- {inline(one.task_id)} has no result: {inline(one.why_missing)}"
        for one in context
        if one.why_missing
    ]
    # The answer itself lists the other gaps.
    gaps = [(gap.name, gap.why) for one in findings for gap in one.gaps if gap.by_choice]
    return lines + [
        f"- {inline(names, max_chars=1_000)}: {inline(why)}"
        for names, why in grouped_by_reason(gaps)
    ]
