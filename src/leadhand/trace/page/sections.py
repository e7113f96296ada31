"""The head of the page: status, question, answer, metrics, costs, plans."""

from collections.abc import Iterator, Mapping, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from leadhand.contracts.answer import Answer
from leadhand.contracts.outcome import Usage
from leadhand.run.gaps import without_gaps
from leadhand.tools.files.legible import cleaned
from leadhand.trace.formatting import format_duration, format_price, format_speedup
from leadhand.trace.page.markup import Html, joined, tag
from leadhand.trace.run_history import RunHistory

_FIRST_HEADING = 3
"""The page itself uses the first two levels of headings."""
MAX_CHARS = 200_000
"""Of an answer on the page; `trace --format json` has all of it."""


def head(history: RunHistory, *, held: bool) -> Html:
    state, figures = history.state, history.metrics
    standing = history.run_status(held=held)
    done = sum(task.status == "completed" for task in state.tasks.values())
    engine = state.answer.engine if state.answer is not None else state.engine
    began = f"{history.started_at:%Y-%m-%d %H:%M:%S} UTC" if history.started_at is not None else ""
    tiles = [
        ("time", format_duration(figures.makespan_s)),
        ("speed-up", format_speedup(figures, "×") if figures.speedup != 0 else "–"),
        ("critical path", format_duration(figures.critical_path_s)),
        ("tasks completed", f"{done:,} of {len(state.tasks):,}"),
    ]
    if figures.requests:
        tokens = f"{figures.input_tokens:,}, {figures.output_tokens:,}"
        tiles += [("requests", f"{figures.requests:,}"), ("tokens in, out", tokens)]
        tiles.append(("cost", format_price(figures.cost_usd)))
    if state.answer is not None and state.answer.confidence is not None:
        tiles.append(("confidence", f"{state.answer.confidence} of 100"))
    return tag(
        "header",
        tag("p", " · ".join([state.run_id, f"team {state.team}", f"engine: {engine}", began])),
        tag("h1", tag("span", standing, class_=f"status {standing}"), " ", state.request),
        tag("p", f"follows {state.after[0].run_id or 'a conversation'}: {state.after[0].request}")
        if state.after
        else Html(),
        tag("dl", *(tag("div", tag("dt", name), tag("dd", said)) for name, said in tiles)),
    )


def next_step(history: RunHistory, *, held: bool) -> Html:
    """What the run waits for and the command that continues it, unless it is over."""
    run_id, questions = history.state.run_id, history.open_questions
    if questions:
        asked = [tag("li", tag("b", one.task_id or "the plan"), ": ", one.question)
                 for one in questions]  # fmt: skip
        command = tag("code", f"leadhand answer {run_id}")
        said = joined("It waits for a person.", tag("ul", *asked), "Answer with ", command)
    elif history.run_status(held=held) == "interrupted":
        command = tag("code", f"leadhand resume {run_id}")
        said = joined("It has no answer, and no process works on it. Continue with ", command)
    else:
        return Html()
    return tag("div", said, class_="notice")


def answer(given: Answer | None) -> Iterator[Html]:
    if given is None:
        yield tag("p", "There is no answer yet.", class_="quiet")
        return
    yield from _list("What is missing", [(gap.task_id, gap.why) for gap in given.gaps])
    yield tag(
        "article",
        render_markdown(without_gaps(given.answer, given.gaps, contact=given.contact)),
        render_markdown(given.contact or ""),
        class_="scroll",
        tabindex="0",
    )
    conflicts: list[tuple[str, str]] = []
    for one in given.conflicts:
        end = f"Taken as right: {one.resolution}." if one.resolution else "Open."
        between = f"{', '.join(one.task_ids)} ({one.kind})"
        conflicts.append((between, f"{one.about} {end} {one.why}".strip()))
    yield from _list("Conflicts", conflicts)
    yield from _list("Sources", [(one.task_id, one.ref) for one in given.sources[:200]])


def _list(title: str, pairs: Sequence[tuple[str, str]]) -> Iterator[Html]:
    if pairs:
        yield tag("h3", title)
        yield tag("ul", *(tag("li", tag("b", name), ": ", said) for name, said in pairs))


def plans(history: RunHistory) -> Html:
    rows: list[Html] = []
    for version in history.plans:
        said = f"{format_duration(version.at_s)}{f': {version.said}' if version.said else ''}"
        notes = tag("ul", *(tag("li", note) for note in version.notes)) if version.notes else ""
        rows.append(tag("li", f"{version.title} after {said}", notes))
    plan = history.state.plan or history.state.proposed
    for worker in plan.workers if plan is not None else ():
        tools = ", ".join(worker.tools or ()) or "no tools"
        said = f": {worker.description} ({tools}). Instructions: {worker.instructions}"
        rows.append(tag("li", "worker made for this plan: ", tag("b", worker.name), said))
    rows += [tag("li", f"{format_duration(step.at_s)}: {step.words}") for step in history.notices]
    return tag("ul", *rows) if rows else tag("p", "There is no plan.", class_="quiet")


def costs(history: RunHistory) -> Iterator[Html]:
    if not history.usage_by_owner:
        yield tag("p", "No model was used.", class_="quiet")
    yield from _used("role", history.usage_by("role"))
    yield from _used("worker", history.usage_by("worker"))
    yield from _used("model", history.usage_by("model"))


def _used(by: str, used: Mapping[str, Usage]) -> Iterator[Html]:
    if not used:
        return
    names = (by, "requests", "tokens in", "tokens out", "cost")
    rows = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            tag("td", f"{usage.requests:,}"),
            tag("td", f"{usage.input_tokens:,}"),
            tag("td", f"{usage.output_tokens:,}"),
            tag("td", format_price(usage.cost_usd)),
        )
        for name, usage in used.items()
    ]
    top = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names)))
    table = tag("table", top, tag("tbody", *rows), class_="costs")
    yield tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=f"By {by}")


def render_markdown(text: str) -> Html:
    """Untrusted Markdown as HTML with a few harmless elements and attributes.

    HTML in it is shown as text, links and images as text and target: the page fetches nothing (F16,
    F32).
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable("image")
    cut = text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}\n\n(cut here)"
    tokens = _dead(parser.parse(cleaned(cut)))
    return Html(parser.renderer.render(tokens, parser.options, {}))


def _dead(tokens: Sequence[Token]) -> list[Token]:
    made: list[Token] = []
    targets: list[str] = []
    for token in tokens:
        token.content = cleaned(token.content)
        token.info = ""
        if token.type in ("heading_open", "heading_close"):
            level = int(token.tag.removeprefix("h")) + _FIRST_HEADING - 1
            token.tag = f"h{min(level, 6)}"
        if token.type == "link_open":
            targets.append(str(token.attrs.get("href", "")))
        elif token.type == "link_close":
            made.append(Token("text", "", 0, content=f" ({cleaned(targets.pop())})"))
        else:
            token.attrs = {
                name: value
                for name, value in token.attrs.items()
                if name == "start" and isinstance(value, int)
            }
            token.children = None if token.children is None else _dead(token.children)
            made.append(token)
    return made
