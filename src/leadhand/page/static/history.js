// How the run came about, in plain words: plans and their changes, questions and replies, failures, costs.

import { html } from "./vendor/preact.js";
import { asked, attempts, counted, duration, look, plain, price } from "./format.js";
import { Icon } from "./ui.js";
import { Value } from "./value.js";

const PLAN = {
  proposed: ["list-checks", "A plan was proposed"],
  accepted: ["check", "The plan was made"],
  rejected: ["x", "A plan could not be used"],
  amended: ["git-branch", "The plan was changed"],
};
const MAKERS = {
  template: "from the team's own list of tasks",
  planner: "by the planner",
  router: "by choosing the worker that fits the request",
  "router in doubt": "with the worker that may fit the request",
  person: "as a person gave it",
};
const REPLIES = { approved: "Approved", refused: "Refused", answered: "Answered", declined: "Left without a reply" };
const ENDS = { failed: ["circle-x", "failed"], escalated: ["message-circle-question", "was handed back"] };
const ROLES = {
  worker: "doing the tasks",
  planner: "planning",
  router: "choosing workers",
  supervisor: "deciding what follows a failure",
  synthesizer: "writing the answer",
  judge: "settling contradictions",
  critic: "checking the answer",
  scorer: "rating results",
};

export function History({ run, view }) {
  const steps = [
    { at: 0, icon: "flag", what: "The run started", why: "" },
    ...(view.plans ?? []).map(planned),
    ...(view.notices ?? []).map((notice) => ({ at: notice.at_s, icon: "info", what: plain(notice.said), why: notice.why })),
    ...(view.people ?? []).map((one) => ({ at: one.at_s, icon: "hand", what: `Asked ${one.task_id ? `about ${one.task_id}` : "about the plan"}: ${asked(one.question).message}`, why: one.verdict ? `${REPLIES[one.verdict]} by ${one.by}${one.text ? `: ${one.text}` : ""}` : "Waits for a reply" })),
    ...run.tasks.flatMap((task) => (task.attempts ?? []).filter((one) => ENDS[one.end]).map((one) => ended(task, one))),
    ...(run.ended ? [{ at: view.elapsed_s, icon: "flag", what: `The run ended: ${look(view.status).word}`, why: "" }] : []),
  ].sort((one, two) => one.at - two.at);
  return html`<div class="history"><section><h2>What happened</h2><ol class="steps">${steps.map((step, index) => html`<li key=${index}><span class="num muted">${duration(step.at)}</span><${Icon} name=${step.icon} />
      <div>${step.path ? html`<a href=${run.href(step.path)}>${step.what}</a>` : step.what}${step.why ? html`<p class="muted">${step.why}</p>` : null}${step.notes?.length ? html`<ul class="plain muted">${step.notes.map((note) => html`<li>${note}</li>`)}</ul>` : null}</div></li>`)}</ol></section>
    ${view.workers?.length ? html`<section><h2>Workers made for this plan</h2><div class="card pad"><${Value} value=${view.workers} /></div></section>` : null}
    ${["role", "worker", "model"].map((by) => html`<${Used} key=${by} by=${by} used=${Object.entries(view[`used_by_${by}`] ?? {}).map(([name, use]) => ({ name, ...use }))} />`)}</div>`;
}

function planned(plan) {
  const [icon, what] = PLAN[plan.what] ?? ["list-checks", plain(plan.what)];
  const [by, because] = plan.by.split(", because "), made = by.includes(":") ? "by the team's own code" : (MAKERS[by] ?? (by && `by ${by}`));
  const tasks = plan.tasks && plan.what !== "rejected" ? `: ${counted(plan.tasks, "task")}` : "";
  return { at: plan.at_s, icon, what: `${what} ${made}`.trimEnd() + tasks, why: because ? `Because ${because}` : plan.said, notes: plan.notes };
}

function ended(task, attempt) {
  const [icon, word] = ENDS[attempt.end], which = attempts(task) > 1 ? `, attempt ${attempt.attempt} of ${attempts(task)},` : "";
  return { at: attempt.ended_s, icon, path: task.path, what: `${task.path}${which} ${word}`, why: attempt.message };
}

const USED = { role: ["What models were used for", "For"], worker: ["Cost by worker", "Worker"], model: ["Cost by model", "Model"] };

function Used({ by, used }) {
  if (!used.length) return null;
  const [title, first] = USED[by];
  const rows = used.map((use) => ({ [first]: (by === "role" && ROLES[use.name]) || use.name, requests: use.requests, tokens_in: use.input_tokens, tokens_out: use.output_tokens, cost: use.cost_usd === null ? null : price(use.cost_usd) }));
  return html`<section><h2>${title}</h2><div class="card"><${Value} value=${rows} /></div></section>`;
}
