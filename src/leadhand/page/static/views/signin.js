// Without a session: the link of the terminal, or a token.

import { html, useState } from "../vendor/preact.js";
import { signIn } from "../api.js";
import { Button, Trouble } from "../ui.js";

export function SignIn() {
  const [token, setToken] = useState(""), [error, setError] = useState(null);
  const send = async (event) => {
    event.preventDefault();
    try {
      await signIn({ token: token.trim() });
    } catch (problem) {
      setError({ title: "", message: problem.status === 401 ? "The service does not know this token." : problem.message });
    }
  };
  return html`<main class="signin"><h1>Sign in to leadhand</h1>
    <p>Open the link that <code>leadhand ui</code> or <code>leadhand serve</code> prints at the terminal. It works once and signs this browser in.</p>
    <form onSubmit=${send}><label for="token">Or a token</label>
      <input id="token" type="password" autocomplete="current-password" required value=${token} onInput=${(event) => setToken(event.target.value)} />
      ${error ? html`<${Trouble} small error=${error} />` : null}
      <p><${Button} main type="submit" icon="key-round">Sign in<//></p></form></main>`;
}
