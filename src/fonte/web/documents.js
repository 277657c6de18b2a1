// Documents: what state each is in and why, what was lost of it, and what may be done about it.

import { get, part, post, remove } from "./api.js";
import { button, el, fill, name, plain, say } from "./dom.js";
import { fault } from "./faults.js";
import { viewer } from "./source.js";
import { count, t, told } from "./texts.js";
import { follow, progressLine, uploading } from "./uploads.js";

const MOST_ROWS = 200;
const SIGNS = { ready: "✓", partial: "◐", pending: "…", empty: "∅", needs_ocr: "◌", failed: "✕", deleted: "–" };

export async function documentsView(session, may) {
  const rows = el("tbody");
  const summary = el("p", { class: "muted", role: "status" });
  const search = el("input", { type: "search", id: "find", autocomplete: "off", placeholder: t("documents.find") });
  const state = el("select", { id: "state" });
  const more = el("div", { class: "again" });
  const table = el("table", { class: "documents" },
    el("caption", { class: "unseen" }, t("documents.title")),
    el("thead", {}, el("tr", {}, ...["name", "state", "pages", "language", "chunks", "more"].map((one) =>
      el("th", { scope: "col", class: one }, el("span", { class: one === "more" ? "unseen" : null }, t(`documents.${one}`)))))), rows);
  const view = el("div", { class: "wide" },
    el("h1", {}, t("documents.title")),
    may("write") ? uploading(session, () => reload()) : null,
    el("div", { class: "row filters" },
      el("div", { class: "field grows" }, el("label", { for: "find" }, t("documents.search")), search),
      el("div", { class: "field" }, el("label", { for: "state" }, t("documents.state")), state)),
    summary, table, more);

  let known = [];
  let shown = MOST_ROWS;
  const reload = async () => {
    try {
      known = (await get("/v1/documents")).documents;
    } catch (error) {
      fill(summary, fault(error));
      return;
    }
    const states = [...new Set(known.map((one) => one.state))].sort();
    const kept = state.value;
    fill(state, el("option", { value: "" }, t("limits.any")), ...states.map((one) => el("option", { value: one }, t(`state.${one}`))));
    state.value = states.includes(kept) ? kept : "";
    draw();
  };
  const draw = () => {
    const words = search.value.trim().toLocaleLowerCase();
    const found = known.filter((one) => (!state.value || one.state === state.value)
      && (!words || `${one.document_name} ${one.reason ?? ""}`.toLocaleLowerCase().includes(words)));
    fill(rows, ...found.slice(0, shown).map((one) => row(one, may("write"), reload)));
    fill(summary, known.length ? t("documents.count", { shown: count(found.length), all: count(known.length) }) : t("documents.none"));
    table.hidden = !found.length;
    fill(more, found.length > shown ? button(t("documents.further"), () => { shown += MOST_ROWS; draw(); }) : null);
  };
  search.addEventListener("input", draw);
  state.addEventListener("input", draw);
  await reload();
  return view;
}

function badge(state) {
  return el("span", { class: "badge", data: { state } }, el("span", { "aria-hidden": "true" }, `${SIGNS[state] ?? "·"} `), t(`state.${state}`));
}

function row(one, writes, reload) {
  const cell = (key, ...children) => el("td", { class: key, data: { label: t(`documents.${key}`) } }, ...children);
  const readable = one.state === "ready" || one.state === "partial";
  const named = readable
    ? el("a", { href: `/documents/${part(one.document_id)}`, "data-view": true }, name(one.document_name))
    : name(one.document_name);
  const below = el("tr", { class: "below-row", hidden: true });
  const more = button(t("documents.details"), () => {
    below.hidden = !below.hidden;
    more.setAttribute("aria-expanded", String(!below.hidden));
    if (!below.hidden && !below.childElementCount) below.append(el("td", { colspan: "6" }, particulars(one, writes, reload)));
  }, { class: "quiet", "aria-expanded": "false", "aria-label": `${t("documents.details")}: ${plain(one.document_name)}` });
  return [el("tr", {},
    cell("name", named, one.reason ? el("p", { class: "reason" }, plain(one.reason)) : null),
    cell("state", badge(one.state)),
    cell("pages", one.pages ? count(one.pages) : "–"),
    cell("language", told(`language.${one.language}`, one.language)),
    cell("chunks", count(one.chunks)),
    cell("more", more)), below];
}

function particulars(one, writes, reload) {
  return el("div", { class: "particulars" },
    el("dl", {},
      pair("documents.id", one.document_id),
      pair("documents.source", one.source_uri),
      pair("documents.roles", one.roles.join(", ") || t("documents.nobody")),
      one.duplicate_of ? pair("documents.copy", one.duplicate_of) : null,
      one.outlier?.length ? pair("documents.odd", one.outlier.join("; ")) : null),
    one.ledger ? ledger(one.ledger) : null,
    writes && one.state !== "deleted" ? el("div", { class: "row" }, one.state === "ready" ? null : retrying(one, reload), deleting(one, reload)) : null);
}

function pair(key, value) {
  return [el("dt", {}, t(key)), el("dd", {}, name(value))];
}

/** What was counted in the source, and what of it arrived at each stage. */
function ledger(one) {
  const kinds = ["characters", "words", "numbers", "rows", "pages"];
  const stages = ["source", "parsed", "canonical", "chunks", "index"].filter((stage) => one[stage]);
  const counted = kinds.filter((kind) => stages.some((stage) => one[stage][kind]));
  return el("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": t("ledger.title") },
    el("h3", {}, t("ledger.title"), " ", el("span", { class: "muted" }, t(one.balanced ? "ledger.balanced" : "ledger.unbalanced"))),
    el("table", { class: "ledger" },
      el("thead", {}, el("tr", {}, el("td"), ...counted.map((kind) => el("th", { scope: "col" }, t(`ledger.${kind}`))))),
      el("tbody", {}, ...stages.map((stage) => el("tr", {}, el("th", { scope: "row" }, t(`ledger.${stage}`)),
        ...counted.map((kind) => el("td", {}, one[stage][kind] === null ? "–" : count(one[stage][kind]))))))),
    one.losses.length
      ? el("ul", { class: "losses" }, ...one.losses.map((loss) => el("li", {}, plain(loss.message))))
      : el("p", { class: "muted" }, t("ledger.nothing")));
}

/** Read it again, and tell how far that is. */
function retrying(one, reload) {
  const place = el("div");
  fill(place, button(t("documents.retry"), async () => {
    const line = progressLine(plain(one.document_name));
    fill(place, el("ul", { class: "going" }, line.node));
    try {
      await follow((await post(`/v1/documents/${part(one.document_id)}/retry`)).job, line);
      await reload();
    } catch (error) {
      line.failed(error);
    }
  }));
  return place;
}

/** Two steps, for there is no way back but a sync. */
function deleting(one, reload) {
  const place = el("div", { class: "sure" });
  const ask = () => fill(place, button(t("documents.delete"), sure, { class: "quiet" }));
  const sure = () => {
    const yes = button(t("documents.really"), async () => {
      try {
        await remove(`/v1/documents/${part(one.document_id)}`);
        say(t("documents.deleted"));
        await reload();
      } catch (error) {
        fill(place, fault(error));
      }
    }, { class: "danger" });
    fill(place, el("span", {}, t("documents.sure")), yes, button(t("documents.keep"), ask, { class: "quiet" }));
    yes.focus();
  };
  ask();
  return place;
}

/** One document by itself, at the range that the address names. */
export async function documentView(identity) {
  const asked = new URLSearchParams(location.search);
  const number = (key) => (/^\d{1,9}$/.test(asked.get(key) ?? "") ? Number(asked.get(key)) : undefined);
  let known;
  try {
    known = await get(`/v1/documents/${part(identity)}`);
  } catch (error) {
    return el("div", { class: "wide" }, el("h1", {}, t("documents.absent")), fault(error), back());
  }
  const place = {
    document_id: known.document_id, document_name: known.document_name, source_uri: known.source_uri,
    from: number("from"), to: number("to"), page: number("page"),
  };
  const { node, ready } = viewer(place, { level: "h1" });
  ready.catch(() => {});
  return el("div", { class: "wide alone" }, back(), node);
}

function back() {
  return el("p", {}, el("a", { href: "/documents", "data-view": true }, t("documents.back")));
}
