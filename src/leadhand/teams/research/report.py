"""The writer's work without a model: what the others found, put together in one report.

Nothing is reworded, weighed or left out: where more is wanted, it takes a model.
"""

import json
from collections.abc import Iterable, Sequence

from pydantic import JsonValue, ValidationError

from leadhand.contracts.outcome import Digest, Handoff, Result
from leadhand.teams.research.figures import counted, listed
from leadhand.teams.research.findings import Findings, Gap
from leadhand.teams.research.quoting import block, inline
from leadhand.teams.research.words import asked

_NOTE = (
    "*No model was used: passages were picked and figures computed by code. Nothing was "
    "interpreted; what it means is for the reader to judge.*"
)


def write(handoff: Handoff) -> Result:
    """One report of all findings; what is no finding of this team's is quoted as it is."""
    read = {id: _findings(output) for id, output in handoff.inputs.items()}
    findings = [one for one in read.values() if one is not None]
    others = {id: handoff.inputs[id] for id, one in read.items() if one is None}
    sources = [one for one in findings if one.about == "sources"]
    tables = [one for one in findings if one.about == "tables"]
    parts = [f"# {inline(asked(handoff.intent))}", _NOTE]
    parts += _part("What the sources say", sources)
    parts += _part("What the tables show", tables)
    for id, output in others.items():
        parts += [f"## What {inline(id)} gave", block(_text(output))]
    missing = _missing(findings, handoff.context)
    if missing:
        parts += ["## What was not found or not read", "\n".join(missing)]
    return Result(
        output="\n\n".join(parts),
        summary=f"A report of {counted(len(handoff.inputs), 'finding')}, put together by code.",
    )


def _findings(output: JsonValue) -> Findings | None:
    try:
        return Findings.model_validate(output)
    except ValidationError:
        return None


def _text(output: JsonValue) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _part(title: str, findings: Sequence[Findings]) -> list[str]:
    if not findings:
        return []
    parts = [f"## {title}"]
    for one in findings:
        mark = "- " if len(one.lead) > 1 else ""
        parts.append("\n".join(f"{mark}{line}" for line in one.lead))
        for section in one.sections:
            parts += [f"### {section.title}", section.body]
    return parts


def _missing(findings: Sequence[Findings], context: Sequence[Digest]) -> list[str]:
    lines: list[str] = []
    # A word that one found something on was found.
    unknown = [
        word
        for word in dict.fromkeys(word for one in findings for word in one.unknown)
        if all(word in one.unknown for one in findings)
    ]
    if unknown:
        words = listed([f'"{inline(word)}"' for word in unknown], most=12)
        lines.append(f"- Found nowhere, in documents or tables: {words}.")
    lines += [
        f"- {inline(one.task_id)} gave nothing: {inline(one.why_missing)}"
        for one in context
        if one.why_missing
    ]
    return lines + _gaps(gap for one in findings for gap in one.gaps)


def _gaps(gaps: Iterable[Gap]) -> list[str]:
    """A line for each reason, with the files that it holds for."""
    names: dict[str, list[str]] = {}
    for gap in dict.fromkeys(gaps):
        names.setdefault(gap.why, []).append(gap.name)
    return [f"- {listed(files)}: {why}" for why, files in names.items()]
