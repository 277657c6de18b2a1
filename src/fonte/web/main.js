// What stands at which address, who is signed in, and the frame around it.

import { get, onForgotten, remove } from "./api.js";
import { askView } from "./ask.js";
import { button, el, fill, plain, say } from "./dom.js";
import { conversationsView } from "./conversations.js";
import { documentView, documentsView } from "./documents.js";
import { manageView } from "./manage.js";
import { signInView } from "./signin.js";
import { closeSource } from "./source.js";
import { speak, spoken, t } from "./texts.js";

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const tools = document.getElementById("tools");
let session = { signed_in: false, keys: true };

/** What is shown at an address: how it is made, the name of its title, and the place in the navigation. */
function view() {
  const [, first = "", second = ""] = location.pathname.split("/");
  if (!session.signed_in) return { make: () => signInView(start, session), title: "signin.title", at: "" };
  if (first === "documents" && second) {
    return { make: () => documentView(decodeURIComponent(second), session), title: "documents.title", at: "/documents" };
  }
  if (first === "documents") return { make: () => documentsView(session, may), title: "documents.title", at: "/documents" };
  if (first === "manage" && may("admin")) return { make: () => manageView(session, start), title: "manage.title", at: "/manage" };
  if (first === "conversations" && !second) return { make: () => conversationsView(), title: "talks.title", at: "/" };
  const conversation = first === "conversations" ? decodeURIComponent(second) : null;
  return { make: () => askView(conversation), title: "ask.title", at: "/" };
}

const may = (action) => session.signed_in && session.actions.includes(action);

async function route({ moved = true } = {}) {
  closeSource();
  const { make, title, at } = view();
  document.title = `${t(title)} · fonte`;
  frame(at);
  fill(main, await make());
  if (moved) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
    say(t(title));
  }
  main.querySelector("[data-first]")?.focus();
}

/** Go to an address of this page. */
function go(address) {
  history.pushState(null, "", address);
  return route();
}

function frame(at) {
  const places = [["/", "nav.ask"], ["/documents", "nav.documents"], ...(may("admin") ? [["/manage", "nav.manage"]] : [])];
  nav.setAttribute("aria-label", t("nav.label"));
  fill(nav, session.signed_in && places.map(([href, key]) =>
    el("a", { href, "data-view": true, "aria-current": href === at ? "page" : null }, t(key))));
  fill(tools, who(), languages(), theme());
}

function who() {
  if (!session.signed_in) return null;
  if (session.local) return el("span", { class: "who" }, t("who.local"));
  return [
    el("span", { class: "who" }, el("bdi", {}, plain(session.user ?? t("who.nobody")))),
    button(t("who.out"), async () => { await remove("/v1/session"); await start(); }, { class: "quiet" }),
  ];
}

function languages() {
  const other = spoken() === "en" ? "it" : "en";
  return button(other === "it" ? "Italiano" : "English", async () => { await speak(other); await route({ moved: false }); }, {
    class: "quiet", lang: other,
  });
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return button(dark ? "☀" : "☾", () => {
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("fonte-theme", root.dataset.theme); } catch { /* then it holds for this page */ }
    const made = theme();
    tools.lastChild.replaceWith(made);
    made.focus();
  }, { class: "quiet icon", "aria-label": t(dark ? "theme.light" : "theme.dark"), title: t(dark ? "theme.light" : "theme.dark") });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-view]");
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});
addEventListener("popstate", () => route());
onForgotten(() => { if (session.signed_in) start(); });

async function start() {
  try {
    session = await get("/v1/session");
  } catch (error) {
    session = { signed_in: false, keys: true };
    fill(main, el("p", { class: "fault", role: "alert" }, error.message || t("fault.unreachable")));
    return;
  }
  await route({ moved: false });
}

await speak();
await start();
