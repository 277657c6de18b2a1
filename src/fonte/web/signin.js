// Signing in with a key. It is sent once; the browser keeps a session that scripts cannot read.

import { post } from "./api.js";
import { el, fill } from "./dom.js";
import { fault } from "./faults.js";
import { t } from "./texts.js";

export function signInView(entered, session) {
  const key = el("input", { id: "key", type: "password", name: "key", autocomplete: "current-password", required: true, spellcheck: "false", "data-first": true });
  const told = el("div", { role: "alert" });
  const form = el("form", {
    class: "card narrow",
    onsubmit: async (event) => {
      event.preventDefault();
      fill(told);
      try {
        await post("/v1/session", { key: key.value.trim() });
        key.value = "";
        await entered();
      } catch (error) {
        fill(told, error.status === 401 ? el("p", { class: "fault" }, t("signin.wrong")) : fault(error));
        key.select();
      }
    },
  },
  el("h1", {}, t("signin.title")),
  el("p", { class: "muted" }, t("signin.lead")),
  el("input", { type: "text", autocomplete: "username", value: "fonte", hidden: true, readonly: true }),
  el("label", { for: "key" }, t("signin.key")), key,
  told,
  el("button", { class: "main" }, t("signin.enter")),
  session.provider ? el("p", {}, el("a", { href: "/v1/session/provider" }, t("signin.provider"))) : null);
  // An identity provider that did not vouch leads back here.
  if (new URLSearchParams(location.search).get("signin") === "failed") fill(told, el("p", { class: "fault" }, t("signin.failed")));
  return form;
}
