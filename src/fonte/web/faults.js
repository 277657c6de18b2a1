// Errors in words: ours where there are any for the code, else the server's.

import { el, plain } from "./dom.js";
import { t, told } from "./texts.js";

export function faultWords(error) {
  return told(`fault.${error.code}`, null) ?? (error.message || t("fault.unreachable"));
}

export function fault(error) {
  const own = told(`fault.${error.code}`, null);
  return el("div", { class: "fault" },
    el("p", {}, own ?? (plain(error.message) || t("fault.unreachable"))),
    !own && error.hint ? el("p", { class: "muted" }, plain(error.hint)) : null);
}
