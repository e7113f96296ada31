// All runs: search and filters in the URL; and, on a first visit, the gallery of teams.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { get, me, paused, part, useData, useSending } from "../api.js";
import { counted, duration, look, number, price } from "../format.js";
import { changed, go, here, url } from "../router.js";
import { Button, Clock, Icon, Loading, Note, Status, Time, Trouble } from "../ui.js";
import { Gallery } from "./teams.js";

const STATUSES = ["running", "waiting", "complete", "partial", "failed", "cancelled", "interrupted", "damaged"];
const SINCE = { "": "any time", "1": "the last day", "7": "the last week", "30": "the last month" };
const PAGE = 50, SEARCHED = 200;

function path(query, cursor = "") {
  const given = { limit: query.q ? SEARCHED : PAGE, cursor, q: query.q, status: query.status, team: query.team };
  if (query.since in SINCE && query.since) given.since = new Date(Date.now() - 864e5 * query.since).toISOString().slice(0, 13) + ":00:00Z";
  return `/runs?${new URLSearchParams(Object.entries(given).filter(([, value]) => value))}`;
}

export function Runs() {
  const { query } = here.value, filtered = Boolean(query.q || query.status || query.team || query.since);
  const first = useData(path(query)), [older, setOlder] = useState([]), { busy, error: trouble, send } = useSending();
  useEffect(() => { document.title = "Runs · leadhand"; }, []);
  useEffect(() => setOlder([]), [path(query)]);
  useNews(first.reload);
  const framed = useRef(false); // while the list is asked for anew, the search keeps the focus
  if (!first.data && !framed.current) return first.error ? html`<${Trouble} error=${first.error} retry=${first.reload} />` : html`<${Loading} what="the runs" />`;

  const last = older.at(-1) ?? first.data ?? {}, seen = new Set();
  const runs = [first.data ?? { runs: [] }, ...older].flatMap((page) => page.runs).filter((run) => !seen.has(run.run_id) && seen.add(run.run_id));
  const more = () => send(async () => {
    const page = await get(path(query, last.next));
    setOlder((pages) => [...pages, page]);
  });
  if (first.data && !runs.length && !filtered) return html`<div class="page"><header><h1>What should be done?</h1><${Button} main icon="plus" href=${url("/runs/new")}>Start a run<//></header>
    <p class="lead muted">There are no runs yet. Each team below does one kind of work; its sample shows what comes out, in seconds and without a key.</p><${Gallery} /></div>`;
  framed.current = true;
  return html`<div class="page runs"><header><h1>Runs</h1><${Button} main icon="plus" href=${url("/runs/new", { team: query.team })}>Start a run<//></header>
    <${Filters} query=${query} />
    ${first.error ? html`<${Trouble} small error=${first.error} />` : null}
    ${query.q && first.data ? html`<p class="small muted" role="status">${counted(runs.length, "run")} with these words in the request, answer or errors${last.next ? ", older runs not searched yet" : ""}.</p>` : null}
    ${!first.data ? (first.error ? null : html`<${Loading} what="the runs" />`) : runs.length ? html`<${Table} runs=${runs} />` : html`<${Note} icon="search" action=${html`<${Button} small href=${url("/runs")}>Show all runs<//>`}>No run fits.<//>`}
    ${trouble ? html`<${Trouble} small error=${trouble} />` : null}
    ${last.next ? html`<p class="center"><${Button} icon="chevron-down" busy=${busy} onClick=${more}>Older runs<//></p>` : null}
  </div>`;
}

// Something happened to a run: what is shown is asked for anew, at most every two seconds.
function useNews(reload) {
  const timer = useRef(0);
  useEffect(() => {
    const soon = () => (timer.current ||= setTimeout(() => ((timer.current = 0), paused.value || document.hidden || reload()), 2000));
    addEventListener("run-event", soon);
    return () => removeEventListener("run-event", soon);
  });
}

function Filters({ query }) {
  const [words, setWords] = useState(query.q ?? ""), timer = useRef(0);
  useEffect(() => setWords(query.q ?? ""), [query.q]);
  const set = (fields) => go(changed(fields), { replace: true });
  const type = (text) => {
    setWords(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => set({ q: text.trim() }), 350);
  };
  const select = (name, label, options) => html`<label class="by"><span class="sr">${label}</span><select value=${query[name] ?? ""} onChange=${(event) => set({ [name]: event.target.value })}>
    ${options.map(([value, word]) => html`<option key=${value} value=${value} selected=${value === (query[name] ?? "")}>${word}</option>`)}</select></label>`;
  return html`<form class="filters" role="search" onSubmit=${(event) => (event.preventDefault(), set({ q: words.trim() }))}>
    <label class="search"><${Icon} name="search" /><span class="sr">Search requests, answers and errors</span><input type="search" placeholder="Search requests, answers and errors" value=${words} onInput=${(event) => type(event.target.value)} /></label>
    ${select("status", "Status", [["", "any status"], ...STATUSES.map((one) => [one, look(one).word])])}
    ${select("team", "Team", [["", "any team"], ...(me.value?.teams ?? []).map((one) => [one, one])])}
    ${select("since", "Started", Object.entries(SINCE))}
  </form>`;
}

export function Table({ runs, team = true }) {
  return html`<table class="runtable"><thead><tr><th scope="col">Status</th><th scope="col">Request</th>${team ? html`<th scope="col">Team</th>` : null}<th scope="col">Tasks</th><th scope="col" class="num">Time</th><th scope="col" class="num cost">Cost</th><th scope="col" class="num">Started</th></tr></thead>
    <tbody>${runs.map((run) => html`<tr key=${run.run_id}>
      <td class="state"><${Status} status=${run.status} />${run.questions ? html` <span class="count wait" title="Open questions">${run.questions}</span>` : null}</td>
      <td class="request"><a href=${url(`/runs/${part(run.run_id)}`)}>${run.request || run.run_id}</a>${run.after ? html`<span class="small muted">follows an earlier run</span>` : null}</td>
      ${team ? html`<td class="team">${run.team}</td>` : null}
      <td class="progress"><${Progress} run=${run} /></td>
      <td class="num time">${run.status === "running" ? html`<${Clock} seconds=${() => (Date.now() - new Date(run.started_at)) / 1000} />` : duration(run.makespan_s)}</td>
      <td class="num cost">${run.engine === "deterministic" ? html`<span class="muted" title="No model was used">no model</span>` : price(run.cost_usd)}</td>
      <td class="num started muted"><${Time} iso=${run.started_at} /></td></tr>`)}</tbody></table>`;
}

function Progress({ run }) {
  if (!run.tasks) return html`<span class="muted">–</span>`;
  return html`<span class="row"><progress max=${run.tasks} value=${run.completed} aria-label="Tasks that are done"></progress><span class="small num">${number(run.completed)} of ${number(run.tasks)}</span></span>`;
}
