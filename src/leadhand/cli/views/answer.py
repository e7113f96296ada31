"""An answer for people: formatted on a terminal, plain text elsewhere, or Markdown. No markup or
escape sequence of a model or worker takes effect."""

from collections.abc import Callable, Sequence

from rich.console import Console, Group
from rich.text import Text
from rich.theme import Theme

from leadhand.cli.views.consoles import print_page
from leadhand.cli.views.markdown_text import code
from leadhand.cli.views.terminal import inert, safe, safe_block, sentence
from leadhand.contracts.answer import FOUND_HEADING, Answer, Conflict, Gap
from leadhand.run.gaps import reason, without_gaps
from leadhand.tools.text import counted
from leadhand.trace.formatting import format_duration, format_gain, format_price
from leadhand.untrusted.markdown import prose

MAX_SOURCES = 20
"""Sources shown one by one; `--json` has all."""
MAX_ALIKE = 5
"""Gaps of one reason that are shown one by one; more of them share one line."""
_NAMED = 3

_Shown = Callable[[str], str]
"""Shows a text of a model or worker so that no markup in it takes effect."""
_THEME = Theme({"markdown.code": "cyan"})
"""Code without rich's black box, which a light terminal would show as one."""
_STATUS_STYLES = {"complete": "green", "failed": "red"}


def show_answer(answer: Answer, console: Console) -> None:
    if console.is_terminal:
        text = _laid_out(answer, console)
    else:
        text = inert(_document(answer, name=_quoted, said=sentence, ref=str))
    console.file.write(text)


def markdown(answer: Answer) -> str:
    """The answer as Markdown: its gaps, its text, then conflicts, sources and the footer."""
    return inert(_document(answer, name=code, said=_prose, ref=code))


def _document(answer: Answer, *, name: _Shown, said: _Shown, ref: _Shown) -> str:
    parts = _parts(answer, name=name, said=said, ref=ref)
    return "\n\n".join([*parts, f"---\n\n{' · '.join(footer(answer))}"]) + "\n"


def _parts(answer: Answer, *, name: _Shown, said: _Shown, ref: _Shown) -> list[str]:
    gaps = _gaps(answer, name, said)
    body = safe_block(without_gaps(answer.answer, answer.gaps, contact=answer.contact))
    parts = [
        _section("What is missing", gaps),
        f"{FOUND_HEADING}\n\n{body}" if gaps and body.strip() else body,
        safe_block(answer.contact or ""),
        _section("Conflicts", [conflict_line(one, name, said) for one in answer.conflicts]),
        _section("Sources", _sources(answer, ref)),
    ]
    return [part.strip("\n") for part in parts if part.strip()]


def _section(title: str, lines: Sequence[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


def footer(answer: Answer) -> list[str]:
    metrics, total = answer.metrics, len(answer.tasks)
    done = sum(task.status == "completed" for task in answer.tasks)
    tasks = counted(total, "task") if done == total else f"{done:,} of {counted(total, 'task')}"
    unused = "no output of a model" if metrics.requests else "no model"
    engine = "model" if answer.engine == "model" else f"deterministic, {unused} was used"
    parts = [answer.status, f"engine: {engine}", tasks, format_duration(metrics.makespan_s)]
    parts += filter(None, [format_gain(metrics)])
    if metrics.requests or answer.engine == "model":
        parts.append(counted(metrics.requests, "request"))
        parts.append(f"{metrics.input_tokens:,} tokens in, {metrics.output_tokens:,} out")
        parts.append(format_price(metrics.cost_usd))
    return parts


def _gaps(answer: Answer, name: _Shown, said: _Shown) -> list[str]:
    """Many gaps of one reason share a line."""
    alike: dict[str, list[Gap]] = {}
    for gap in answer.gaps:
        alike.setdefault(gap.why, []).append(gap)
    lines: list[str] = []
    for why, gaps in alike.items():
        if len(gaps) <= MAX_ALIKE:
            lines += [f"{name(gap.task_id)}: {reason(gap, said)}" for gap in gaps]
        else:
            names = ", ".join(name(gap.task_id) for gap in gaps[:_NAMED])
            lines.append(f"{names} and {len(gaps) - _NAMED:,} more: {said(why)}")
    return lines


def conflict_line(conflict: Conflict, name: _Shown, said: _Shown) -> str:
    """Between which tasks it is, what it is about, and how it ended."""
    between = ", ".join(map(name, conflict.task_ids))
    end = f"taken as right: {said(conflict.resolution)}" if conflict.resolution else "open"
    why = f" ({said(conflict.why)})" if conflict.why else ""
    wrong = ", ".join(map(name, conflict.misrouted))
    cause = f"; it was not for {wrong}" if wrong else ""
    return f"{between} ({conflict.kind}): {said(conflict.about)}; {end}{why}{cause}"


def _prose(text: str) -> str:
    return prose(sentence(text))


def _quoted(name: str) -> str:
    return f"`{safe(name)}`"


def _sources(answer: Answer, shown: _Shown) -> list[str]:
    by_ref: dict[str, list[str]] = {}
    for source in answer.sources:
        by_ref.setdefault(shown(sentence(source.ref)), []).append(shown(safe(source.task_id)))
    lines = [f"{ref} ({', '.join(dict.fromkeys(ids))})" for ref, ids in by_ref.items()]
    if len(lines) <= MAX_SOURCES:
        return lines
    return [*lines[:MAX_SOURCES], f"and {len(lines) - MAX_SOURCES:,} more, which --json has"]


def _laid_out(answer: Answer, console: Console) -> str:
    # A parser for Markdown, which takes longer to import than a small review has to wait.
    from leadhand.cli.views.markdown_view import SafeMarkdown

    text = SafeMarkdown("\n\n".join(_parts(answer, name=code, said=_prose, ref=code)))
    status, *rest = footer(answer)
    style = f"bold {_STATUS_STYLES.get(answer.status, 'yellow')}"
    end = Text.assemble((status, style), (f" · {' · '.join(rest)}", "dim"))
    with console.use_theme(_THEME), console.capture() as captured:
        print_page(console, Group(text, Text(), end))
    return captured.get()
