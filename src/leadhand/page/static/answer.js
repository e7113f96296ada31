// The answer: what is missing or contradictory first, then the text, typed output, and sources.

import { html, render, useLayoutEffect, useRef } from "./vendor/preact.js";
import { counted, look } from "./format.js";
import { changed } from "./router.js";
import { Copy, Empty, Icon, Note, Status } from "./ui.js";
import { empty, Value } from "./value.js";

const NAMED = 200, FIRST = 12;
const REASON = /^(?:ambiguous_input|low_confidence|out_of_scope): /; // of a task that was handed back; its state says it

// What is missing, apart from what the questions above say.
export function gapsOf(view) {
  const asked = new Set((view.questions ?? []).map((one) => one.task_id ?? "plan"));
  return (view.gaps ?? []).filter((gap) => view.status !== "waiting" || !asked.has(gap.task_id));
}

export function Answer({ run, view }) {
  const { answer } = view, writing = view.status === "running" && run.writing.value[":synthesizer"];
  if (writing) return html`<div class="answer"><p class="row small muted"><${Icon} name="pencil" />The answer is being written</p><div class="prose writing" aria-live="polite">${writing}</div></div>`;
  if (!answer) return html`<${Empty} icon="text" title="There is no answer yet">${view.status === "running" ? "It appears here as it is written. The graph shows what is being done." : "The run stopped before its answer."}<//>`;
  const typed = typeof answer.output === "object" && !empty(answer.output);
  if (view.status === "waiting" && !view.answer_html && !typed) return html`<${Empty} icon="hand" title="There is no answer yet">The run goes on once a person has replied.<//>`;
  return html`<article class="answer">
    <${Doubts} run=${run} view=${view} />
    ${view.answer_html ? html`<section class="card text"><${Prose} run=${run} markup=${view.answer_html} sources=${answer.sources} /><${Copy} text=${answer.answer} label="Copy the answer as Markdown" /></section>` : null}
    ${typed ? html`<details class="card typed" open=${!view.answer_html}><summary><${Icon} name="chevron-right" /><h2>The result as data</h2></summary><div class="pad"><${Value} value=${answer.output} /></div></details>` : null}
    <${Sources} run=${run} sources=${answer.sources ?? []} />
    ${answer.confidence !== null && answer.confidence !== undefined ? html`<p class="small muted">Confidence of the answer: ${answer.confidence} of 100.</p>` : null}
    ${answer.contact ? html`<p class="small muted">${answer.contact}</p>` : null}
  </article>`;
}

// Rendered Markdown, as the service has cleaned it. Names of tasks and sources in brackets become links.
export function Prose({ run, markup, sources = [] }) {
  const ref = useRef(null);
  useLayoutEffect(() => {
    ref.current.innerHTML = markup;
    layOut(ref.current);
    cite(ref.current, run, new Map(sources.map((one) => [one.ref, one.task_id])));
  }, [markup, run.query]);
  return html`<div class="prose" ref=${ref}></div>`;
}

// Blocks of JSON, as teams without a model give them, are shown as what they mean.
function layOut(element) {
  for (const table of element.querySelectorAll("table")) {
    const place = Object.assign(document.createElement("div"), { className: "scroll", tabIndex: 0, role: "group", ariaLabel: "Table" });
    table.replaceWith(place);
    place.append(table);
    for (const cell of table.querySelectorAll("td")) if (cell.textContent.length > 24) cell.classList.add("long");
  }
  for (const code of element.querySelectorAll("pre > code")) {
    let value = null;
    try {
      value = JSON.parse(code.textContent);
    } catch {
      continue;
    }
    if (value === null || typeof value !== "object") continue;
    const place = document.createElement("div");
    place.className = "laidout";
    code.parentElement.replaceWith(place);
    render(html`<${Value} value=${value} />`, place);
  }
}

function cite(element, run, sources) {
  const texts = [], walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (walker.currentNode.data.includes("[") && !walker.currentNode.parentElement.closest("a, pre, code")) texts.push(walker.currentNode);
  // A place in a file belongs to the task that names the place, else to one that names the file.
  const taskOf = (name) => [name, sources.get(name), sources.get(name.split(/[:#!]/)[0])].find((path) => run.byPath.has(path));
  const link = (name) => Object.assign(document.createElement("a"), { className: "cite", textContent: name, href: run.href(taskOf(name)), title: run.byPath.get(taskOf(name)).intent ?? "" });
  for (const code of element.querySelectorAll("code")) {
    const name = code.textContent;
    if (code.parentElement.tagName !== "PRE" && sources.has(name) && taskOf(name)) code.replaceWith(link(name));
  }
  for (const text of texts) {
    const parts = text.data.split(/\[([^[\]]{1,200})\]/).map((part, index) => {
      const names = index % 2 ? part.split(/[,;] */) : [];
      if (!names.length || !names.every((name) => taskOf(name))) return index % 2 ? [`[${part}]`] : [part];
      return names.map(link);
    });
    if (parts.length > 1) text.replaceWith(...parts.flat());
  }
}

function Doubts({ run, view }) {
  const conflicts = view.conflicts ?? [];
  const doubted = run.tasks.filter((task) => task.status === "completed" && task.error);
  const open = conflicts.filter((one) => !one.resolution), settled = conflicts.filter((one) => one.resolution);
  // A contradiction that nothing settled is a gap, too: it is shown once.
  const gaps = gapsOf(view).filter((gap) => !open.some((one) => one.about && gap.why.includes(one.about)));
  return html`${gaps.length ? html`<${Note} tone=${view.status === "failed" ? "bad" : "wait"} icon="circle-alert"><h2>What is missing</h2><ul class="points">${gaps.slice(0, FIRST).map((gap, index) => html`<li key=${index}><${TaskName} run=${run} path=${gap.task_id} /> ${gap.why.replace(REASON, "")}</li>`)}${gaps.length > FIRST ? html`<li><a href=${changed({ view: "list" })}>and ${counted(gaps.length - FIRST, "more task")}</a></li>` : null}</ul><//>` : null}
    ${open.length ? html`<${Note} tone="wait" icon="git-branch"><h2>Contradictions</h2><ul class="points">${open.map((one, index) => html`<${Conflict} key=${index} run=${run} conflict=${one} />`)}</ul><//>` : null}
    ${doubted.length ? html`<${Note} icon="circle-help"><h2>Accepted with doubts</h2><ul class="points">${doubted.slice(0, NAMED).map((task) => html`<li key=${task.path}><${TaskName} run=${run} path=${task.path} /> ${task.error}</li>`)}</ul><//>` : null}
    ${settled.length ? html`<${Note} icon="git-branch"><h2>Differences that were settled</h2><ul class="points">${settled.map((one, index) => html`<${Conflict} key=${index} run=${run} conflict=${one} />`)}</ul><//>` : null}`;
}

const Conflict = ({ run, conflict }) => html`<li>${conflict.task_ids.map((path) => html`<${TaskName} key=${path} run=${run} path=${path} /> `)}${conflict.about} ${conflict.resolution ? html`<b>Taken as right: ${conflict.resolution}.</b> ` : null}<span class="muted">${conflict.why}</span></li>`;

// A task as a link with its state; what is no task of the run as text.
export function TaskName({ run, path }) {
  const task = run.byPath.get(path);
  if (!path || path.startsWith("(")) return null;
  if (!task) return html`<b>${path}</b>`;
  return html`<a class="taskname" href=${run.href(path)} title=${`${task.intent ?? ""} (${look(task.status).word})`}><${Status} bare status=${task.status} />${path}</a>`;
}

function Sources({ run, sources }) {
  if (!sources.length) return null;
  const by = new Map();
  for (const { task_id: task, ref } of sources.slice(0, 1000)) by.set(task, [...(by.get(task) ?? []), ref]);
  return html`<section class="sources"><h2>Sources</h2><ul class="card">${[...by].map(([task, refs]) => html`<li key=${task}><${TaskName} run=${run} path=${task} />
    <ul>${refs.slice(0, NAMED).map((ref) => html`<li key=${ref}><${Reference} value=${ref} /></li>`)}</ul></li>`)}</ul></section>`;
}

// A source: a web address as a link, a place in a file as text.
export function Reference({ value }) {
  if (/^https?:\/\/[^\s]+$/.test(value)) return html`<a class="ref" href=${value} target="_blank" rel="noopener noreferrer"><${Icon} name="external-link" />${value}</a>`;
  return html`<span class="ref"><${Icon} name="file-text" />${value}</span>`;
}
