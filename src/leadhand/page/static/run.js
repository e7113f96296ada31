// One run as the page holds it: what the service gave, and the events since then.

import { signal } from "./vendor/preact.js";
import { follow, get, loadQuestions, part, Problem } from "./api.js";
import { stored, taskPath, url } from "./router.js";

const ENDED = new Set(["complete", "partial", "failed", "cancelled"]);
// After these the page asks for the run anew at once: its tasks or its questions are others.
const TURNS = new Set(["plan_proposed", "plan_accepted", "plan_rejected", "plan_amended", "task_planned", "task_split", "round_decided", "approval_requested", "approval_given", "run_waiting", "run_stopped", "run_resumed", "run_finished"]);
const ENDS = { task_completed: "completed", task_failed: "failed", task_escalated: "escalated", task_cancelled: "cancelled" };

export class Run {
  // `view`: the document. `answers`: the answer is being written. `version` counts changes of tasks, `shape` changes of which tasks there are.
  constructor(id) {
    Object.assign(this, { id, view: signal(null), error: signal(null), version: signal(0), shape: signal(0), writing: signal({}), answers: signal(false) });
    Object.assign(this, { tasks: [], byPath: new Map(), byParent: new Map(), dirty: new Set(), recent: [], last: null, timer: 0, took: 0, frame: 0, selected: null, closed: false });
  }

  listen() {
    this.stop?.();
    this.stop = follow(`/runs/${part(this.id)}/events`, { last: this.view.value.seq, event: (type, data) => this.hear(type, data), end: () => this.ended || this.load().then(() => this.rest()) });
  }

  // The service has no more events for now: the run is over, or it waits for a person or a process.
  rest() {
    if (this.closed || this.ended) return;
    if (this.view.value.status === "running") this.listen();
    else setTimeout(() => this.closed || this.load().then(() => this.rest()), 5000);
  }

  close() {
    this.closed = true;
    this.stop?.();
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
  }

  async load() {
    const began = performance.now();
    try {
      const view = await get(`/runs/${part(this.id)}`);
      if (this.closed) return;
      this.took = performance.now() - began;
      this.error.value = null;
      this.take(view);
      if (!this.stop && !this.ended && !stored) this.listen();
    } catch (error) {
      if (this.closed) return;
      this.error.value = error;
      if (error instanceof Problem && (error.status === 0 || error.status >= 500)) this.later(3000);
    }
  }

  // Asks anew after `ms`; a large run, which takes the service longer, less often.
  later(ms) {
    this.timer ||= setTimeout(() => {
      this.timer = 0;
      this.load();
    }, Math.max(ms, 4 * this.took));
  }

  take(view) {
    const old = this.byPath, given = view.tasks;
    wait(given, view.questions ?? []);
    let same = old.size === given.length;
    for (const task of given) {
      const before = old.get(task.path);
      if (!before || `${before.depends_on}` !== `${task.depends_on}` || before.critical !== task.critical || before.worker !== task.worker) same = false;
      else if (before.seen !== seen(task)) this.dirty.add(task.path);
    }
    // A task stays the same object: what is drawn of it holds on to it.
    this.tasks = given.map((task) => Object.assign(old.get(task.path) ?? {}, task, { seen: seen(task) }));
    this.byPath = new Map(this.tasks.map((task) => [task.path, task]));
    this.byParent = Map.groupBy(this.tasks, (task) => task.parent ?? null);
    this.recent = this.recent.filter((event) => event.seq > view.seq);
    for (const event of this.recent) this.apply(event);
    this.last = this.recent.at(-1) ?? { elapsed_s: view.elapsed_s, at: view.updated_at };
    if (view.questions?.length !== this.view.value?.questions?.length) loadQuestions();
    this.view.value = view;
    if (ENDED.has(view.status)) this.writing.value = {};
    if (!same) this.shape.value += 1;
    this.changed();
  }

  hear(type, event) {
    if (type === "text_delta") {
      const key = `${event.task_id ?? ""}:${event.role ?? "synthesizer"}`, before = event.reset ? "" : (this.writing.value[key] ?? "");
      this.writing.value = { ...this.writing.value, [key]: before + event.text };
      if (key === ":synthesizer") this.answers.value = true;
      return;
    }
    this.recent.push(event);
    this.last = event;
    this.apply(event);
    if (TURNS.has(type)) this.later(150);
    else this.later(2000);
  }

  // What an event says about a task at once; the rest comes when the run is asked for anew.
  apply(event) {
    const task = this.byPath.get(event.task_id);
    if (!task) return;
    const attempt = task.attempts.at(-1);
    if (event.type === "task_dispatched") {
      task.status = "running";
      task.started_s ??= event.elapsed_s;
      if (!attempt || attempt.attempt < event.attempt) task.attempts.push({ attempt: event.attempt, worker: event.worker, started_s: event.elapsed_s, ended_s: null, end: "running" });
    } else if (ENDS[event.type]) {
      const ended = event.type === "task_completed" || event.type === "task_cancelled" || event.final;
      task.status = ended ? (event.kind === "timeout" ? "timed_out" : ENDS[event.type]) : event.type === "task_failed" ? "retrying" : "pending";
      if (attempt) Object.assign(attempt, { ended_s: event.elapsed_s, end: ENDS[event.type], kind: event.kind ?? null, message: event.message ?? null });
      if (ended) Object.assign(task, { finished_s: event.elapsed_s, busy_s: task.attempts.reduce((sum, one) => sum + ((one.ended_s ?? event.elapsed_s) - one.started_s), 0) });
    } else if (event.type === "task_skipped") task.status = "skipped";
    else return;
    this.dirty.add(task.path);
    this.changed();
  }

  // Views hear of changes at most once a frame.
  changed() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.version.value += 1;
      this.dirty.clear();
    });
  }

  children(parent) {
    return this.byParent.get(parent) ?? [];
  }

  // All tasks inside a nested team's task, at any depth.
  within(path) {
    return this.children(path).flatMap((task) => [task, ...this.within(task.path)]);
  }

  get ended() {
    return ENDED.has(this.view.value?.status);
  }

  // Seconds since the run started, in which a process worked on it; if it goes on, until now.
  get now_s() {
    const { elapsed_s, at } = this.last, goes = this.view.value.status === "running" && !stored;
    return elapsed_s + (goes ? Math.max(0, Date.now() - Date.parse(at)) / 1000 : 0);
  }

  // The same without the time in which only people were waited for.
  get worked_s() {
    const { metrics, elapsed_s } = this.view.value;
    return this.now_s - (metrics ? elapsed_s - metrics.makespan_s : 0);
  }

  // For how many seconds a task has worked, or works on its present attempt.
  spent(task) {
    return task.status === "running" && task.attempts.length ? Math.max(0, this.now_s - task.attempts.at(-1).started_s) : task.busy_s;
  }

  // The address of a task in the present view; null: of the run without one.
  href(path, query = this.query) {
    return url(`/runs/${part(this.id)}${path ? `/tasks/${taskPath(path)}` : ""}`, query);
  }
}

const seen = (task) => `${task.status} ${task.attempts.length} ${task.busy_s} ${task.intent}`;

// Of tasks that were not started or have failed once: whether they wait for a person, or to be tried again.
function wait(tasks, questions) {
  const asked = new Set(questions.map((one) => one.task_id));
  for (const task of tasks) {
    if (!["pending", "retrying", "waiting"].includes(task.status)) continue;
    task.status = asked.has(task.path) ? "waiting" : task.attempts.at(-1)?.end === "failed" ? "retrying" : "pending";
  }
}
