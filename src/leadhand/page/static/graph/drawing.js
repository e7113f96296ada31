// Draws a laid-out graph: what is in view as SVG, or, zoomed out, all of it on a canvas (see far.js).

import { shapes } from "../vendor/icons.js";
import { attempts, counted, duration, look, number } from "../format.js";
import { paint } from "./far.js";
import { curve } from "./layout.js";
import { statusOf, tally } from "./model.js";

const SVG = "http://www.w3.org/2000/svg";
const NEAR = 0.42, MIN = 0.03, MAX = 1.6, MARGIN = 0.6;
const FONT = "600 13px Inter, system-ui, sans-serif", SMALL = "400 12px Inter, system-ui, sans-serif";

function make(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== null) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

const pen = document.createElement("canvas").getContext("2d");
const widths = new Map();
function width(text, font) {
  const key = font[0] + text;
  if (!widths.has(key)) {
    if (widths.size > 20000) widths.clear();
    pen.font = font;
    widths.set(key, pen.measureText(text).width);
  }
  return widths.get(key);
}

// `text` cut so that it fits, at a word's end if it is to go on in a second line.
function cut(text, room, font, words = false) {
  if (width(text, font) <= room) return text;
  let low = 0, high = Math.min(text.length, 120);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (width(text.slice(0, middle) + (words ? "" : "…"), font) <= room) low = middle;
    else high = middle - 1;
  }
  const space = words ? text.lastIndexOf(" ", low) : -1;
  return words ? text.slice(0, space > low / 3 ? space : low) : `${text.slice(0, low).trimEnd()}…`;
}

const icon = (name, x, y, size = 16, label = undefined) =>
  make("g", { class: "glyph", role: label && "img", "aria-label": label, transform: `translate(${x} ${y}) scale(${size / 24})` }, ...(shapes[name] ?? []).map(([tag, attributes]) => make(tag, attributes)));

export class Drawing {
  // `run`: the store. `on.href(node)`, `on.toggleHref(node)`: where a node's links lead. `moved()` is called when the reader moves it.
  constructor(svg, canvas, run, on) {
    Object.assign(this, { svg, canvas, run, on, scale: 1, x: 0, y: 0, moved: () => {}, boxes: [], lines: [], drawn: new Map(), of: new Map(), selected: null, dim: null });
    this.layers = { frames: make("g", {}), edges: make("g", { class: "edges", "aria-hidden": "true" }), nodes: make("g", {}) };
    this.root = make("g", {}, this.layers.frames, this.layers.edges, this.layers.nodes);
    svg.replaceChildren(this.root);
  }

  // A new graph. `keep`: the id of a node that stays where it is on the screen.
  show(graph, keep = null) {
    const before = keep && this.boxes.find((box) => box.node.id === keep), had = this.boxes.length > 0;
    Object.assign(this, { graph, boxes: [], lines: [], of: new Map() });
    this.flatten(graph, 0, 0);
    const after = before && this.boxes.find((box) => box.node.id === keep);
    if (after) this.move(this.x + (before.x - after.x) * this.scale, this.y + (before.y - after.y) * this.scale, this.scale, true);
    else if (had) this.move(this.x, this.y, this.scale, true);
    else this.fit();
    this.svg.dataset.nodes = `${this.boxes.length}`;
  }

  flatten(graph, dx, dy) {
    for (const node of graph.nodes) {
      const box = { node, x: node.x + dx, y: node.y + dy, w: node.w, h: node.h };
      this.boxes.push(box);
      if (node.kind !== "frame" || !node.group) for (const task of node.tasks) this.of.set(task.path, box);
      if (node.kind === "team") for (const task of node.inside) this.of.set(task.path, box);
      if (node.inner) this.flatten(node.inner, box.x + node.dx, box.y + node.dy);
    }
    for (const edge of graph.edges) {
      const xs = edge.points.map((point) => point[0] + dx), ys = edge.points.map((point) => point[1] + dy);
      const end = [xs.at(-1), ys.at(-1)];
      this.lines.push({ edge, points: xs.map((x, index) => [x, ys[index]]), left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys), path: curve(edge.points, dx, dy), tip: `M${end[0]} ${end[1]}l-7-4v8z` });
    }
  }

  get size() {
    return { w: this.svg.clientWidth || 800, h: this.svg.clientHeight || 500 };
  }

  // All of it, or, unless it is large, as much of it as can be read.
  fit(least = this.boxes.length > 400 ? MIN : 0.62) {
    const { w, h } = this.size, scale = Math.min(1, Math.max(least, Math.min((w - 48) / this.graph.w, (h - 72) / this.graph.h)));
    this.move(Math.max(24, (w - this.graph.w * scale) / 2), Math.max(16, (h - 40 - this.graph.h * scale) / 2), scale, true);
  }

  fitAll() {
    this.fit(MIN);
    this.moved();
  }

  // The middle of what is seen, and how large it is, as text for the address.
  get place() {
    const { w, h } = this.size;
    return [(w / 2 - this.x) / this.scale, (h / 2 - this.y) / this.scale].map(Math.round).concat(+this.scale.toFixed(3)).join("_");
  }

  goTo(place) {
    const [x, y, scale] = place.split("_").map(Number), { w, h } = this.size;
    if ([x, y, scale].every(Number.isFinite)) this.move(w / 2 - x * scale, h / 2 - y * scale, Math.min(MAX, Math.max(MIN, scale)), true);
  }

  zoom(factor, at = [this.size.w / 2, this.size.h / 2]) {
    const scale = Math.min(MAX, Math.max(MIN, this.scale * factor)), real = scale / this.scale;
    this.move(at[0] - (at[0] - this.x) * real, at[1] - (at[1] - this.y) * real, scale);
    this.moved();
  }

  pan(dx, dy) {
    this.move(this.x + dx, this.y + dy, this.scale);
    this.moved();
  }

  get far() {
    return this.scale < NEAR;
  }

  move(x, y, scale, always = false) {
    const other = scale < NEAR !== this.far;
    Object.assign(this, { x, y, scale });
    if (other || always) this.clear();
    if (this.far) return paint(this);
    this.root.setAttribute("transform", `translate(${Math.round(x)} ${Math.round(y)}) scale(${scale})`);
    const { w, h } = this.size, seen = { left: -x / scale, top: -y / scale, right: (w - x) / scale, bottom: (h - y) / scale };
    const inside = this.seen && seen.left >= this.seen.left && seen.top >= this.seen.top && seen.right <= this.seen.right && seen.bottom <= this.seen.bottom;
    if (always || other || !inside || scale > this.culledAt * 1.5) this.cull(seen);
  }

  clear() {
    for (const element of this.drawn.values()) element.remove();
    this.drawn.clear();
    this.layers.edges.replaceChildren();
    this.canvas.width = 0;
    this.seen = null;
  }

  // The innermost box at a place of the screen.
  at(x, y) {
    const [left, top] = [(x - this.x) / this.scale, (y - this.y) / this.scale];
    return this.boxes.findLast((box) => left >= box.x && left <= box.x + box.w && top >= box.y && top <= box.y + box.h);
  }

  reveal(path) {
    const box = this.of.get(path);
    if (!box) return;
    const { w, h } = this.size, left = box.x * this.scale + this.x, top = box.y * this.scale + this.y;
    const right = left + box.w * this.scale, bottom = top + Math.min(box.h, 200) * this.scale;
    if (left >= 0 && top >= 0 && right <= w && bottom <= h) return;
    const scale = Math.max(this.scale, 0.7);
    this.move(w / 2 - (box.x + Math.min(box.w, 400) / 2) * scale, h / 2 - (box.y + Math.min(box.h, 300) / 2) * scale, scale, true);
  }

  cull(seen) {
    const mx = (seen.right - seen.left) * MARGIN, my = (seen.bottom - seen.top) * MARGIN;
    const area = { left: seen.left - mx, right: seen.right + mx, top: seen.top - my, bottom: seen.bottom + my };
    Object.assign(this, { seen: area, culledAt: this.scale });
    const keep = new Set();
    for (const box of this.boxes) {
      if (box.x > area.right || box.x + box.w < area.left || box.y > area.bottom || box.y + box.h < area.top) continue;
      keep.add(box.node.id);
      if (!this.drawn.has(box.node.id)) this.draw(box);
    }
    for (const [id, element] of this.drawn) {
      if (keep.has(id)) continue;
      element.remove();
      this.drawn.delete(id);
    }
    this.drawEdges();
  }

  drawEdges() {
    const { left, right, top, bottom } = this.seen, around = this.selected && this.of.get(this.selected)?.node.id;
    const paths = { plain: ["", ""], critical: ["", ""], chosen: ["", ""] };
    for (const line of this.lines) {
      if (line.left > right || line.right < left || line.top > bottom || line.bottom < top) continue;
      const { from, to, critical } = line.edge, kind = around && (from === around || to === around) ? "chosen" : critical ? "critical" : "plain";
      paths[kind][0] += line.path;
      paths[kind][1] += line.tip;
    }
    this.layers.edges.replaceChildren(...Object.entries(paths).flatMap(([kind, [path, tips]]) =>
      path ? [make("path", { d: path, class: `edge ${kind}` }), make("path", { d: tips, class: `tip ${kind}` })] : []));
  }

  update(paths) {
    if (this.far) return paint(this);
    for (const box of new Set([...paths].map((path) => this.of.get(path)))) if (box && this.drawn.has(box.node.id)) this.draw(box);
  }

  mark({ selected, dim }) {
    Object.assign(this, { selected, dim });
    if (this.far) return paint(this);
    for (const box of this.boxes) if (this.drawn.has(box.node.id)) this.classify(box, this.drawn.get(box.node.id));
    if (this.seen) this.drawEdges();
  }

  isFaded(node) {
    return this.dim !== null && !(node.inside ?? []).concat(node.tasks).some((task) => this.dim.has(task.path));
  }

  isChosen(box) {
    return this.selected !== null && this.of.get(this.selected) === box;
  }

  classify(box, element) {
    const { node } = box, tone = look(statusOf(node)).tone;
    const faded = this.isFaded(node), chosen = this.isChosen(box);
    element.setAttribute("class", ["node", node.kind, `tone-${tone}`, statusOf(node), node.tasks.some((task) => task.critical) && "critical", chosen && "selected", faded && "faded"].filter(Boolean).join(" "));
  }

  draw(box) {
    const { node } = box, old = this.drawn.get(node.id);
    const element = make("g", { "data-id": node.id, transform: `translate(${box.x} ${box.y})` }, ...(node.kind === "frame" ? this.frame(node) : this.near(node)));
    element.node = node;
    this.classify(box, element);
    if (old) old.replaceWith(element);
    else this.layers[node.kind === "frame" ? "frames" : "nodes"].append(element);
    this.drawn.set(node.id, element);
  }

  link(node, ...children) {
    return make("a", { href: this.on.href(node), class: "main", tabindex: "-1" }, ...children);
  }

  toggle(node, x, y, title, name) {
    return make("a", { href: this.on.toggleHref(node), class: "toggle", tabindex: "-1", "aria-label": title }, make("title", {}, title), make("rect", { x, y, width: 22, height: 22, rx: 5 }), icon(name, x + 4, y + 4, 14));
  }

  frame(node) {
    const [task] = node.tasks, name = node.group ? `${node.worker} ×${number(node.tasks.length)}` : task.id;
    return [
      make("rect", { width: node.w, height: node.h, rx: 12, class: "box" }),
      this.link(node, make("rect", { width: node.w - 40, height: 30, class: "hit" }), icon(look(statusOf(node)).icon, 14, 9, 15, look(statusOf(node)).word), text(cut(name, node.w - 90, FONT), 36, 21, "title")),
      this.toggle(node, node.w - 30, 6, `Close ${name}`, "minus"),
    ];
  }

  time(task) {
    if (task.status === "running") return duration(Math.round(this.run.spent(task)));
    return task.finished_s !== null && task.finished_s !== undefined && task.busy_s ? duration(task.busy_s) : "";
  }

  inside(node) {
    const time = this.time(node.tasks[0]);
    return `${counted(node.inside.length, "task")} inside${time ? ` · ${time}` : ""}`;
  }

  // The time goes on for what runs and is in view.
  tick() {
    if (this.far) return;
    for (const element of this.drawn.values()) {
      const { kind, tasks: [task] } = element.node, place = element.querySelector(".time");
      if (task.status === "running" && place) place.textContent = kind === "team" ? this.inside(element.node) : this.time(task);
    }
  }

  near(node) {
    const [task] = node.tasks, many = node.kind === "group", status = statusOf(node), room = node.w - 24;
    const name = many ? `${node.worker} ×${number(node.tasks.length)}` : task.id;
    const time = many ? "" : this.time(task), opens = many || node.kind === "team";
    const right = opens ? 30 : time ? width(time, SMALL) + 10 : 0;
    const first = cut(task.intent ?? "", room, SMALL, true), rest = (task.intent ?? "").slice(first.length).trim();
    const tries = attempts(task) > 1 ? `, attempt ${attempts(task)}` : "";
    const lines = many ? [cut(shared(node.tasks), room, SMALL)] : [first, rest ? cut(rest, room, SMALL) : `${cut(task.worker, room - width(tries, SMALL), SMALL)}${tries}`];
    return [
      ...(many ? [make("rect", { x: 8, y: 8, width: node.w, height: node.h, rx: 8, class: "box behind" }), make("rect", { x: 4, y: 4, width: node.w, height: node.h, rx: 8, class: "box behind" })] : []),
      this.link(
        node,
        make("title", {}, many ? counts(node.tasks) : `${task.id}: ${task.intent ?? ""}`),
        make("rect", { width: node.w, height: node.h, rx: 8, class: "box" }),
        icon(look(status).icon, 12, 11, 16, look(status).word),
        text(cut(name, room - 24 - right, FONT), 36, 23.5, "title"),
        time && !opens ? text(time, node.w - 12, 23.5, "time") : null,
        ...lines.map((line, index) => text(line, 12, 44 + index * 17, "sub")),
        ...(many ? [bar(node.tasks, 12, node.h - 14, room)] : node.kind === "team" ? [bar(node.inside, 12, node.h - 30, room), text(this.inside(node), 12, node.h - 9, "sub tiny time")] : []),
      ),
      opens ? this.toggle(node, node.w - 30, 8, `Open ${name}`, "plus") : null,
    ].filter(Boolean);
  }
}

// What the intents of equal tasks have in common: "Check invoice … for errors".
function shared(tasks) {
  const [first, ...others] = [tasks[0], tasks[tasks.length >> 1], tasks.at(-1)].map((task) => (task.intent ?? "").split(" "));
  const same = (word, index, end) => others.every((words) => words.at(end ? index - first.length : index) === word);
  const head = first.findIndex((word, index) => !same(word, index, false));
  if (head < 0) return first.join(" ");
  const tail = first.findLastIndex((word, index) => !same(word, index, true));
  return [...first.slice(0, head), "…", ...first.slice(Math.max(head, tail + 1))].join(" ");
}

// The share of each status, as in a progress bar; what is not done is hatched by its class.
function bar(tasks, x, y, room) {
  let left = x;
  const parts = tally(tasks).map(([status, count]) => {
    const wide = (count / tasks.length) * room, part = make("rect", { x: left, y, width: Math.max(1, wide - 1), height: 5, rx: 2, class: `share tone-${look(status).tone}` });
    left += wide;
    return part;
  });
  return make("g", { role: "img", "aria-label": counts(tasks) }, ...parts);
}

const counts = (tasks) => tally(tasks).map(([status, count]) => `${number(count)} ${look(status).word}`).join(", ");

const text = (content, x, y, name) => make("text", { x, y, class: name }, content);
