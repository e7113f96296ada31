// Typed output laid out: objects as named rows, lists of objects as tables, text as text.

import { html, useState } from "./vendor/preact.js";
import { number } from "./format.js";
import { Button, LongText } from "./ui.js";

const MAX_ROWS = 50, MAX_COLUMNS = 8, MAX_DEPTH = 6;
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
export const title = (name) => name.replaceAll("_", " ").replace(/([a-z])([A-Z])/g, "$1 $2").replace(/^./, (first) => first.toUpperCase());
const simple = (value) => value === null || typeof value !== "object";
export const empty = (value) => value === null || value === undefined || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

export function Value({ value, depth = 0 }) {
  if (empty(value)) return html`<span class="faint">none</span>`;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return html`<span class="num">${Number.isInteger(value) ? number(value) : `${+value.toPrecision(7)}`}</span>`;
  if (typeof value === "string") return value.length > 400 || value.split("\n").length > 6 ? html`<${LongText} text=${value} lines=${6} mono=${false} />` : html`<span class="text">${value}</span>`;
  if (depth > MAX_DEPTH) return html`<${LongText} text=${JSON.stringify(value, null, 1)} />`;
  if (Array.isArray(value)) return html`<${Items} value=${value} depth=${depth} />`;
  return html`<dl class="fields">${Object.entries(value).map(([name, one]) => html`<div key=${name} class=${simple(one) ? "" : "deep"}><dt>${title(name)}</dt><dd><${Value} value=${one} depth=${depth + 1} /></dd></div>`)}</dl>`;
}

function Items({ value, depth }) {
  const [all, setAll] = useState(false);
  const shown = all ? value : value.slice(0, MAX_ROWS);
  const more = value.length > shown.length ? html`<${Button} small quiet icon="chevron-down" onClick=${() => setAll(true)}>${number(value.length - shown.length)} more<//>` : null;
  if (value.every(isObject)) {
    const names = [...new Set(value.flatMap(Object.keys))].filter((name) => value.some((row) => !empty(row[name])));
    const deep = names.some((name) => value.some((row) => isObject(row[name]) || (Array.isArray(row[name]) && row[name].some(isObject))));
    if (names.length <= MAX_COLUMNS && !deep) return html`<${Rows} names=${names} rows=${shown} depth=${depth} />${more}`;
    return html`<ol class="cards">${shown.map((one, index) => html`<li key=${index}><${Value} value=${one} depth=${depth + 1} /></li>`)}</ol>${more}`;
  }
  if (value.every(simple) && value.join("").length < 120 && value.length <= 12) return html`<span class="text">${value.map((one) => `${one}`).join(", ")}</span>`;
  return html`<ul class="plain">${shown.map((one, index) => html`<li key=${index}><${Value} value=${one} depth=${depth + 1} /></li>`)}</ul>${more}`;
}

function Rows({ names, rows, depth }) {
  const numeric = new Set(names.filter((name) => rows.every((row) => typeof row[name] === "number" || empty(row[name]))));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
    <thead><tr>${names.map((name) => html`<th key=${name} scope="col" class=${numeric.has(name) ? "num" : ""}>${title(name)}</th>`)}</tr></thead>
    <tbody>${rows.map((row, index) => html`<tr key=${index}>${names.map((name) => html`<td key=${name} class=${numeric.has(name) ? "num" : ""}>${empty(row[name]) ? "" : html`<${Value} value=${row[name]} depth=${depth + 1} />`}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}
