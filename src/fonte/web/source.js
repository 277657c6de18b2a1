// The source beside the answer: the page as a picture with the passage marked, or the text with its range marked.

import { get, part, picture } from "./api.js";
import { button, el, fill, name, plain } from "./dom.js";
import { fault, faultWords } from "./faults.js";
import { SHEETS, table } from "./table.js";
import { count, labelled, t } from "./texts.js";

const AROUND = 2500;
const DRAWN = /^(application\/pdf|image\/)/;
const aside = document.getElementById("source");
const stage = document.getElementById("stage");
const narrow = matchMedia("(max-width: 62rem)");
let opener = null;

/** Open a place beside what is shown: `document_id`, `document_name`, `from`, `to`, `page`, `label`, `url`. */
export function openSource(place, from) {
  opener?.removeAttribute("aria-expanded");
  opener = from ?? null;
  opener?.setAttribute("aria-expanded", "true");
  const { node, ready } = viewer(place, {
    close: button("✕", closeSource, { class: "quiet icon close", "aria-label": t("source.close"), title: t("source.close") }),
  });
  aside.setAttribute("aria-label", t("source.label"));
  fill(aside, node);
  aside.hidden = false;
  stage.classList.add("two");
  cover();
  aside.querySelector("h2").focus();
  return ready;
}

export function closeSource() {
  if (aside.hidden) return;
  aside.hidden = true;
  fill(aside);
  stage.classList.remove("two");
  cover();
  opener?.removeAttribute("aria-expanded");
  if (opener?.isConnected) opener.focus();
  opener = null;
}

/** On narrow screens the source lies over everything else, which then cannot be reached. */
function cover() {
  const covered = narrow.matches && !aside.hidden;
  document.getElementById("main").inert = covered;
  document.querySelector("header.top").inert = covered;
}
narrow.addEventListener("change", cover);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !aside.hidden) closeSource();
});

/** A place of a document: `node` at once, `ready` once it is there. */
export function viewer(place, { close = null, level = "h2" } = {}) {
  const body = el("div", { class: "sheet", tabindex: "0", role: "region", "aria-label": t("source.content") });
  const choices = el("div", { class: "choices", role: "group", "aria-label": t("source.as") });
  const placed = el("p", { class: "muted" }, where(place));
  const head = el("header", {},
    el("div", { class: "heading" }, el(level, { tabindex: "-1" }, name(place.document_name)), close),
    placed,
    el("div", { class: "row" }, choices, links(place, close !== null)));
  const node = el("section", { class: "viewer" }, head, body);
  return { node, ready: load(place, body, choices, placed) };
}

function where(place) {
  const label = place.label?.startsWith(`${place.document_name}, `) ? place.label.slice(place.document_name.length + 2) : "";
  return label ? name(labelled(`, ${label}`).slice(2)) : place.to ? t("source.range", { from: count(place.from), to: count(place.to) }) : t("source.whole");
}

/** A place in words, where its document knows more of it than characters. */
function located(one) {
  const clock = (seconds) => new Date(1000 * seconds).toISOString().slice(11, 19);
  if (one.page) return `${t("place.p.")} ${one.page_label ?? one.page}`;
  if (one.sheet || one.range) return plain([one.sheet, one.range].filter(Boolean).join("!"));
  if (one.slide) return `${t("place.slide")} ${one.slide}`;
  if (one.time) return one.time.map(clock).join("–");
  if (one.lines) return `${t("place.lines")} ${one.lines.join("–")}`;
  return null;
}

function links(place, beside) {
  const range = place.to ? `?from=${place.from}&to=${place.to}${place.page ? `&page=${place.page}` : ""}` : "";
  const original = /^https?:\/\//.test(place.source_uri ?? "") ? place.source_uri : null;
  return [
    beside ? el("a", { href: `/documents/${part(place.document_id)}${range}`, "data-view": true }, t("source.alone")) : null,
    original ? el("a", { href: original, target: "_blank", rel: "noopener noreferrer" }, t("source.original")) : null,
  ];
}

async function load(place, body, choices, placed) {
  const path = `/v1/documents/${part(place.document_id)}`;
  fill(body, el("p", { class: "muted waiting" }, t("waiting")));
  let known;
  try {
    known = await get(`${path}/text?from=${place.from ?? 0}&to=${place.to ?? 0}`);
  } catch (error) {
    fill(body, fault(error));
    return;
  }
  // Of a sentence in a transcript its own moment, where the label has that of the whole passage.
  if (place.to && (!place.label || known.locator.time)) fill(placed, located(known.locator) ?? where(place));
  const page = known.to > known.from ? known.locator.page ?? 1 : place.page ?? 1;
  const at = { path, page, pages: known.pages ?? 1, total: known.characters, from: known.from, to: known.to, name: place.document_name };
  const ways = [["text", () => text(at, body)]];
  if (SHEETS.test(known.media_type)) ways.unshift(["table", () => table(at, body).catch(() => choose("text"))]);
  if (DRAWN.test(known.media_type)) ways.unshift(["page", () => drawn(at, body, () => choose("text"))]);
  const buttons = new Map(ways.map(([way]) => [way, button(t(`source.${way}`), () => choose(way))]));
  const choose = (way) => {
    for (const [one, made] of buttons) made.setAttribute("aria-pressed", String(one === way));
    return ways.find(([one]) => one === way)[1]();
  };
  if (ways.length > 1) fill(choices, ...buttons.values());
  await choose(ways[0][0]);
}

async function drawn(at, body, asText) {
  const marks = at.to > at.from ? `?from=${at.from}&to=${at.to}` : "";
  const turn = (by) => { at.page += by; return drawn(at, body, asText); };
  const steps = el("div", { class: "row steps" },
    button("‹", () => turn(-1), { "aria-label": t("source.before"), disabled: at.page <= 1 }),
    el("span", {}, t("source.page_of", { page: at.page, pages: at.pages })),
    button("›", () => turn(1), { "aria-label": t("source.after"), disabled: at.page >= at.pages }));
  const frame = el("div", { class: "paper", "aria-busy": "true" });
  fill(body, at.pages > 1 ? steps : null, frame);
  const asked = at.page;
  try {
    const { address, mark } = await picture(`${at.path}/pages/${at.page}.png${marks}`);
    if (asked !== at.page || !frame.isConnected) return;
    const image = el("img", {
      src: address,
      alt: t(mark === null ? "source.picture" : "source.picture_marked", { page: at.page, name: plain(at.name) }),
    });
    await image.decode();
    URL.revokeObjectURL(address);
    frame.removeAttribute("aria-busy");
    fill(frame, image);
    if (mark !== null) body.scrollTop = frame.offsetTop + mark * image.offsetHeight - body.clientHeight / 3;
  } catch (error) {
    if (!frame.isConnected) return;
    await asText();
    body.prepend(el("p", { class: "note" }, t("source.no_picture"), " ", faultWords(error)));
  }
}

async function text(at, body) {
  const first = Math.max(0, at.from - AROUND);
  const last = Math.min(at.total, Math.max(at.to, at.from + AROUND) + AROUND);
  const shown = el("div", { class: "words", dir: "auto" });
  const more = (key, from, to) => {
    const made = button(t(key), async () => {
      const piece = await piecewise(at.path, from, to);
      if (from < at.from) { made.nextSibling.prepend(piece); made.remove(); } else { shown.append(piece); made.remove(); }
    }, { class: "further" });
    return made;
  };
  const told = await piecewise(at.path, first, last);
  const points = Array.from(told);
  const mark = at.to > at.from ? el("mark", {}, points.slice(at.from - first, at.to - first).join("")) : null;
  fill(shown, points.slice(0, at.from - first).join(""), mark, points.slice(at.to - first).join(""));
  fill(body,
    first > 0 ? more("source.earlier", 0, first) : null,
    shown,
    last < at.total ? more("source.later", last, at.total) : null);
  if (mark) body.scrollTop = mark.offsetTop - body.clientHeight / 3;
}

async function piecewise(path, from, to) {
  return (await get(`${path}/text?from=${from}&to=${to}`)).text;
}
