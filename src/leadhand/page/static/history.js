// How the run came about: plans and their changes, notices, questions and replies, costs.

import { html } from "./vendor/preact.js";
import { counted, duration, number, price } from "./format.js";
import { Icon } from "./ui.js";
import { Value } from "./value.js";

const PLAN = { proposed: "list-checks", accepted: "check", rejected: "x", amended: "git-branch" };

export function History({ run, view }) {
  const steps = [
    { at: 0, icon: "flag", what: "The run started", why: "" },
    ...(view.plans ?? []).map((plan) => ({ at: plan.at_s, icon: PLAN[plan.what] ?? "list-checks", what: planned(plan), why: plan.said, notes: plan.notes })),
    ...(view.notices ?? []).map((notice) => ({ at: notice.at_s, icon: "info", what: notice.said, why: notice.why })),
    ...(view.people ?? []).map((one) => ({ at: one.at_s, icon: "hand", what: `Asked ${one.task_id ? `about ${one.task_id}` : "about the plan"}: ${one.question}`, why: one.verdict ? `${one.verdict} by ${one.by}${one.text ? `: ${one.text}` : ""}` : "waits for a reply" })),
    ...run.tasks.flatMap((task) => (task.attempts ?? []).filter((one) => ["failed", "escalated"].includes(one.end)).map((one) => ({ at: one.ended_s, icon: one.end === "failed" ? "circle-x" : "message-circle-question", path: task.path, what: `${task.path}: attempt ${one.attempt} ${one.end === "failed" ? "failed" : "was handed back"}`, why: one.message }))),
  ].sort((one, two) => one.at - two.at);
  return html`<div class="history"><section><h2>What happened</h2><ol class="steps">${steps.map((step, index) => html`<li key=${index}><span class="num muted">${duration(step.at)}</span><${Icon} name=${step.icon} />
      <div>${step.path ? html`<a href=${run.href(step.path)}>${step.what}</a>` : step.what}${step.why ? html`<p class="muted">${step.why}</p>` : null}${step.notes?.length ? html`<ul class="plain muted">${step.notes.map((note) => html`<li>${note}</li>`)}</ul>` : null}</div></li>`)}</ol></section>
    ${view.workers?.length ? html`<section><h2>Workers made for this plan</h2><div class="card pad"><${Value} value=${view.workers} /></div></section>` : null}
    ${["role", "worker", "model"].map((by) => html`<${Used} key=${by} by=${by} used=${(view.used ?? []).filter((use) => use.by === by)} />`)}</div>`;
}

const planned = (plan) => `Plan ${plan.revision || ""} ${plan.what}${plan.by ? ` by ${plan.by}` : ""}${plan.tasks ? `: ${counted(plan.tasks, "task")}` : ""}`;

function Used({ by, used }) {
  if (!used.length) return null;
  return html`<section><h2>Cost by ${by}</h2><div class="card scroll" tabindex="0" role="region" aria-label=${`Cost by ${by}`}><table><thead><tr><th scope="col">${by}</th><th scope="col" class="num">Requests</th><th scope="col" class="num">Tokens in</th><th scope="col" class="num">Tokens out</th><th scope="col" class="num">Cost</th></tr></thead>
    <tbody>${used.map((use) => html`<tr key=${use.name}><th scope="row">${use.name}</th><td class="num">${number(use.requests)}</td><td class="num">${number(use.input_tokens)}</td><td class="num">${number(use.output_tokens)}</td><td class="num">${price(use.cost_usd)}</td></tr>`)}</tbody></table></div></section>`;
}
