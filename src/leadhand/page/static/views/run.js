// One run: a line that says how it stands, then its answer, graph, timeline, list or history.

import { html, useEffect, useMemo, useState } from "../vendor/preact.js";
import { link, part, post, remove, useSending } from "../api.js";
import { asked, counted, duration, lapse, number, price } from "../format.js";
import { Graph } from "../graph/graph.js";
import { List } from "../list.js";
import { changed, go, here, stored, url } from "../router.js";
import { Run } from "../run.js";
import { TaskPanel } from "../task.js";
import { Timeline } from "../timeline.js";
import { Button, classes, Clock, Copy, Dialog, Empty, Guard, Icon, Loading, Note, Status, Tabs, Time, Trouble } from "../ui.js";
import { Answer, gapsOf } from "../answer.js";
import { History } from "../history.js";
import { isReview, Review } from "./review.js";

const FINDINGS = { id: "findings", name: "Findings", icon: "scan" };
const VIEWS = [
  { id: "answer", name: "Answer", icon: "text" },
  { id: "graph", name: "Graph", icon: "workflow" },
  { id: "timeline", name: "Timeline", icon: "timer" },
  { id: "list", name: "List", icon: "list-tree" },
  { id: "history", name: "History", icon: "history" },
];

const UNPLANNED = {
  running: ["The plan is being made", "Tasks appear here as soon as they are planned."],
  waiting: ["The plan waits for a person", "Its tasks appear here once it is approved."],
};

export const RUN = /^\/runs\/(?<id>[^/]+)(?:\/tasks\/(?<task>.+))?$/;

export function RunView({ id, task = null }) {
  const run = useMemo(() => new Run(id), [id]);
  useEffect(() => (run.load(), () => run.close()), [run]);
  const view = run.view.value, error = run.error.value;
  useEffect(() => { document.title = view ? `${view.request.slice(0, 60)} · leadhand` : "leadhand"; }, [view?.request]);
  if (!view) return error ? html`<${Trouble} error=${error} retry=${() => run.load()} />` : html`<${Loading} what="the run" />`;
  const { query } = here.value;
  Object.assign(run, { selected: task, query });
  const output = view.answer?.output, views = isReview(output) ? [FINDINGS, ...VIEWS] : VIEWS;
  const finished = run.ended || run.answers.value || (view.answer && view.status !== "running"), current = views.some((one) => one.id === query.view) ? query.view : finished ? views[0].id : "graph";
  const counts = { list: number(run.tasks.length), answer: gapsOf(view).length + (view.conflicts?.length ?? 0), findings: (output?.findings?.length ?? 0) + (output?.look?.length ?? 0) };
  const tabs = views.map((one) => ({ ...one, href: changed({ view: one.id }), count: counts[one.id] || "" }));
  return html`<div class=${classes("run", `view-${current}`, task && "with-panel")}>
    <${Head} run=${run} view=${view} />
    <${Tabs} label="Views of the run" tabs=${tabs} current=${current} />
    <div class="runbody"><div class="runview" id="runview"><${Guard} key=${current}><${Body} current=${current} run=${run} view=${view} /><//></div>
      ${task ? html`<${Guard} key=${task}><${TaskPanel} run=${run} path=${task} /><//>` : null}</div>
  </div>`;
}

function Body({ current, run, view }) {
  if (current === "findings") return html`<${Review} output=${view.answer.output} />`;
  if (current === "answer") return html`<${Answer} run=${run} view=${view} />`;
  if (current === "history") return html`<${History} run=${run} view=${view} />`;
  const matching = useMatching(run);
  if (!run.tasks.length) {
    const [title, text] = UNPLANNED[view.status] ?? ["There are no tasks", "The run ended before it had a plan."];
    return html`<${Empty} icon="workflow" title=${title}>${text}<//>`;
  }
  if (current === "timeline") return html`<${Timeline} run=${run} view=${view} matching=${matching} />`;
  if (current === "list") return html`<${List} run=${run} matching=${matching} />`;
  return html`<${Graph} run=${run} matching=${matching} />`;
}

// The tasks that the filter in the URL lets through, as a set of paths; null: there is no filter.
function useMatching(run) {
  const { status = "", q = "", worker = "" } = here.value.query, version = run.version.value;
  return useMemo(() => {
    if (!status && !q && !worker) return null;
    const wanted = status ? new Set(status.split(",")) : null, words = q.toLowerCase();
    const fits = (task) => (!wanted || wanted.has(task.status)) && (!worker || task.worker === worker) && (!words || `${task.path} ${task.worker} ${task.intent ?? ""} ${task.error ?? ""}`.toLowerCase().includes(words));
    return new Set(run.tasks.filter(fits).map((task) => task.path));
  }, [run, status, q, worker, version]);
}

function Head({ run, view }) {
  const long = view.request.length > 160 || view.request.includes("\n"), [open, setOpen] = useState(false);
  return html`<header class="runhead">
    <div class="row crumbs small muted">${stored ? null : html`<a href=${url("/runs")}>Runs</a><${Icon} name="chevron-right" />`}
      ${stored ? html`<span>${view.team}</span>` : html`<a href=${url("/runs", { team: view.team })}>${view.team}</a>`}<${Icon} name="chevron-right" /><code class="clip">${view.run_id}</code><${Copy} text=${view.run_id} label="Copy the run's id" />
      ${view.after ? html`<span>follows <a href=${url(`/runs/${part(view.after)}`)}>an earlier run</a></span>` : null}</div>
    <div class="row top"><h1 class=${classes("request", long && !open && "short")}>${view.request}</h1>${stored ? null : html`<${Actions} run=${run} view=${view} />`}</div>
    ${long ? html`<${Button} small quiet icon=${open ? "chevron-down" : "chevron-right"} onClick=${() => setOpen(!open)}>${open ? "Shorter" : "All of the request"}<//>` : null}
    <${Headline} run=${run} view=${view} />
    ${(view.questions ?? []).map((one) => html`<${Waiting} key=${one.id} view=${view} question=${one} />`)}
  </header>`;
}

// One line: how it ended or stands, what failed, what waits, what it cost. Every part leads there.
function Headline({ run, view }) {
  run.version.value;
  const leaves = run.tasks.filter((task) => !["split", "dropped"].includes(task.status)), count = {};
  for (const task of leaves) count[task.status] = (count[task.status] ?? 0) + 1;
  const failed = leaves.filter((task) => ["failed", "timed_out"].includes(task.status)), open = leaves.filter((task) => task.status === "escalated");
  const at = (status) => changed({ view: "list", status }, `/runs/${part(run.id)}`);
  const names = (tasks, word, status) => html`<span class="part">${tasks.length > 2 ? html`<a href=${at(status)}>${number(tasks.length)} tasks ${word}</a>` : html`${tasks.map((task, index) => html`${index ? " and " : ""}<a href=${run.href(task.path)}>${task.path}</a>`)} ${word}`}</span>`;
  const limit = view.budget?.usd, spent = view.cost_usd, tokens = (view.metrics?.input_tokens ?? 0) + (view.metrics?.output_tokens ?? 0);
  return html`<p class="headline"><${Status} status=${view.status} />
    ${failed.length ? names(failed, "failed", "failed,timed_out") : null}
    ${open.length ? names(open, "handed back", "escalated") : null}
    ${count.running ? html`<span class="part"><a href=${at("running")}>${number(count.running)} running</a></span>` : null}
    ${leaves.length ? html`<span class="part"><a href=${at("")}>${number(count.completed ?? 0)} of ${counted(leaves.length, "task")}</a> done</span>` : null}
    <span class="part">${run.ended || view.status !== "running" ? duration(run.worked_s) : html`<${Clock} seconds=${() => run.worked_s} />`}${view.metrics?.speedup > 1.05 ? html`, ${view.metrics.speedup.toFixed(1)}× as fast as one by one` : null}</span>
    ${spent || limit ? html`<span class="part">${price(spent)}${limit ? ` of ${price(limit)}` : ""}</span>` : null}
    ${tokens ? html`<span class="part">${number(tokens)} tokens</span>` : html`<span class="part">${view.engine === "deterministic" ? "no model was used" : ""}</span>`}
    <span class="part muted"><${Time} iso=${view.started_at} /></span></p>`;
}

function Waiting({ view, question }) {
  const about = question.task_id ? html`<b>${question.task_id}</b> asks: ` : question.plan ? html`<b>The plan</b> waits for your approval. ` : null;
  return html`<${Note} tone="wait" icon="hand" action=${question.mine === false || stored ? null : html`<${Button} main small href=${url("/inbox", { run: view.run_id, question: question.id })}>${question.plan ? "See the plan" : "Reply"}<//>`}>${about}<span class="clip3">${question.plan ? "" : asked(question.text).message}</span>${question.expires_at ? html`<span class="small muted">${lapse(question)}</span>` : null}<//>`;
}

function Actions({ run, view }) {
  const [dialog, setDialog] = useState(null), { busy, error, send } = useSending();
  const act = (path, body) => send(async () => {
    const made = path === null ? await remove(`/runs/${part(run.id)}`) : await post(`/runs/${part(run.id)}/${path}`, body);
    setDialog(null);
    if (path === null) go(url("/runs"));
    else if (made?.run_id && made.run_id !== run.id) go(url(`/runs/${part(made.run_id)}`));
    else (await run.load(), run.listen());
  });
  const going = view.status === "running", goes = going || view.status === "waiting", stopped = ["interrupted", "waiting", "cancelled"].includes(view.status) && !(view.questions ?? []).length;
  return html`<div class="row actions">
    ${goes ? html`<${Button} small icon="square" busy=${busy} onClick=${() => setDialog("cancel")}>Stop<//>` : null}
    ${stopped ? html`<${Button} small main icon="play" busy=${busy} onClick=${() => act("resume", {})}>Resume<//>` : null}
    ${view.answer && (view.status !== "waiting" || run.tasks.length) ? html`${run.tasks.length ? html`<${Button} small icon="reply" onClick=${() => setDialog("followup")}>Follow up<//>` : html`<${Button} small icon="rotate-ccw" title="Change the request or hand in files, and start" href=${url("/runs/new", { team: view.team, request: view.request })}>Start again<//>`}<${Button} small icon="file-text" title="The report, as a page to print or send" target="_blank" href=${link(`/runs/${part(run.id)}/report`)}>Report<//>` : null}
    ${going ? null : html`<${Button} small quiet icon="trash-2" title="Delete the run" onClick=${() => setDialog("delete")} />`}
    ${error && !dialog ? html`<${Trouble} small error=${error} />` : null}
    ${dialog === "cancel" && goes ? html`<${Sure} title="Stop this run?" word="Stop it" busy=${busy} error=${error} text="Running tasks are ended. What was found so far becomes the answer." onClose=${() => setDialog(null)} onSure=${() => act("cancel", { reason: "stopped on the page" })} />` : null}
    ${dialog === "delete" ? html`<${Sure} title="Delete this run?" word="Delete it" busy=${busy} error=${error} text="Its request, answer and history are erased. This can't be undone." onClose=${() => setDialog(null)} onSure=${() => act(null)} />` : null}
    ${dialog === "followup" ? html`<${FollowUp} busy=${busy} error=${error} onClose=${() => setDialog(null)} onSend=${(request) => act("followups", { request })} />` : null}
  </div>`;
}

const Sure = ({ title, text, word, busy, error, onClose, onSure }) => html`<${Dialog} title=${title} onClose=${onClose}><p>${text}</p>
  ${error ? html`<${Trouble} small error=${error} />` : null}<p class="row buttons"><${Button} onClick=${onClose}>Keep it<//><${Button} danger busy=${busy} onClick=${onSure}>${word}<//></p><//>`;

function FollowUp({ busy, error, onClose, onSend }) {
  const [text, setText] = useState("");
  return html`<${Dialog} title="Follow up" onClose=${onClose}><form class="form" onSubmit=${(event) => (event.preventDefault(), onSend(text))}>
    <label for="followup">Your next request; it knows this run's request, answer and results</label>
    <textarea id="followup" rows="4" required autofocus value=${text} onInput=${(event) => setText(event.target.value)}></textarea>
    ${error ? html`<${Trouble} small error=${error} />` : null}
    <p class="row buttons"><${Button} onClick=${onClose}>Cancel<//><${Button} main type="submit" icon="send" busy=${busy}>Start<//></p></form><//>`;
}
