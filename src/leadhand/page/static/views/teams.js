// Teams: the gallery, and one team with its workers, health, runs and evaluations.

import { html, useEffect } from "../vendor/preact.js";
import { part, post, useData, useSending } from "../api.js";
import { counted, duration, number } from "../format.js";
import { go, url } from "../router.js";
import { Button, Icon, Loading, Status, Time, Trouble } from "../ui.js";
import { empty } from "../value.js";
import { Table } from "./runs.js";
import { engine } from "./start.js";

export function Teams() {
  useEffect(() => { document.title = "Teams · leadhand"; }, []);
  return html`<div class="page"><header><h1>Teams</h1></header><${Gallery} /></div>`;
}

export function Gallery() {
  const { data, error, reload } = useData("/teams");
  if (!data) return error ? html`<${Trouble} error=${error} retry=${reload} />` : html`<${Loading} what="the teams" />`;
  return html`<ul class="gallery">${data.map((team) => html`<li key=${team.name} class="card">
    <h2><a href=${url(`/teams/${part(team.name)}`)}>${team.name}</a></h2><p class="text">${team.description}</p>
    <dl class="small">${team.needs ? html`<div><dt>Needs</dt><dd>${team.needs}</dd></div>` : null}${team.gives ? html`<div><dt>Gives</dt><dd>${team.gives}</dd></div>` : null}</dl>
    <p class="small muted">${counted(team.workers.length, "worker")} · ${team.model ? `uses ${team.model}` : "works without a model"}</p>
    <p class="row buttons">${team.samples?.length ? html`<${Sample} team=${team} />` : null}<${Button} small quiet icon="play" href=${url("/runs/new", { team: team.name })}>Use it<//></p></li>`)}</ul>`;
}

const see = (started) => go(url(`/runs/${part(started.run_id)}`));

function Sample({ team, sample = null }) {
  const { busy, error, send } = useSending();
  const start = () => send(async () => see(await post(`/teams/${part(team.name)}/sample`, sample ? { sample } : {})));
  return html`${error ? html`<${Trouble} small error=${error} />` : null}<${Button} small main icon="circle-play" busy=${busy} onClick=${start}>${sample ? `Run the sample ${sample}` : "Run its sample"}<//>`;
}

export function Team({ name }) {
  const { data: team, error, reload } = useData(`/teams/${part(name)}`, { every: 10000 });
  useEffect(() => { document.title = `${name} · leadhand`; }, [name]);
  if (!team) return error ? html`<${Trouble} error=${error} retry=${reload} />` : html`<${Loading} what="the team" />`;
  const runs = team.runs ?? [];
  return html`<div class="page team stack">
    <header><h1>${team.name}</h1>${(team.samples ?? []).map((one) => html`<${Sample} key=${one} team=${team} sample=${team.samples.length > 1 && one !== "default" ? one : null} />`)}<${Button} icon="play" href=${url("/runs/new", { team: team.name })}>Start a run<//></header>
    ${team.description ? html`<p class="lead text">${team.description}</p>` : null}
    <p class="small muted">${engine(team)}${team.confidential ? " Confidential: a hosted model is used only if the service was told to." : ""}</p>
    <section><h2>Workers</h2><div class="workers">${team.workers.map((worker) => html`<${Worker} key=${worker.name} worker=${worker} />`)}</div></section>
    ${empty(team.output) ? null : html`<section><details class="card pad"><summary>What its answer promises</summary><${Schema} schema=${team.output} /></details></section>`}
    <section><h2>Recent runs</h2>${runs.length ? html`<${Table} runs=${runs} team=${false} />` : html`<p class="muted">None yet.</p>`}</section>
    <section><h2>Last evaluation</h2>${team.evaluation ? html`<p><code>${team.evaluation.id}</code>, <${Time} iso=${team.evaluation.started_at} />: ${number(team.evaluation.complete)} of ${counted(team.evaluation.runs, "run")} complete.</p>` : html`<p class="muted">None yet.</p>`}<p class="small muted"><code>leadhand eval ${team.name}</code> measures the team on its cases and prints the scores.</p></section>
  </div>`;
}

function Worker({ worker }) {
  const { health } = worker;
  return html`<article class="card worker" aria-label=${worker.name}>
    <div class="row wrap"><h3 class="grow">${worker.name}</h3>${health ? html`<${Health} health=${health} />` : null}</div>
    <p class="text">${worker.description}</p>
    ${worker.tools?.length ? html`<p class="row wrap small"><${Icon} name="wrench" />${worker.tools.map((tool) => html`<code key=${tool}>${tool}</code>`)}</p>` : null}
    ${worker.fallback ? html`<p class="small muted">If it fails, its tasks go to ${worker.fallback}.</p>` : null}
    ${empty(worker.output) ? null : html`<details class="small"><summary>What it returns</summary><${Schema} schema=${worker.output} /></details>`}
  </article>`;
}

// A JSON Schema as its fields: name, type, what it means.
function Schema({ schema, whole = schema, depth = 0 }) {
  const found = resolved(schema, whole), fields = Object.entries(found.properties ?? {});
  if (!fields.length || depth > 3) return html`<p class="muted">${found.description || typeOf(schema, whole)}</p>`;
  return html`<dl class="fields">${fields.map(([name, field]) => {
    const of = resolved(field, whole), inner = of.type === "array" ? resolved(of.items ?? {}, whole) : of;
    return html`<div key=${name}><dt><code>${name}</code></dt><dd><span class="muted">${typeOf(field, whole)}</span>${field.description ? html` ${field.description}` : null}${inner.properties && depth < 2 ? html`<${Schema} schema=${inner} whole=${whole} depth=${depth + 1} />` : null}</dd></div>`;
  })}</dl>`;
}

function resolved(schema, whole) {
  if (schema.$ref) return { ...whole.$defs?.[schema.$ref.split("/").at(-1)] };
  const some = schema.anyOf?.filter((one) => one.type !== "null") ?? [];
  return some.length === 1 ? resolved(some[0], whole) : schema;
}

function typeOf(schema, whole) {
  const of = resolved(schema, whole), orNull = schema.anyOf?.some((one) => one.type === "null") ? " or none" : "";
  if (of.enum) return of.enum.join(", ") + orNull;
  if (of.type === "array") return `list${of.items ? ` of ${typeOf(of.items, whole)}` : ""}${orNull}`;
  return ({ string: "text", number: "number", integer: "whole number", boolean: "yes or no", object: "fields" }[of.type] ?? "anything") + orNull;
}

function Health({ health }) {
  const parts = [health.running ? `${number(health.running)} running` : "", health.waiting ? `${number(health.waiting)} waiting` : "", health.latency_s ? `${duration(health.latency_s)} a task` : ""].filter(Boolean);
  return html`<span class="row small muted">${health.breaker === "closed" ? (parts.join(", ") || "idle") : html`<${Status} status=${health.breaker} />${health.breaker_until ? html` until <${Time} iso=${health.breaker_until} />` : null}`}</span>`;
}
