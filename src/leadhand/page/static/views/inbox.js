// What waits for a person: the question that blocks longest first, what each reply does, and the reply.

import { html, useEffect, useState } from "../vendor/preact.js";
import { loadQuestions, part, post, questions, useSending } from "../api.js";
import { asked, counted, lapse, until } from "../format.js";
import { changed, go, here, taskPath, url } from "../router.js";
import { Button, classes, Dialog, Empty, Icon, Loading, Note, Time, Trouble, useKeys } from "../ui.js";
import { Value } from "../value.js";
import { Plan, PlanForm } from "./plan.js";

const keyOf = (one) => `${one.run_id} ${one.id}`;
const drafts = new Map(); // what was typed and not sent, by question: it stays when another one is looked at

export function kind(question) {
  if (question.plan) return { icon: "list-checks", name: question.route ? "Who should do this?" : "Approve a plan" };
  if (question.calls?.length) return { icon: "wrench", name: question.calls.length > 1 ? `Allow ${question.calls.length} tool calls` : `Allow ${question.calls[0].tool}` };
  if (question.call) return { icon: "wrench", name: "Allow a step" };
  return { icon: "message-circle-question", name: "A worker asks" };
}

const WORDS = {
  approved: { word: "Approve", done: "Approved", icon: "check", key: "a", main: true },
  answered: { word: "Send the reply", done: "Reply sent", icon: "send", key: "Ctrl Enter", main: true },
  refused: { word: "Refuse", done: "Refused", icon: "x", key: "r", danger: true },
  declined: { word: "Go on without", done: "It goes on without", icon: "ban", key: "r" },
};

export function Inbox() {
  const { list, loaded, error } = questions.value, { query } = here.value;
  const [picked, setPicked] = useState(new Set()), [batch, setBatch] = useState(null), [sent, setSent] = useState("");
  const known = list.map(keyOf), chosen = list.filter((one) => picked.has(keyOf(one)));
  const found = list.findIndex((one) => one.run_id === query.run && (!query.question || one.id === query.question)), at = Math.max(0, found);
  const current = list[at], gone = query.run && found < 0;
  useEffect(() => { document.title = `${list.length ? `(${list.length}) ` : ""}Inbox · leadhand`; }, [list.length]);
  useEffect(() => setPicked((old) => new Set([...old].filter((key) => known.includes(key)))), [known.join()]);

  const show = (index) => list[index] && go(link(list[index]), { replace: true });
  const pick = (one) => setPicked((old) => (old = new Set(old), old.delete(keyOf(one)) || old.add(keyOf(one)), old));
  useKeys({ j: () => show(at + 1), k: () => show(at - 1), x: () => current && batchable(current) && pick(current) });

  const done = async (message, one = null) => {
    const next = one && (list[at + 1] ?? list[at - 1]);
    setSent(one ? html`${message} <a href=${url(`/runs/${part(one.run_id)}`)}>See the run</a>` : message);
    setBatch(null);
    setPicked(new Set());
    go(next ? link(next) : url("/inbox"), { replace: true });
    await loadQuestions();
  };

  if (!loaded) return html`<${Loading} what="the inbox" />`;
  if (error && !list.length) return html`<${Trouble} error=${error} retry=${loadQuestions} />`;
  if (!list.length) return html`<${Empty} icon="inbox" title="Nothing waits for you" action=${html`<${Button} href=${url("/runs")}>All runs<//>`}>
    ${sent ? html`<p role="status">${sent}</p>` : gone ? html`<${Gone} run=${query.run} />` : null}When a run needs an approval or an answer, its question appears here.<//>`;
  return html`<div class="page inbox ${query.run ? "opened" : ""}">
    <header><h1>${counted(list.length, "question")} ${list.length === 1 ? "waits" : "wait"} for a reply</h1>
      ${chosen.length > 1 ? html`<${Button} main icon="check" onClick=${() => setBatch("approved")}>Approve ${chosen.length}<//><${Button} danger icon="x" onClick=${() => setBatch("refused")}>Refuse ${chosen.length}<//>` : list.length > 1 && html`<span class="keys small muted"><kbd>j</kbd> <kbd>k</kbd> next, previous</span>`}</header>
    ${sent ? html`<p class="sent small muted" role="status"><${Icon} name="check" /> ${sent}</p>` : null}
    ${gone ? html`<${Gone} run=${query.run} />` : null}
    <div class="split">
      <ol class="questions" aria-label="Questions, the one that blocks longest first">${list.map((one) => html`<${Row} key=${keyOf(one)} one=${one} current=${one === current} picked=${picked.has(keyOf(one))} onPick=${() => pick(one)} />`)}</ol>
      <${Question} key=${keyOf(current)} one=${current} done=${done} />
    </div>
    ${batch ? html`<${Batch} verdict=${batch} chosen=${chosen} onClose=${() => setBatch(null)} done=${done} />` : null}
  </div>`;
}

const Gone = ({ run }) => html`<p class="sent small" role="status"><${Icon} name="info" /><span>That question no longer waits: it was answered, or its run ended. <a href=${url(`/runs/${part(run)}`)}>See the run</a></span></p>`;

const link = (one) => changed({ run: one.run_id, question: one.id }, "/inbox");
const batchable = (one) => one.mine && one.allowed.includes("approved") && !one.route;

function Row({ one, current, picked, onPick }) {
  const { icon, name } = kind(one);
  return html`<li class=${classes("question", current && "current")}>
    ${batchable(one) ? html`<input type="checkbox" aria-label=${`Select: ${name}, ${one.request}`} checked=${picked} onChange=${onPick} />` : html`<span></span>`}
    <a href=${link(one)} aria-current=${current ? "true" : undefined}><span class="row"><${Icon} name=${icon} /><b class="grow clip">${name}</b><span class="small muted"><${Time} iso=${one.asked_at} /></span></span>
      <span class="clip small">${one.request}</span>${one.expires_at ? html`<span class="clip small tone-wait">${until(one.expires_at)} left</span>` : null}<span class="clip small muted">${one.team}${one.task_id ? ` · ${one.task_id}` : ""}</span></a></li>`;
}

function Question({ one, done }) {
  const [draft, setDraft] = useState(drafts.get(keyOf(one)) ?? { text: "", plan: null, calls: {} });
  const [busy, setBusy] = useState(""), [error, setError] = useState(null), [sound, setSound] = useState(true);
  const change = (part) => setDraft((old) => (drafts.set(keyOf(one), { ...old, ...part }), { ...old, ...part }));
  const several = (one.calls?.length ?? 0) > 1, { name, icon } = kind(one);
  const needs = one.allowed.includes("answered");

  const send = async (verdict) => {
    if (busy || !one.allowed.includes(verdict) || (verdict === "approved" && draft.plan && !sound)) return;
    if (verdict === "answered" && !draft.text.trim()) return document.getElementById("reply").focus();
    setBusy(verdict);
    setError(null);
    try {
      await post("/questions/replies", { replies: [reply(one, verdict, draft)] });
      drafts.delete(keyOf(one));
      await done(`${WORDS[verdict].done}.`, one);
    } catch (problem) {
      setError(problem);
      setBusy("");
      if (problem.status === 409) loadQuestions();
    }
  };
  useKeys({ a: () => send("approved"), r: () => send(one.allowed.includes("refused") ? "refused" : "declined"), e: () => one.plan && !draft.plan && change({ plan: one.plan }) });

  return html`<article class="card detail" aria-label=${name}>
    <a class="back small" href=${url("/inbox")}><${Icon} name="arrow-left" /> All questions</a>
    <header><h2><${Icon} name=${icon} /> ${name}</h2>
      <p class="small muted">For <a href=${url(`/runs/${part(one.run_id)}`)}>${one.request}</a> · ${one.team}${one.task_id ? html` · task <a href=${url(`/runs/${part(one.run_id)}/tasks/${taskPath(one.task_id)}`)}>${one.task_id}</a>` : null} · asked <${Time} iso=${one.asked_at} /></p>
      ${one.expires_at ? html`<p class="small row tone-wait"><${Icon} name="clock" />${lapse(one)}</p>` : null}</header>
    ${one.plan ? null : html`<${Asked} one=${one} />`}
    ${one.plan && !draft.plan ? html`<${Plan} plan=${one.plan} />${one.mine ? html`<p><${Button} small icon="pencil" onClick=${() => change({ plan: one.plan })}>Edit the plan <kbd>e</kbd><//></p>` : null}` : null}
    ${one.plan && draft.plan ? html`<${PlanForm} team=${one.team} plan=${draft.plan} onChange=${(plan) => change({ plan })} onSound=${setSound} onReset=${() => change({ plan: null })} />` : null}
    ${(one.calls ?? []).map((call) => html`<${Call} key=${call.id} call=${call} several=${several && one.mine} reply=${draft.calls[call.id]} onReply=${(given) => change({ calls: { ...draft.calls, [call.id]: given } })} />`)}
    ${one.mine ? html`<div class="form">
      <label for="reply">${needs ? "Your reply" : one.calls?.length ? "What the worker should know or do instead (optional)" : "Why, or what should be different (optional)"}</label>
      <textarea id="reply" rows="3" value=${draft.text} onInput=${(event) => change({ text: event.target.value })} onKeyDown=${(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && send(needs ? "answered" : "approved")}></textarea>
      ${one.workers?.length && (one.route || needs) ? html`<p class="small muted">Workers that you may name: ${one.workers.join(", ")}.</p>` : null}</div>
      ${error ? html`<${Trouble} small error=${error} />` : null}
      <ul class="choices">${one.allowed.map((verdict) => html`<li key=${verdict}>
        <${Button} main=${WORDS[verdict].main} danger=${WORDS[verdict].danger} icon=${WORDS[verdict].icon} busy=${busy === verdict} disabled=${verdict === "approved" && draft.plan && !sound} onClick=${() => send(verdict)}>
          ${verdict === "approved" && draft.plan ? "Approve with your changes" : verdict === "approved" && split(draft, one) ? "Send what you chose" : WORDS[verdict].word} ${WORDS[verdict].key ? html`<kbd>${WORDS[verdict].key}</kbd>` : null}<//>
        <span class="small muted">${one.effects[verdict]}</span></li>`)}</ul>` : html`<${Note}>You can see this question; an approver answers it.<//>`}
  </article>`;
}

// Of tool calls, which follow with their arguments, only what they are for.
function Asked({ one }) {
  const { message, about } = asked(one.text);
  return html`<div>${about && one.calls?.length ? null : html`<p class="text asked">${message}</p>`}${about ? html`<p class="text muted">${about}</p>` : null}</div>`;
}
const split = (draft, one) => Object.keys(draft.calls).some((id) => one.calls?.some((call) => call.id === id));

function reply(one, verdict, draft) {
  const sent = { run_id: one.run_id, question: one.id, seen: one.seq, verdict, text: draft.text.trim() };
  if (verdict === "approved" && draft.plan) sent.plan = draft.plan;
  if (verdict === "approved" && split(draft, one)) sent.calls = Object.fromEntries(one.calls.map((call) => [call.id, draft.calls[call.id] ?? { approved: true, reason: "" }]));
  return sent;
}

// A tool call that is made only if it is allowed; of several, each on its own.
function Call({ call, several, reply = { approved: true, reason: "" }, onReply }) {
  const name = `call-${call.id}`;
  return html`<section class="call" aria-label=${`Call of ${call.tool}`}>
    <h3><code>${call.tool}</code> <span class="small muted">by ${call.worker}</span></h3>
    <${Value} value=${call.arguments} />
    ${several ? html`<fieldset class="row wrap"><legend class="sr">Allow ${call.tool}?</legend>
      <label><input type="radio" name=${name} checked=${reply.approved} onChange=${() => onReply({ ...reply, approved: true })} /> Allow</label>
      <label><input type="radio" name=${name} checked=${!reply.approved} onChange=${() => onReply({ ...reply, approved: false })} /> Refuse</label>
      <input class="grow" aria-label="What the worker should know or do instead" placeholder="What the worker should know or do instead" value=${reply.reason} onInput=${(event) => onReply({ ...reply, reason: event.target.value })} /></fieldset>` : null}
  </section>`;
}

// One reply for several questions: exactly those that are listed here, all or none.
function Batch({ verdict, chosen, onClose, done }) {
  const [seen] = useState(chosen), [text, setText] = useState(""), { busy, error, send } = useSending();
  const { word, danger } = WORDS[verdict];
  const answer = () => send(async () => {
    await post("/questions/replies", { replies: seen.map((one) => reply(one, verdict, { text, plan: null, calls: {} })) });
    await done(`${word}: sent for ${seen.length}.`);
  });
  return html`<${Dialog} title=${`${word} ${counted(seen.length, "question")}?`} onClose=${onClose}>
    <ul class="batch">${seen.map((one) => html`<li key=${keyOf(one)}><b>${kind(one).name}</b> <span class="small muted">${one.team}: ${one.request}</span>
      ${(one.calls ?? []).map((call) => html`<${Value} key=${call.id} value=${call.arguments} />`)}${one.plan ? html`<p class="small">${counted(one.plan.tasks.length, "task")}: ${one.plan.tasks.map((task) => task.id).join(", ")}</p>` : null}</li>`)}</ul>
    <div class="form"><label for="why">Why (optional, the same for all)</label><textarea id="why" rows="2" value=${text} onInput=${(event) => setText(event.target.value)}></textarea></div>
    <p class="small muted">All of these or none: if one was answered meanwhile, nothing is sent.</p>
    ${error ? html`<${Trouble} small error=${error} />` : null}
    <p class="row buttons"><${Button} onClick=${onClose}>Not yet<//><${Button} main=${!danger} danger=${danger} busy=${busy} onClick=${answer}>${word} ${seen.length}<//></p><//>`;
}
