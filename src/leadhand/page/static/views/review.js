// The findings of a review: filters in the URL, the code before and after, and each as a comment.

import { html } from "../vendor/preact.js";
import { counted } from "../format.js";
import { changed, here } from "../router.js";
import { classes, Copy, Empty, Icon, Note } from "../ui.js";

const SEVERITIES = { critical: ["octagon-x", "bad"], warning: ["triangle-alert", "wait"], info: ["info", "idle"] };
export const isReview = (output) => Array.isArray(output?.findings) && Array.isArray(output?.look);

export function Review({ output }) {
  const { severity = "", lens = "", q = "" } = here.value.query, words = q.toLowerCase();
  const fits = (one) => (!severity || one.severity === severity) && (!lens || one.lenses.includes(lens)) && (!words || `${one.path} ${one.message} ${one.rule}`.toLowerCase().includes(words));
  const every = [...output.findings, ...output.look], count = (key, value) => every.filter((one) => (key === "lens" ? one.lenses.includes(value) : one[key] === value)).length;
  const lenses = [...new Set(every.flatMap((one) => one.lenses))].sort();
  const chips = (key, chosen, values) => values.map((value) => html`<a key=${value} class=${classes("chip", chosen === value && "on")} aria-current=${chosen === value ? "true" : undefined} href=${changed({ [key]: chosen === value ? "" : value })}>${value} <span class="small muted">${count(key, value)}</span></a>`);
  const findings = output.findings.filter(fits), look = output.look.filter(fits), unseen = notLookedAt(output.not_assessed);
  return html`<div class="review">
    ${unseen.length ? html`<${Note} tone="wait" icon="eye"><b>Not looked at:</b> <ul class="plain">${unseen.slice(0, 20).map((one, index) => html`<li key=${index}>${one.path ? html`<code>${one.path}</code>: ` : null}${one.why} <span class="muted">(${one.lenses.join(", ")})</span></li>`)}</ul>${unseen.length > 20 ? `and ${unseen.length - 20} more` : ""}<//>` : null}
    ${every.length > 1 ? html`<nav class="row wrap chips" aria-label="Filters">${chips("severity", severity, Object.keys(SEVERITIES).filter((one) => count("severity", one)))}<span class="space"></span>${chips("lens", lens, lenses)}</nav>` : null}
    ${findings.map((one) => html`<${Finding} key=${one.id} one=${one} code=${output.code?.[one.id]} />`)}
    ${look.length ? html`<h2>Needs a look</h2><p class="small muted">Too uncertain to be a finding: check what each asks.</p>${look.map((one) => html`<${Finding} key=${one.id} one=${one} code=${output.code?.[one.id]} />`)}` : null}
    ${every.length && !findings.length && !look.length ? html`<${Note} icon="filter">No finding fits these filters.<//>` : null}
    ${every.length ? null : html`<${Empty} icon="scan" title="No finding at or above the threshold">${output.suppressed.length ? `${counted(output.suppressed.length, "finding")} below it. ` : ""}What was looked at is in the answer.<//>`}
  </div>`;
}

// The same reason of several lenses is one line.
function notLookedAt(notes) {
  const found = new Map();
  for (const { path, why, lens, idle } of notes) {
    const key = `${path ?? ""} ${why}`;
    if (!idle) found.set(key, { path, why, lenses: [...(found.get(key)?.lenses ?? []), lens] });
  }
  return [...found.values()];
}

function Finding({ one, code }) {
  const [icon, tone] = SEVERITIES[one.severity];
  return html`<article class="card finding" id=${one.id} aria-label=${one.message}>
    <header class="row wrap"><span class=${`status tone-${tone}`}><${Icon} name=${icon} />${one.severity}</span><code class="grow">${one.path}:${one.line}</code><span class="small muted">${one.rule}${one.confidence === null || one.confidence === undefined ? "" : ` · ${one.basis === "fact" ? "a fact" : `confidence ${one.confidence}`}`}</span><${Copy} text=${() => comment(one, code)} label="Copy as a comment" /></header>
    <p class="text">${quoted(one.message)}</p>
    ${code ? html`<${Diff} code=${code} />` : one.evidence ? html`<pre class="diff">${one.evidence}</pre>` : null}
    ${one.suggestion ? html`<p class="text"><b>What to do:</b> ${quoted(one.suggestion)}</p>` : null}
    ${one.places?.length ? html`<p class="small muted">Also at ${one.places.map((place) => `${place.path}:${place.line}`).join(", ")}.</p>` : null}
  </article>`;
}

// What stands between backticks is code.
const quoted = (text) => text.split("`").map((part, index) => (index % 2 ? html`<code key=${index}>${part}</code>` : part));

// A line has its sign, number and text: "+   12 |     total += row".
function Diff({ code }) {
  const lines = code.split("\n").map((line) => /^([+-]?)\s*(\d+) \| ?(.*)$/s.exec(line) ?? [line, "", "", line]);
  return html`<pre class="diff" tabindex="0" aria-label="The code before and after">${lines.map(([, sign, number, text], index) => html`<span key=${index} class=${sign === "+" ? "added" : sign === "-" ? "removed" : ""}><i>${number}</i><b>${sign || " "}</b>${text}${"\n"}</span>`)}</pre>`;
}

function comment(one, code) {
  const diff = code ? `\n\n\`\`\`diff\n${code.split("\n").map((line) => line.replace(/^([+-]?)\s*\d+ \| ?/, (_, sign) => sign || " ")).join("\n")}\n\`\`\`` : "";
  return `**${one.severity}** \`${one.path}:${one.line}\`: ${one.message}${one.suggestion ? `\n\n${one.suggestion}` : ""}${diff}\n`;
}
