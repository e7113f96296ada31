// The tasks as a list, nested ones indented: the same selection for keyboard and screen reader.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { attempts, counted, duration, look, number, price } from "./format.js";
import { tally } from "./graph/model.js";
import { changed, go, here } from "./router.js";
import { Button, classes, Empty, Status, useSize, useTick } from "./ui.js";

const ROW = 40, SPARE = 12;

export function List({ run, matching }) {
  run.version.value;
  const { query } = here.value, rows = [];
  const add = (parent, depth) => {
    for (const task of run.children(parent)) {
      if (!matching || matching.has(task.path)) rows.push({ task, depth: matching ? 0 : depth });
      add(task.path, depth + 1);
    }
  };
  add(null, 0);
  return html`<div class="list"><${Filter} run=${run} query=${query} shown=${rows.length} />
    ${rows.length ? html`<${Rows} run=${run} rows=${rows} />` : html`<${Empty} icon="filter" title="No task matches" action=${html`<${Button} href=${changed({ q: "", status: "", worker: "" })}>Show all tasks<//>`}>The filter leaves out all ${number(run.tasks.length)} tasks.<//>`}</div>`;
}

// Search and states; it is in the URL, and the graph and the timeline fade what it leaves out.
function Filter({ run, query, shown }) {
  const chosen = new Set(query.status ? query.status.split(",") : []), workers = [...new Set(run.tasks.map((task) => task.worker))].sort();
  const flipped = (status) => {
    const next = new Set(chosen);
    if (!next.delete(status)) next.add(status);
    return changed({ status: [...next].join(",") });
  };
  const set = (values) => go(changed(values), { replace: true });
  return html`<div class="filter row wrap">
    <input type="search" class="grow" aria-label="Search tasks" placeholder="Search names, texts, errors" value=${query.q ?? ""} onInput=${(event) => set({ q: event.target.value })} />
    ${workers.length > 1 ? html`<select aria-label="Worker" value=${query.worker ?? ""} onChange=${(event) => set({ worker: event.target.value })}><option value="">All workers</option>${workers.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>` : null}
    <div class="row wrap chips" role="group" aria-label="States">${tally(run.tasks).map(([status, count]) => html`<a key=${status} class=${classes("chip", chosen.has(status) && "on")} href=${flipped(status)} aria-current=${chosen.has(status) ? "true" : undefined}><${Status} status=${status} /> <span class="num">${number(count)}</span></a>`)}</div>
    <span class="sr" role="status">${counted(shown, "task")}</span></div>`;
}

function Rows({ run, rows }) {
  useTick(run.view.value.status === "running");
  const ref = useRef(null), [top, setTop] = useState(0), { h: height } = useSize(ref);
  const place = rows.findIndex(({ task }) => task.path === run.selected);
  useEffect(() => {
    const box = ref.current;
    if (place >= 0 && (place * ROW < box.scrollTop || (place + 1) * ROW > box.scrollTop + box.clientHeight)) box.scrollTop = place * ROW - box.clientHeight / 3;
  }, [place]);
  const first = Math.max(0, Math.floor(top / ROW) - SPARE), last = Math.min(rows.length, Math.ceil((top + height) / ROW) + SPARE);
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -rows.length, End: rows.length }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = Math.min(rows.length - 1, Math.max(0, (place < 0 ? -1 : place) + step));
    go(run.href(rows[next].task.path), { replace: place >= 0 });
  };
  return html`<div class="rows" ref=${ref} tabindex="0" role="region" aria-label="Tasks; arrow keys choose one" onScroll=${(event) => setTop(event.target.scrollTop)} onKeyDown=${keys}>
    <ul role="list" style=${{ height: `${rows.length * ROW}px` }}>${rows.slice(first, last).map(({ task, depth }, index) => html`<${Row} key=${task.path} run=${run} task=${task} depth=${depth} place=${first + index} of=${rows.length} />`)}</ul></div>`;
}

const time = (run, task) => (task.status === "running" ? duration(Math.round(run.spent(task))) : task.busy_s ? duration(task.busy_s) : "");
const Row = ({ run, task, depth, place, of }) => html`<li style=${{ transform: `translateY(${place * ROW}px)`, paddingLeft: `${depth * 20}px` }} aria-setsize=${of} aria-posinset=${place + 1}>
  <a class=${classes("taskrow", run.selected === task.path && "selected")} href=${run.href(task.path)} aria-current=${run.selected === task.path ? "true" : undefined} tabindex="-1">
    <${Status} bare status=${task.status} /><b class="clip">${task.id}</b>
    <span class="intent clip">${task.error && task.status !== "completed" ? html`<span class="tone-${look(task.status).tone}">${task.error}</span>` : (task.intent ?? "")}</span>
    <span class="worker clip muted">${task.worker}${attempts(task) > 1 ? `, ${attempts(task)} attempts` : null}</span>
    <span class="num muted">${task.cost_usd ? price(task.cost_usd) : ""}</span><span class="num">${time(run, task)}</span></a></li>`;
