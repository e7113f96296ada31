// Typed output laid out: objects as named rows, lists of objects as tables, text as text.

import { html, useState } from "./vendor/preact.js";
import { number } from "./format.js";
import { Button, LongText } from "./ui.js";

const MAX_ROWS = 50, MAX_COLUMNS = 8, MAX_DEPTH = 6;
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
export const title = (name) => name.replaceAll("_", " ").replace(/([a-z])([A-Z])/g, "$1 $2").replace(/^./, (first) => first.toUpperCase());
const simple = (value) => value === null || typeof value !== "object";
// What fits in one line: a few values, or an object of a few with their names.
const listed = (value) => Array.isArray(value) && value.length <= 12 && value.every(simple) && value.join("").length < 120;
const brief = (value) => isObject(value) && Object.keys(value).length <= 3 && Object.values(value).every((one) => simple(one) || listed(one)) && JSON.stringify(value).length < 100;
const inline = (value) => simple(value) || listed(value) || brief(value);
export const empty = (value) => value === null || value === undefined || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

export function Value({ value, depth = 0 }) {
  if (empty(value)) return html`<span class="muted">none</span>`;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return html`<span class="num">${Number.isInteger(value) ? number(value) : `${+value.toPrecision(7)}`}</span>`;
  if (typeof value === "string") return value.length > 400 || value.split("\n").length > 6 ? html`<${LongText} text=${value} lines=${6} mono=${false} />` : html`<span class="text">${value}</span>`;
  if (depth > MAX_DEPTH) return html`<${LongText} text=${JSON.stringify(value, null, 1)} />`;
  if (Array.isArray(value)) return html`<${Items} value=${value} depth=${depth} />`;
  if (depth && brief(value)) return html`<span class="text">${Object.entries(value).map(([name, one], index) => html`${index ? ", " : ""}<span class="muted">${title(name).toLowerCase()}</span> <${Value} value=${one} depth=${depth + 1} />`)}</span>`;
  return html`<dl class="fields">${Object.entries(value).filter(([, one]) => !empty(one)).map(([name, one]) => html`<div key=${name} class=${inline(one) ? "" : "deep"}><dt>${title(name)}</dt><dd><${Value} value=${one} depth=${depth + 1} /></dd></div>`)}</dl>`;
}

function Items({ value, depth }) {
  const [all, setAll] = useState(false);
  const shown = all ? value : value.slice(0, MAX_ROWS);
  const more = value.length > shown.length ? html`<${Button} small quiet icon="chevron-down" onClick=${() => setAll(true)}>${number(value.length - shown.length)} more<//>` : null;
  if (value.every(isObject)) {
    const names = [...new Set(value.flatMap(Object.keys))].filter((name) => value.some((row) => !empty(row[name])));
    const deep = names.some((name) => value.some((row) => !inline(row[name]) && !empty(row[name]) && (isObject(row[name]) || row[name].some(isObject))));
    if (names.length <= MAX_COLUMNS && !deep) return html`<${Rows} names=${names} rows=${shown} depth=${depth} />${more}`;
    return html`<ol class="cards">${shown.map((one, index) => html`<li key=${index}><${Value} value=${one} depth=${depth + 1} /></li>`)}</ol>${more}`;
  }
  if (listed(value)) return html`<span class="text">${value.map((one) => `${one}`).join(", ")}</span>`;
  return html`<ul class="plain">${shown.map((one, index) => html`<li key=${index}><${Value} value=${one} depth=${depth + 1} /></li>`)}</ul>${more}`;
}

function Rows({ names, rows, depth }) {
  const numeric = new Set(names.filter((name) => rows.every((row) => typeof row[name] === "number" || empty(row[name]))));
  const kind = (name) => {
    const longest = Math.max(...rows.map((row) => (simple(row[name]) ? `${row[name] ?? ""}`.length : 99)));
    return numeric.has(name) ? "num" : longest > 24 ? "long" : longest < 16 ? "short" : "";
  };
  const kinds = names.map(kind);
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>
    <thead><tr>${names.map((name) => html`<th key=${name} scope="col" class=${numeric.has(name) ? "num" : ""}>${title(name)}</th>`)}</tr></thead>
    <tbody>${rows.map((row, index) => html`<tr key=${index}>${names.map((name, at) => html`<td key=${name} class=${kinds[at]}>${empty(row[name]) ? "" : html`<${Value} value=${row[name]} depth=${depth + 1} />`}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}
