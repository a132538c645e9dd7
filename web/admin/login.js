// The way in.

import { el, put } from "./dom.js";
import { explain } from "./client.js";
import { field } from "./form.js";
import { choices } from "./bar.js";

// login shows the form; entered gets the session.
export function login(root, { words, client, said, entered, redraw }) {
  const user = field(words.user, { required: true, attributes: { name: "user", autocomplete: "username", autocapitalize: "none", spellcheck: "false", maxlength: 64 } });
  const password = field(words.password, { type: "password", required: true, attributes: { name: "password", autocomplete: "current-password", maxlength: 1024 } });
  const alert = el("p", { class: "alert", role: "alert" }, said ?? "");
  const button = el("button", { class: "primary" }, words.logIn);
  let timer = 0;

  // wait keeps the button shut for as long as the server asks for.
  const wait = (until) => {
    const left = Math.ceil((until - Date.now()) / 1000);
    button.disabled = left > 0;
    button.textContent = left > 0 ? words.logInAgainIn(left) : words.logIn;
    if (left > 0) timer = setTimeout(() => wait(until), 1000);
  };

  const submit = async (e) => {
    e.preventDefault();
    alert.textContent = "";
    button.disabled = true;
    try {
      entered(await client.post("login", { user: user.value(), password: password.value() }));
    } catch (problem) {
      button.disabled = false;
      alert.textContent = problem.code === "unauthorized" ? words.wrong : explain(words, problem);
      if (problem.code === "rate_limited") wait(Date.now() + (problem.retryAfter || 5000));
      password.input.value = "";
      password.input.focus();
    }
  };

  put(root, el("main", { class: "login" },
    el("form", { class: "card", onsubmit: submit },
      el("h1", {}, el("img", { src: "/logo.svg", alt: "", width: 40, height: 40 }), " Sluice"),
      user.node, password.node, alert, button),
    el("div", { class: "choices" }, choices(words, redraw))));
  user.input.focus();
  return () => clearTimeout(timer);
}
