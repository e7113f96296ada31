// The panel of a task: how it ended first, then its attempts and why they were decided on, and all calls.

import { html, useEffect, useRef } from "./vendor/preact.js";
import { get, me, part, post, useData } from "./api.js";
import { dependencies } from "./graph/model.js";
import { duration, number, plain, price } from "./format.js";
import { go, taskPath } from "./router.js";
import { Prose, Reference, TaskName } from "./answer.js";
import { Button, Copy, Icon, Loading, LongText, Note, Status, Trouble, useKeys, useTick } from "./ui.js";
import { empty, Value } from "./value.js";

export function TaskPanel({ run, path }) {
  run.version.value;
  const task = run.byPath.get(path), stamp = task ? `${task.status}${task.attempts.length}` : "";
  const { data, error, loading, reload } = useData(`/runs/${part(run.id)}/tasks/${taskPath(path)}`), ref = useRef(null);
  useEffect(() => { if (data) reload(); }, [stamp]);
  useKeys({ Escape: () => go(run.href(null)) });
  return html`<aside class="panel" ref=${ref} aria-label=${`Task ${path}`}>
    <header><div class="grow"><p class="small muted row">${task ? html`<${Status} status=${task.status} /><span>·</span><span class="clip">${task.worker}</span>` : null}</p><h2>${path}</h2></div>
      <${Copy} text=${() => location.href} label="Copy a link to this task" /><${Button} small quiet icon="x" title="Close (Escape)" href=${run.href(null)} /></header>
    ${!task && !loading && error ? html`<${Trouble} error=${error} />` : null}
    ${task ? html`<div class="inside"><${Inside} run=${run} task=${task} detail=${data} />
      ${error && !data ? html`<${Trouble} small error=${error} />` : !data && loading ? html`<${Loading} what="the task" />` : null}</div>` : null}</aside>`;
}

function Inside({ run, task, detail }) {
  const outcome = detail?.outcome ?? {}, result = detail?.result ?? outcome.result ?? outcome.partial;
  const writing = Object.entries(run.writing.value).filter(([key]) => key.startsWith(`${task.path}:`)).map(([, text]) => text).join("\n");
  const failed = task.error && task.status !== "completed", family = run.children(task.parent ?? null);
  const needs = dependencies(family), after = family.filter((one) => needs.get(one.path).includes(task.path)), nested = run.children(task.path);
  return html`
    ${failed ? html`<${Note} tone=${["failed", "timed_out"].includes(task.status) ? "bad" : "wait"} icon="circle-alert"><${LongText} text=${task.error} mono=${false} lines=${8} /><//>` : null}
    ${task.status === "completed" && task.error ? html`<${Note} tone="wait" icon="circle-help">${task.error}<//>` : null}
    ${result ? html`<${Result} result=${result} name=${task.status === "completed" ? "Result" : "What there is of a result"} run=${run} />` : null}
    ${writing && task.status === "running" ? html`<section><h3>Being written</h3><div class="card pad writing" aria-live="off">${writing.slice(-4000)}</div></section>` : null}
    <section><h3>What it is to do</h3><p class="text">${task.intent ?? "Only operators see what tasks are to do."}</p>
      <dl class="facts">
        <${Fact} name="Follows">${needs.get(task.path).length ? needs.get(task.path).map((one) => html`<${TaskName} key=${one} run=${run} path=${one} /> `) : null}<//>
        <${Fact} name="Then">${after.length ? after.slice(0, 40).map((one) => html`<${TaskName} key=${one.path} run=${run} path=${one.path} /> `) : null}<//>
        <${Fact} name="Team inside">${nested.length ? nested.slice(0, 40).map((one) => html`<${TaskName} key=${one.path} run=${run} path=${one.path} /> `) : null}<//>
        <${Fact} name="Part of">${task.part_of ? html`<${TaskName} run=${run} path=${[...task.path.split("/").slice(0, -1), task.part_of].join("/")} />` : null}<//>
        <${Fact} name="Worked for">${task.busy_s ? duration(task.busy_s) : null}<//>
        <${Fact} name="Cost">${spent(task)}<//>
        <${Fact} name="Round">${task.round}<//></dl></section>
    ${detail ? html`<${Attempts} task=${task} detail=${detail} run=${run} />` : null}
    ${detail && run.view.value.answer && !task.path.includes("/") && me.value?.roles.length ? html`<${Again} run=${run} task=${task} />` : null}`;
}

const Fact = ({ name, children }) => ([children].flat(9).some((one) => one || one === 0) ? html`<div><dt>${name}</dt><dd>${children}</dd></div>` : null);
const spent = (one) => (one.input_tokens ? `${one.cost_usd ? `${price(one.cost_usd)}, ` : ""}${number(one.input_tokens)} tokens in, ${number(one.output_tokens ?? 0)} out${one.model ? `, ${one.model}` : ""}` : null);

function Result({ result, name, run }) {
  const { output, summary, confidence } = result, same = typeof output === "string" && output.trim() === (summary ?? "").trim();
  const long = typeof output === "string";
  return html`<section class="result"><h3>${name}${confidence !== null && confidence !== undefined ? html` <span class="muted">confidence ${confidence} of 100</span>` : null}</h3>
    ${result.output_html ? html`<${Prose} run=${run} markup=${result.output_html} />` : html`${summary && !same && !long ? html`<p class="text">${summary}</p>` : null}
    ${empty(output) ? (summary && long ? html`<p class="text">${summary}</p>` : null) : html`<div class="card pad"><${Value} value=${output} /></div>`}`}
    ${result.draft_only ? html`<p class="small muted">${result.draft_only}</p>` : null}
    ${(result.missing ?? []).map((one) => html`<p class="note wait"><${Icon} name="circle-alert" /><span>Not done: ${one}</span></p>`)}
    ${(result.evidence ?? []).length ? html`<ul class="refs">${result.evidence.slice(0, 100).map((one) => html`<li key=${one}><${Reference} value=${one} /></li>`)}</ul>` : null}</section>`;
}

function Attempts({ task, detail, run }) {
  const attempts = detail.attempts ?? [];
  return html`<section><h3>${attempts.length === 1 ? "How it was done" : "Attempts"}</h3>
    ${(detail.before ?? []).map((step) => html`<${Decision} key=${step.at_s} step=${step} />`)}
    ${attempts.map((attempt, index) => html`<${Attempt} key=${index} attempt=${attempt} path=${task.path} only=${attempts.length === 1} last=${attempt === attempts.at(-1)} run=${run} />`)}
    ${attempts.length ? null : html`<p class="muted">${["pending", "waiting"].includes(task.status) ? "It has not started." : "It was never started."}</p>`}</section>`;
}

function Attempt({ attempt, path, only, last, run }) {
  useTick(attempt.end === "running");
  const calls = attempt.calls ?? [], took = attempt.ended_s === null ? null : attempt.ended_s - attempt.started_s;
  return html`<details class="try card" open=${last || attempt.end !== "completed"}><summary><${Icon} name="chevron-right" /><${Status} status=${attempt.end} /><span class="muted clip grow">${only ? "" : `attempt ${attempt.attempt} · `}${attempt.worker}${attempt.model ? ` · ${attempt.model}` : ""}</span><span class="num muted">${took === null ? duration(Math.round(run.spent(run.byPath.get(path)))) : duration(took)}</span></summary>
    <div class="pad stack">
      ${attempt.message && attempt.end !== "completed" ? html`<p class="text">${attempt.kind ? html`<b>${attempt.kind.replaceAll("_", " ")}: </b>` : null}${attempt.message}</p>` : attempt.message ? html`<p class="text muted">${attempt.message}</p>` : null}
      ${(attempt.steps ?? []).map((step, index) => html`<${Decision} key=${index} step=${step} />`)}
      ${attempt.handoff ? html`<${Fold} name="What it was handed" icon="paperclip"><${Value} value=${attempt.handoff} /><//>` : null}
      ${calls.length ? html`<${Fold} name=${`Calls (${number(calls.length)})`} icon="wrench" open=${calls.length <= 4}><ol class="calls">${calls.map((call, index) => html`<${Call} key=${index} call=${call} run=${run} />`)}</ol><//>` : null}
      ${attempt.traceback ? html`<${Fold} name="Traceback" icon="terminal"><${LongText} text=${attempt.traceback} lines=${20} /><//>` : null}
      ${spent(attempt) ? html`<p class="small muted">${spent(attempt)}${attempt.waited_s > 0.05 ? `, ${duration(attempt.waited_s)} of it waiting` : ""}</p>` : null}</div></details>`;
}

function Decision({ step }) {
  const { said, why } = step;
  return html`<div class="decision"><${Icon} name="git-branch" /><div>${why.startsWith(said) ? null : html`<b>${plain(said)}.</b> `}<span class="muted">${why.replace(/\b(tool|invalid|step)_(error|output|limit)\b/g, "$1 $2")}</span>
  ${step.changed ? html`<p class="change"><del>${step.changed[0]}</del> <ins>${step.changed[1]}</ins></p>` : null}</div></div>`;
}

const Fold = ({ name, icon, open, children }) => html`<details class="fold" open=${open}><summary><${Icon} name="chevron-right" /><${Icon} name=${icon} />${name}</summary><div>${children}</div></details>`;

function Call({ call, run }) {
  const model = call.type === "model_called", blob = (id) => (id ? async () => textOf(await get(`/runs/${part(run.id)}/blobs/${part(id)}`)) : null);
  const given = call.arguments, got = model ? written(call.response) : call.result;
  return html`<li><p class="row"><${Icon} name=${model ? "cpu" : "wrench"} /><b class="clip">${model ? (call.model ?? "model") : call.tool}</b><span class="grow"></span><span class="small muted num">${call.took_s !== undefined && call.took_s !== null ? duration(call.took_s) : ""}${call.input_tokens ? ` ${number(call.input_tokens)} → ${number(call.output_tokens ?? 0)}` : ""}</span></p>
    ${call.error ? html`<p class="tone-bad text">${call.error}</p>` : null}
    ${empty(given) ? null : html`<${LongText} text=${textOf(given)} lines=${4} more=${blob(call.arguments_blob)} />`}
    ${empty(got) ? null : html`<${LongText} text=${textOf(got)} lines=${6} more=${blob(call.result_blob)} />`}</li>`;
}
// What a model wrote: its text, and the tools that it asked for.
const written = (response) => (response?.parts ?? []).map((part) => (part.part_kind === "tool-call" ? `${part.tool_name} ${textOf(part.args ?? "")}` : part.part_kind === "text" ? part.content : "")).filter(Boolean).join("\n\n");
const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 1));

function Again({ run, task }) {
  const again = () => post(`/runs/${part(run.id)}/resume`, { from_task: task.id }).then(() => run.load().then(() => run.listen())).then(() => go(run.href(null, { view: "graph" })));
  return html`<section><${Button} small icon="rotate-ccw" onClick=${again}>Run again from here<//><p class="small muted">This task and all that follow it are done again; the results of the others stay.</p></section>`;
}
