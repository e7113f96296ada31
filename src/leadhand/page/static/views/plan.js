// A plan as a table, and as a form that is checked while one types.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { part, post, useData } from "../api.js";
import { counted } from "../format.js";
import { Button, Icon, Note, Trouble } from "../ui.js";
import { Value } from "../value.js";

export function Plan({ plan }) {
  return html`<${Value} value=${plan.tasks.map((task) => ({ task: task.id, worker: task.worker, what_it_is_to_do: task.intent, after: task.depends_on?.join(", ") || "at once" }))} />`;
}

const WAIT_MS = 250;

// `onSound(whether)`: the plan can be carried out as it stands; false while that is not known.
export function PlanForm({ team, plan, onChange, onSound, onReset }) {
  const { data } = useData(`/teams/${part(team)}`), workers = (data?.workers ?? []).map((one) => one.name);
  const [checked, setChecked] = useState({ problems: [], of: null }), [error, setError] = useState(null), latest = useRef(0);
  useEffect(() => {
    const number = ++latest.current;
    onSound(false);
    const timer = setTimeout(async () => {
      try {
        const { problems } = await post("/plans/check", { team, plan });
        if (number !== latest.current) return;
        setChecked({ problems, of: plan });
        setError(null);
        onSound(!problems.some((one) => one.severity === "error"));
      } catch (problem) {
        if (number === latest.current) setError(problem);
      }
    }, WAIT_MS);
    return () => clearTimeout(timer);
  }, [plan]);

  const tasks = plan.tasks, change = (at, fields) => onChange({ ...plan, tasks: tasks.map((task, index) => (index === at ? { ...task, ...fields } : task)) });
  const rename = (at, id) => {
    const before = tasks[at].id;
    onChange({ ...plan, tasks: tasks.map((task, index) => ({ ...task, id: index === at ? id : task.id, depends_on: (task.depends_on ?? []).map((one) => (one === before ? id : one)) })) });
  };
  const drop = (at) => onChange({ ...plan, tasks: tasks.filter((_, index) => index !== at).map((task) => ({ ...task, depends_on: (task.depends_on ?? []).filter((one) => one !== tasks[at].id) })) });
  const add = () => {
    let number = tasks.length + 1;
    while (tasks.some((task) => task.id === `task-${number}`)) number++;
    onChange({ ...plan, tasks: [...tasks, { id: `task-${number}`, worker: workers[0] ?? tasks[0]?.worker ?? "", intent: "", depends_on: [] }] });
  };
  const errors = checked.problems.filter((one) => one.severity === "error").length;
  const general = checked.problems.filter((one) => !tasks.some((task) => task.id === one.task_id));

  return html`<div class="planform">
    ${tasks.map((task, at) => html`<fieldset key=${at} class="task"><legend class="sr">Task ${at + 1}</legend>
      <div class="row head"><div class="field"><label for=${`id-${at}`}>Task</label><input id=${`id-${at}`} class="mono" value=${task.id} onInput=${(event) => rename(at, event.target.value)} /></div>
        <div class="field"><label for=${`worker-${at}`}>Worker</label><select id=${`worker-${at}`} value=${task.worker} onChange=${(event) => change(at, { worker: event.target.value })}>
          ${[...new Set([...workers, task.worker])].map((name) => html`<option key=${name} value=${name} selected=${name === task.worker}>${name}</option>`)}</select></div>
        <${Button} small quiet icon="trash-2" title=${`Remove task ${task.id}`} onClick=${() => drop(at)} /></div>
      <div class="field"><label for=${`intent-${at}`}>What it is to do</label><textarea id=${`intent-${at}`} rows="2" value=${task.intent} onInput=${(event) => change(at, { intent: event.target.value })}></textarea></div>
      ${tasks.length > 1 ? html`<div class="field" role="group" aria-label=${`Tasks that ${task.id} waits for`}><span class="label">Starts after</span><div class="row wrap chips">${tasks.map((other) => other === task ? null : html`<label key=${other.id} class="chip"><input type="checkbox" checked=${(task.depends_on ?? []).includes(other.id)}
        onChange=${(event) => change(at, { depends_on: event.target.checked ? [...(task.depends_on ?? []), other.id] : task.depends_on.filter((one) => one !== other.id) })} /> ${other.id}</label>`)}</div></div>` : null}
      ${checked.problems.filter((one) => one.task_id === task.id).map((one, index) => html`<p key=${index} class=${`problem small tone-${one.severity === "error" ? "bad" : "wait"}`}><${Icon} name=${one.severity === "error" ? "circle-alert" : "info"} /> ${one.message.replace(/^the intent of task '[^']*'/, "What it is to do")}</p>`)}
    </fieldset>`)}
    ${general.map((one, index) => html`<${Note} key=${index} tone=${one.severity === "error" ? "bad" : "wait"} icon="circle-alert">${one.task_id ? `${one.task_id}: ` : ""}${one.message}<//>`)}
    ${error ? html`<${Trouble} small error=${error} />` : null}
    <p class="row wrap"><${Button} small icon="plus" onClick=${add}>Add a task<//><${Button} small quiet icon="rotate-ccw" onClick=${onReset}>Back to the plan as proposed<//>
      <span class="small muted" role="status">${checked.of !== plan ? "Checking…" : errors ? counted(errors, "problem") : "This plan can be carried out."}</span></p>
  </div>`;
}
