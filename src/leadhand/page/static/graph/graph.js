// The graph view: the drawing with mouse, touch and keys, and its controls.

import { html, useEffect, useLayoutEffect, useRef } from "../vendor/preact.js";
import { changed, go, here } from "../router.js";
import { Button } from "../ui.js";
import { Drawing } from "./drawing.js";
import { layout } from "./layout.js";
import { graphOf } from "./model.js";

const SETTLED_MS = 300;

export function Graph({ run, matching }) {
  const ref = useRef(null), far = useRef(null), drawing = useRef(null), keep = useRef(null);
  const { query } = here.value, open = query.open ?? "", each = query.each === "1", selected = run.selected;
  const { version, shape } = run;

  const toggled = (node) => {
    const ids = new Set(open ? open.split(",") : []);
    if (!ids.delete(node.id)) ids.add(node.id);
    return changed({ open: [...ids].join(",") });
  };
  const href = (node) => (node.kind === "group" || node.group ? toggled(node) : run.href(node.tasks[0].path));

  useLayoutEffect(() => {
    drawing.current = new Drawing(ref.current, far.current, run, { href, toggleHref: toggled });
    return handle(ref.current, drawing.current, run, keep);
  }, [run]);

  useLayoutEffect(() => {
    const it = drawing.current;
    it.on = { href, toggleHref: toggled };
    const first = !it.graph;
    it.show(graphOf(run, { open: new Set(open ? open.split(",") : []), each, layout }), keep.current);
    keep.current = null;
    it.mark({ selected, dim: matching });
    if (first && query.at) it.goTo(query.at);
    if (selected) it.reveal(selected);
  }, [run, shape.value, open, each]);

  // Which part is seen is in the address, once the reader has moved it; links are drawn anew with it.
  useEffect(() => {
    const it = drawing.current;
    if (query.at && query.at !== it.place) it.goTo(query.at);
    else if (!it.far) it.move(it.x, it.y, it.scale, true);
  }, [query.at]);

  useLayoutEffect(() => drawing.current.mark({ selected, dim: matching }), [selected, matching]);
  useEffect(() => { if (selected) drawing.current.reveal(selected); }, [selected]);
  useEffect(() => version.subscribe(() => run.dirty.size && drawing.current.update(run.dirty)), [run]);

  const going = run.view.value.status === "running";
  useEffect(() => {
    const timer = going ? setInterval(() => document.hidden || drawing.current.tick(), 1000) : 0;
    return () => clearInterval(timer);
  }, [run, going]);

  const grouped = run.tasks.length >= 25;
  return html`<div class="graph"><canvas ref=${far} aria-hidden="true"></canvas>
    <svg ref=${ref} class="canvas" tabindex="0" role="group" aria-label="Graph of the tasks, from left to right. Arrow keys move along it, Enter opens a task, plus and minus zoom."></svg>
    <div class="legend small muted" aria-hidden="true"><span class="key critical"></span>longest path</div>
    <div class="controls">
      ${grouped ? html`<${Button} small icon=${each ? "layers" : "expand"} href=${changed({ each: each ? "" : "1", open: "" })}>${each ? "Group equal tasks" : "Show each task"}<//>` : null}
      <${Button} small icon="zoom-out" title="Zoom out" onClick=${() => drawing.current.zoom(1 / 1.4)} />
      <${Button} small icon="zoom-in" title="Zoom in" onClick=${() => drawing.current.zoom(1.4)} />
      <${Button} small icon="scan" title="Show the whole graph" onClick=${() => drawing.current.fitAll()} />
    </div>
  </div>`;
}

function handle(svg, drawing, run, keep) {
  const stops = new AbortController(), options = { signal: stops.signal };
  const pointers = new Map();
  let moved = 0, pending = 0, settling = 0, dx = 0, dy = 0;
  drawing.moved = () => {
    clearTimeout(settling);
    settling = setTimeout(() => (pointers.size ? drawing.moved() : go(changed({ at: drawing.place }), { replace: true })), SETTLED_MS);
  };
  const panSoon = (x, y) => {
    dx += x;
    dy += y;
    pending ||= requestAnimationFrame(() => {
      pending = 0;
      drawing.pan(dx, dy);
      dx = dy = 0;
    });
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    moved = 0;
  }, options);
  svg.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) return;
    const box = svg.getBoundingClientRect(), next = [event.clientX - box.left, event.clientY - box.top];
    if (pointers.size === 2) {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const spread = (at) => Math.hypot(at[0] - other[0], at[1] - other[1]);
      drawing.zoom(spread(next) / spread(last), [(next[0] + other[0]) / 2, (next[1] + other[1]) / 2]);
      moved = 10;
    } else {
      moved += Math.abs(next[0] - last[0]) + Math.abs(next[1] - last[1]);
      if (moved > 4) {
        if (!svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
        panSoon(next[0] - last[0], next[1] - last[1]);
      }
    }
    pointers.set(event.pointerId, next);
  }, options);
  const released = (event) => pointers.delete(event.pointerId);
  svg.addEventListener("pointerup", released, options);
  svg.addEventListener("pointercancel", released, options);
  svg.addEventListener("dragstart", (event) => event.preventDefault(), options);
  svg.addEventListener("click", (event) => {
    if (moved > 4) {
      event.preventDefault();
      event.stopPropagation();
    } else {
      const node = event.target.closest("g.node")?.node ?? (drawing.far ? drawing.at(event.offsetX, event.offsetY)?.node : null);
      if (node) keep.current = node.id;
      if (node && drawing.far) go(drawing.on.href(node));
      else if (node) return;
      else if (run.selected) go(run.href(null));
    }
  }, { ...options, capture: true });
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const step = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || event.metaKey) drawing.zoom(Math.exp(-event.deltaY * step * 0.01), [event.offsetX, event.offsetY]);
    else panSoon(-event.deltaX * step, -event.deltaY * step);
  }, { ...options, passive: false });
  svg.addEventListener("keydown", (event) => keys(event, drawing, run), options);
  const sized = new ResizeObserver(() => drawing.graph && drawing.move(drawing.x, drawing.y, drawing.scale, true));
  sized.observe(svg);
  return () => (stops.abort(), sized.disconnect(), cancelAnimationFrame(pending), clearTimeout(settling));
}

// Arrow keys go to the nearest node in that direction; without a selection to the first one.
function keys(event, drawing, run) {
  const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
  if (event.key === "+" || event.key === "=") drawing.zoom(1.3);
  else if (event.key === "-") drawing.zoom(1 / 1.3);
  else if (event.key === "0") drawing.fitAll();
  else if (way && !event.metaKey && !event.ctrlKey) {
    const now = run.selected && drawing.of.get(run.selected);
    const boxes = drawing.boxes.filter((box) => box.node.kind === "task" || box.node.kind === "team");
    let best = now ? null : boxes[0], least = Infinity;
    for (const box of now ? boxes : []) {
      if (box === now) continue;
      const x = box.x + box.w / 2 - now.x - now.w / 2, y = box.y + box.h / 2 - now.y - now.h / 2;
      const along = x * way[0] + y * way[1], aside = Math.abs(x * way[1]) + Math.abs(y * way[0]);
      if (along > 10 && along + 2 * aside < least) [best, least] = [box, along + 2 * aside];
    }
    if (best) go(run.href(best.node.tasks[0].path), { replace: Boolean(now) });
  } else return;
  event.preventDefault();
}
