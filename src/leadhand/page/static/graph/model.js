// What the graph shows: tasks, groups of equal tasks, nested teams closed or open. Pure.

import { ORDER } from "../format.js";
import { inOrder } from "./layout.js";

export const SIZE = { w: 232, h: 74 };
const GROUPED_FROM = 25, SMALLEST_GROUP = 4;
const HEAD = 34, PAD = 16;

// `open`: paths of open teams and keys of open groups. `each`: no groups at all.
export function graphOf(run, { open, each, layout }) {
  return level(run, null, { open, each, layout });
}

// The tasks of one team: {nodes, edges, w, h}, laid out.
function level(run, parent, options) {
  const tasks = run.children(parent);
  const needs = dependencies(tasks);
  const group = options.each || tasks.length < GROUPED_FROM ? () => null : equals(run, tasks, needs);
  const nodes = new Map(), nodeOf = new Map();
  for (const task of tasks) {
    const key = group(task);
    if (key === null) {
      nodes.set(task.path, single(run, task, options));
      nodeOf.set(task.path, task.path);
    } else {
      if (!nodes.has(key)) nodes.set(key, { id: key, kind: "group", tasks: [], ...SIZE });
      nodes.get(key).tasks.push(task);
      nodeOf.set(task.path, key);
    }
  }
  for (const node of nodes.values()) if (node.kind === "group") finishGroup(node, options);
  const edges = new Map();
  for (const task of tasks) {
    for (const before of needs.get(task.path)) {
      const from = nodeOf.get(before), to = nodeOf.get(task.path);
      if (from === to) continue;
      const key = `${from}\n${to}`, critical = task.critical && run.byPath.get(before).critical;
      const edge = edges.get(key) ?? { from, to, count: 0, critical: false };
      edge.count += 1;
      edge.critical ||= Boolean(critical);
      edges.set(key, edge);
    }
  }
  const list = [...nodes.values()], lines = [...edges.values()];
  return { nodes: list, edges: lines, ...options.layout(list, lines) };
}

function single(run, task, options) {
  const inside = run.children(task.path);
  if (!inside.length) return { id: task.path, kind: "task", tasks: [task], ...SIZE };
  if (!options.open.has(task.path)) return { id: task.path, kind: "team", tasks: [task], inside: run.within(task.path), ...SIZE, h: SIZE.h + 26 };
  const inner = level(run, task.path, options);
  return { id: task.path, kind: "frame", tasks: [task], inner, w: inner.w + 2 * PAD, h: inner.h + HEAD + PAD, dx: PAD, dy: HEAD };
}

function finishGroup(node, options) {
  node.worker = node.tasks[0].worker;
  if (!options.open.has(node.id)) return;
  const rows = Math.max(4, Math.ceil(Math.sqrt(node.tasks.length * 1.6)));
  const columns = Math.ceil(node.tasks.length / rows), step = { x: SIZE.w + 12, y: SIZE.h + 10 };
  const nodes = node.tasks.map((task, index) => ({ id: task.path, kind: "task", tasks: [task], ...SIZE, x: Math.floor(index / rows) * step.x, y: (index % rows) * step.y }));
  const w = columns * step.x - 12, h = Math.min(rows, node.tasks.length) * step.y - 10;
  Object.assign(node, { kind: "frame", group: true, inner: { nodes, edges: [], w, h }, w: w + 2 * PAD, h: h + HEAD + PAD, dx: PAD, dy: HEAD });
}

// What each task follows, by path. Of a split task its parts follow, and what needed it needs them.
export function dependencies(tasks) {
  const byId = new Map(tasks.map((task) => [task.id, task])), parts = new Map();
  for (const task of tasks) {
    if (task.part_of && byId.has(task.part_of)) parts.set(task.part_of, [...(parts.get(task.part_of) ?? []), task]);
  }
  const ends = (task) => (parts.has(task.id) ? parts.get(task.id).flatMap(ends) : [task]);
  return new Map(tasks.map((task) => {
    const before = (task.depends_on ?? []).filter((id) => byId.has(id) && id !== task.id).flatMap((id) => ends(byId.get(id)));
    if (task.part_of && byId.has(task.part_of)) before.push(byId.get(task.part_of));
    return [task.path, [...new Set(before.filter((one) => one !== task).map((one) => one.path))]];
  }));
}

// Equal tasks have the same worker, follow equal tasks and are followed by equal tasks: those of a
// class are one node. Two passes over the graph, in the order of its ranks and back.
function equals(run, tasks, needs) {
  const after = new Map(tasks.map((task) => [task.path, []]));
  for (const [path, before] of needs) for (const one of before) after.get(one).push(path);
  const order = inOrder(after), numbers = new Map();
  const number = (text) => numbers.get(text) ?? (numbers.set(text, numbers.size), numbers.size - 1);
  const pass = (paths, next) => {
    const classes = new Map();
    for (const path of paths) {
      const task = run.byPath.get(path), around = [...new Set(next.get(path).map((one) => classes.get(one)))].sort();
      classes.set(path, number(`${task.worker}|${task.part_of ?? ""}|${run.children(path).length > 0}|${around}`));
    }
    return classes;
  };
  const down = pass(order, needs), up = pass([...order].reverse(), after), members = new Map();
  const key = (task) => `${down.get(task.path)}-${up.get(task.path)}`;
  for (const task of tasks) members.set(key(task), [...(members.get(key(task)) ?? []), task].slice(0, SMALLEST_GROUP));
  return (task) => {
    const first = members.get(key(task));
    return first.length < SMALLEST_GROUP || run.children(task.path).length ? null : `=${first[0].path}`;
  };
}

// How many tasks have each status, what needs a person's eye first: [["failed", 2], ["completed", 40]].
export function tally(tasks) {
  const counts = new Map();
  for (const task of tasks) counts.set(task.status, (counts.get(task.status) ?? 0) + 1);
  const place = (status) => (ORDER.indexOf(status) + 100) % 100;
  return [...counts].sort(([one], [two]) => place(one) - place(two));
}

// Of a group the status that matters most.
export function statusOf(node) {
  return node.kind === "task" || node.kind === "team" || !node.group && node.kind === "frame" ? node.tasks[0].status : tally(node.tasks)[0][0];
}
