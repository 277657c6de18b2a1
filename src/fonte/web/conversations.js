// Conversations of whoever is signed in: gone on with, or taken away.

import { get, part, remove } from "./api.js";
import { button, el, fill, plain, say } from "./dom.js";
import { fault } from "./faults.js";
import { counted, day, t } from "./texts.js";

const MOST = 100;

export async function conversationsView() {
  const list = el("ul", { class: "talks" });
  const more = el("div", { class: "again" });
  const none = el("p", { class: "muted", hidden: true }, t("talks.none"));
  let known = 0;
  const further = async () => {
    const found = (await get(`/v1/conversations?limit=${MOST}&offset=${known}`)).conversations;
    known += found.length;
    list.append(...found.map((one) => row(one, gone)));
    none.hidden = known > 0;
    fill(more, found.length === MOST ? button(t("talks.further"), further) : null);
  };
  const gone = () => {
    known -= 1;
    none.hidden = known > 0;
  };
  const view = el("div", { class: "wide" }, el("h1", {}, t("talks.title")), none, list, more,
    el("p", {}, el("a", { href: "/", "data-view": true }, t("ask.anew"))));
  try {
    await further();
  } catch (error) {
    fill(more, fault(error));
  }
  return view;
}

function row(one, gone) {
  const place = el("div", { class: "sure" });
  const node = el("li", {},
    el("a", { href: `/conversations/${part(one.conversation_id)}`, "data-view": true, dir: "auto" }, plain(one.question)),
    el("span", { class: "muted" }, `${day(one.last_at)} · ${counted("talks.turns", one.turns)}`), place);
  const ask = () => fill(place, button(t("talks.delete"), sure, { class: "quiet", "aria-label": `${t("talks.delete")}: ${plain(one.question)}` }));
  const sure = () => {
    const yes = button(t("talks.really"), async () => {
      try {
        await remove(`/v1/conversations/${part(one.conversation_id)}`);
      } catch (error) {
        fill(place, fault(error));
        return;
      }
      const next = node.nextElementSibling ?? node.previousElementSibling;
      node.remove();
      gone();
      say(t("talks.deleted"));
      (next?.querySelector("a") ?? document.getElementById("main")).focus();
    }, { class: "danger" });
    fill(place, el("span", {}, t("talks.sure")), yes, button(t("documents.keep"), () => { ask(); place.querySelector("button").focus(); }, { class: "quiet" }));
    yes.focus();
  };
  ask();
  return node;
}
