// One stored run in a file: the views of a run, with data that is in the file itself.

import { html, render } from "./vendor/preact.js";
import { here, parts } from "./router.js";
import { RUN, RunView } from "./views/run.js";

document.documentElement.style.setProperty("--bar", "0px");

const Stored = () => html`<main id="main"><${RunView} ...${parts(RUN, here.value.path)} /></main>`;

render(html`<${Stored} />`, document.getElementById("app"));
