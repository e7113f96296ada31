// Start a run: a team, a request, files.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { part, post, useData, useSending } from "../api.js";
import { bytes, counted } from "../format.js";
import { changed, go, here, url } from "../router.js";
import { Button, classes, Icon, Loading, Note, Trouble } from "../ui.js";

export function Start() {
  const { data: teams, error: trouble, reload } = useData("/teams"), { query } = here.value;
  const [request, setRequest] = useState(query.request ?? ""), [files, setFiles] = useState([]), [over, setOver] = useState(false);
  const [options, setOptions] = useState({ plan: false, minutes: "", usd: "", keep: true }), { busy, error, send } = useSending();
  const picker = useRef(null);
  useEffect(() => { document.title = "Start a run · leadhand"; }, []);
  if (!teams) return trouble ? html`<${Trouble} error=${trouble} retry=${reload} />` : html`<${Loading} what="the teams" />`;
  const team = teams.find((one) => one.name === query.team) ?? (teams.length === 1 ? teams[0] : null);
  const add = (list) => setFiles((old) => [...old, ...[...list].filter((file) => !old.some((one) => one.name === file.name && one.size === file.size))]);

  const start = (event) => {
    event?.preventDefault();
    if (!team || !request.trim()) return;
    const run = { team: team.name, request: request.trim() };
    if (options.plan) run.approve = ["plan", ...team.approve];
    if (options.minutes) run.deadline_s = options.minutes * 60;
    if (options.usd) run.budget = { usd: Number(options.usd) };
    if (!options.keep) run.store = false;
    let body = run;
    if (files.length) {
      body = new FormData();
      body.append("run", JSON.stringify(run));
      for (const file of files) body.append("files", file, file.name);
    }
    send(async () => go(url(`/runs/${part((await post("/runs", body)).run_id)}`)));
  };
  const drag = (event, is) => (event.preventDefault(), setOver(is));

  return html`<form class="page start" onSubmit=${start}>
    <header><h1>Start a run</h1></header>
    <fieldset class="teams"><legend>Team</legend>${teams.map((one) => html`<label key=${one.name} class=${classes("pick", one === team && "picked")}>
      <input class="sr" type="radio" name="team" value=${one.name} checked=${one === team} onChange=${() => go(changed({ team: one.name }), { replace: true })} /><b>${one.name}</b><span class="small muted clip2">${one.description}</span></label>`)}</fieldset>
    ${team ? html`<p class="small muted">${team.needs ? html`<b>Needs</b> ${team.needs}. ` : null}${team.gives ? html`<b>Gives</b> ${team.gives}.` : null}</p>` : null}
    <div class="form"><label for="request">Request</label>
      <textarea id="request" rows="4" required value=${request} placeholder="In your own words" onInput=${(event) => setRequest(event.target.value)} onKeyDown=${(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && start()}></textarea></div>
    <div class=${classes("drop", over && "over")} onDragOver=${(event) => drag(event, true)} onDragLeave=${(event) => drag(event, false)} onDrop=${(event) => (drag(event, false), add(event.dataTransfer.files))}>
      <p><${Icon} name="upload" /> Drop files here, or <button type="button" class="linklike" onClick=${() => picker.current.click()}>choose them</button></p>
      <input ref=${picker} type="file" multiple hidden aria-label="Files" onChange=${(event) => (add(event.target.files), (event.target.value = ""))} />
      ${files.length ? html`<ul class="files">${files.map((file) => html`<li key=${file.name} class="row"><${Icon} name="file" /><span class="grow clip">${file.name}</span><span class="small muted">${bytes(file.size)}</span>
        <${Button} small quiet icon="x" title=${`Leave out ${file.name}`} onClick=${() => setFiles((old) => old.filter((one) => one !== file))} /></li>`)}</ul>` : null}
    </div>
    <details class="options"><summary>More</summary><div class="form">
      <label class="check"><input type="checkbox" checked=${options.plan || team?.approve.includes("plan")} disabled=${team?.approve.includes("plan")} onChange=${(event) => setOptions({ ...options, plan: event.target.checked })} /> Show me the plan before anything is done</label>
      <label class="check"><input type="checkbox" checked=${!options.keep} onChange=${(event) => setOptions({ ...options, keep: !event.target.checked })} /> Do not keep this run after its answer was read</label>
      <div class="row wrap"><label>Deadline in minutes <input type="number" min="0.1" step="any" placeholder="10" value=${options.minutes} onInput=${(event) => setOptions({ ...options, minutes: event.target.value })} /></label>
        <label>Budget in dollars <input type="number" min="0.001" step="any" placeholder="none" value=${options.usd} onInput=${(event) => setOptions({ ...options, usd: event.target.value })} /></label></div></div></details>
    ${team?.confidential ? html`<${Note} icon="shield-check">What you hand in stays on this machine unless the service was started with a hosted model for it.<//>` : null}
    ${error ? html`<${Trouble} small error=${error} />` : null}
    <p class="row buttons"><span class="small muted grow">${team ? engine(team) : "Choose a team first."}${files.length ? ` ${counted(files.length, "file")}.` : ""}</span><${Button} main icon="play" type="submit" busy=${busy} disabled=${!team || !request.trim()}>Start<//></p>
  </form>`;
}

export const engine = (team) => (team.model ? `Uses ${team.model}.` : "Works without a model.");
