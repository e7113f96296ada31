// The whole graph on a canvas: thousands of tasks as boxes, with a sign on those that need an eye.

import { shapes } from "../vendor/icons.js";
import { look } from "../format.js";
import { statusOf } from "./model.js";

const SIGNS = new Set(["failed", "timed_out", "waiting", "escalated", "running"]);
const NAMES = ["good", "bad", "wait", "busy", "idle", "line-strong", "accent", "text", "surface", "sunken"];
const outlines = new Map();

export function paint(drawing) {
  const { canvas, scale, boxes, lines } = drawing, { w, h } = drawing.size, ratio = devicePixelRatio || 1;
  const colour = colours(drawing.svg), pen = canvas.getContext("2d");
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    Object.assign(canvas, { width: Math.round(w * ratio), height: Math.round(h * ratio) });
    Object.assign(canvas.style, { width: `${w}px`, height: `${h}px` });
  } else {
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
  }
  pen.setTransform(ratio * scale, 0, 0, ratio * scale, drawing.x * ratio, drawing.y * ratio);
  const seen = { left: -drawing.x / scale, top: -drawing.y / scale, right: (w - drawing.x) / scale, bottom: (h - drawing.y) / scale };
  const inside = (left, top, right, bottom) => left < seen.right && right > seen.left && top < seen.bottom && bottom > seen.top;

  const frames = boxes.filter((box) => box.node.kind === "frame"), leaves = boxes.filter((box) => box.node.kind !== "frame");
  for (const box of frames) if (inside(box.x, box.y, box.x + box.w, box.y + box.h)) fill(pen, box, colour.sunken, colour["line-strong"], 1, scale, colour.surface);
  pen.lineWidth = 1 / scale;
  for (const critical of [false, true]) {
    pen.strokeStyle = critical ? colour.accent : colour["line-strong"];
    pen.lineWidth = (critical ? 2 : 1) / scale;
    for (const line of lines) {
      if (line.edge.critical !== critical || !inside(line.left, line.top, line.right, line.bottom)) continue;
      pen.beginPath();
      let [x, y] = line.points[0];
      pen.moveTo(x, y);
      for (const [nextX, nextY] of line.points.slice(1)) {
        const half = (nextX - x) / 2;
        if (Math.abs(nextY - y) * scale < 2) pen.lineTo(nextX, nextY);
        else pen.bezierCurveTo(x + half, y, nextX - half, nextY, nextX, nextY);
        [x, y] = [nextX, nextY];
      }
      pen.stroke();
    }
  }
  for (const box of leaves) {
    if (!inside(box.x, box.y, box.x + box.w, box.y + box.h)) continue;
    const { node } = box, status = statusOf(node), { tone, icon } = look(status), chosen = drawing.isChosen(box);
    pen.globalAlpha = drawing.isFaded(node) ? 0.2 : 1;
    const edge = chosen ? colour.text : node.tasks.some((task) => task.critical) ? colour.accent : null;
    fill(pen, box, colour[tone], edge, chosen ? 3 : 2, scale, colour.surface, tone === "good" || tone === "idle" ? 0.35 : 0.6);
    if (SIGNS.has(status) && scale * box.h > 7) sign(pen, icon, box, colour.text);
    pen.globalAlpha = 1;
  }
}

function fill(pen, box, inner, edge, wide, scale, under, strength = 1) {
  const before = pen.globalAlpha;
  pen.fillStyle = under;
  pen.fillRect(box.x, box.y, box.w, box.h);
  pen.globalAlpha = before * strength;
  pen.fillStyle = inner;
  pen.fillRect(box.x, box.y, box.w, box.h);
  pen.globalAlpha = before;
  if (!edge) return;
  pen.strokeStyle = edge;
  pen.lineWidth = wide / scale;
  pen.strokeRect(box.x, box.y, box.w, box.h);
}

function sign(pen, name, box, colour) {
  if (!outlines.has(name)) {
    const path = new Path2D();
    for (const [tag, { d, cx, cy, r }] of shapes[name]) {
      if (tag === "path") path.addPath(new Path2D(d));
      else if (tag === "circle") path.addPath(new Path2D(`M${cx - r} ${cy}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`));
    }
    outlines.set(name, path);
  }
  const size = Math.min(box.h - 12, 64) / 24;
  pen.save();
  pen.translate(box.x + box.w / 2 - 12 * size, box.y + box.h / 2 - 12 * size);
  pen.scale(size, size);
  pen.strokeStyle = colour;
  pen.lineWidth = 2.4;
  pen.stroke(outlines.get(name));
  pen.restore();
}

// The page's colours as they are now, light or dark.
let known = null;
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (known = null));
function colours(element) {
  if (known) return known;
  const probe = element.parentElement.appendChild(document.createElement("i"));
  known = Object.fromEntries(NAMES.map((name) => ((probe.style.color = `var(--${name})`), [name, getComputedStyle(probe).color])));
  probe.remove();
  return known;
}
