// An answer as people read it: sentences with what supports them, citations, what is missing; or why there is none.

import { post } from "./api.js";
import { button, el, fill, name, plain } from "./dom.js";
import { faultWords } from "./faults.js";
import { openSource } from "./source.js";
import { count, counted, day, labelled, region, t, told } from "./texts.js";

const MARKER = /\[(\d{1,4})\]/g;
const BEFORE = 60;
const SIGNS = { supported: "✓", partial: "◐", unsupported: "✕", not_checked: "–" };

/**
 * Text whose markers are buttons, where their citations are known. A marker of a sentence that stands in the passage
 * word for word leads to the sentence there, else to the passage.
 */
export function withMarkers(text, citations, sentence = "") {
  const made = [];
  let at = 0;
  for (const found of text.matchAll(MARKER)) {
    const citation = citations.get(Number(found[1]));
    if (!citation) continue;
    made.push(text.slice(at, found.index), marker(citation, sentence));
    at = found.index + found[0].length;
  }
  return [...made, text.slice(at)];
}

function marker(citation, sentence) {
  const label = labelled(plain(citation.label));
  return button(String(citation.index), (event) => openSource(placeOf(citation, sentence), event.currentTarget), {
    class: "cite", "aria-label": t("answer.open", { index: citation.index, label }), title: label,
  });
}

const bare = (sentence) => sentence.replace(/\s*\[\d{1,4}\]/g, "").trim();

/** Where a citation or a passage leads; `sentence`: to where it stands in it, if it does. Offsets count code points. */
function placeOf(one, sentence = "") {
  let { from, to, page } = one.locator;
  const at = sentence && one.quote ? one.quote.indexOf(sentence) : -1;
  if (at >= 0) {
    from += [...one.quote.slice(0, at)].length;
    to = from + [...sentence].length;
  }
  return { document_id: one.document_id, document_name: one.document_name, source_uri: one.source_uri, label: one.label, from, to, page };
}

/** A whole answer. `changed` are indexes of citations whose source has another version by now. */
export function answered(answer, changed = []) {
  if (answer.abstention) return abstained(answer);
  const citations = new Map(answer.citations.map((one) => [one.index, one]));
  return [
    el("div", { class: "answer", lang: answer.language, dir: "auto" }, ...sentences(answer, citations)),
    answer.computed ? computed(answer.computed) : null,
    missing(answer.missing),
    notes(answer.notes),
    answer.citations.length ? cited(answer, new Set(changed)) : null,
    answer.sentences.length ? checked(answer) : null,
    about(answer),
  ];
}

function sentences(answer, citations) {
  const made = [];
  let at = 0;
  for (const one of answer.sentences) {
    const found = answer.answer.indexOf(one.text, at);
    if (found < 0) continue;
    made.push(...withMarkers(answer.answer.slice(at, found), citations));
    made.push(el("span", { class: "sentence", data: { support: one.support } }, ...withMarkers(one.text, citations, bare(one.text)), " ", verdict(one)));
    at = found + one.text.length;
  }
  return [...made, ...withMarkers(answer.answer.slice(at), citations)];
}

function verdict(sentence, whole = false) {
  const words = t(`support.${sentence.support}`);
  return el("span", { class: "verdict", data: { support: sentence.support }, title: [words, ...found(sentence)].join(": ") },
    el("span", { "aria-hidden": "true" }, SIGNS[sentence.support] ?? "–"),
    el("span", { class: sentence.support === "supported" && !whole ? "unseen" : null }, ` ${words}`));
}

/** What the checks of a sentence found, beside what was all right. */
function found(sentence) {
  return Object.entries(sentence.checks)
    .filter(([, outcome]) => outcome !== "ok" && outcome !== "not checked" && typeof outcome === "string")
    .map(([check, outcome]) => `${told(`check.${check}`, check)}: ${outcome}`);
}

function measured(sentence) {
  return Object.entries(sentence.checks)
    .filter(([, outcome]) => typeof outcome === "number")
    .map(([check, outcome]) => `${told(`check.${check}`, check)}: ${Math.round(100 * outcome)} %`);
}

function fine(sentence) {
  const good = Object.entries(sentence.checks).filter(([, outcome]) => outcome === "ok").map(([check]) => told(`check.${check}`, check));
  return good.length ? [t("answer.fine", { checks: good.join(", ") })] : [];
}

function checked(answer) {
  const tally = {};
  for (const one of answer.sentences) tally[one.support] = (tally[one.support] ?? 0) + 1;
  const summed = Object.entries(tally).map(([support, many]) => `${SIGNS[support]} ${counted(`tally.${support}`, many)}`);
  const item = (one) => el("li", {},
    el("p", {}, verdict(one, true), " ", el("q", { dir: "auto" }, plain(bare(one.text)))),
    el("p", { class: "muted" }, [...found(one), ...measured(one), ...fine(one)].map(plain).join("; ") || t("answer.verbatim")));
  // What speaks against a sentence is not hidden behind a click.
  return el("details", { class: "fold checks", open: Boolean(tally.unsupported || tally.partial) },
    el("summary", {}, `${t("answer.support")}: ${summed.join(", ")}`),
    el("ol", {}, ...answer.sentences.map(item)),
    answer.dropped?.length ? [el("h3", {}, t("answer.dropped")), el("ol", {}, ...answer.dropped.map(item))] : null);
}

function cited(answer, changed) {
  const item = (one) => {
    const said = answer.sentences.filter((sentence) => sentence.citations.includes(one.index)).map((sentence) => bare(sentence.text));
    return el("li", {}, passage(one, String(one.index), excerpt(one.quote, said), changed.has(one.index)));
  };
  return el("section", { class: "cited" }, el("h3", {}, t("answer.sources")), el("ol", {}, ...answer.citations.map(item)));
}

/** A passage's words from a little before the first of the sentences that stand in it, which is set off. */
function excerpt(quote, sentences) {
  const found = sentences.map((one) => [quote.indexOf(one), one]).filter(([at, one]) => at >= 0 && one).sort(([a], [b]) => a - b)[0];
  if (!found) return [quote];
  const [at, one] = found;
  const before = quote.slice(0, at);
  const shown = before.length > BEFORE ? `… ${before.slice(before.indexOf(" ", before.length - BEFORE) + 1)}` : before;
  return [shown, el("strong", {}, one), quote.slice(at + one.length)];
}

/** A passage that opens its place: its number, its label, its words, and what is to be known of it. */
function passage(one, number, words, changed = false) {
  const hints = [
    changed ? t("answer.changed") : null,
    one.valid_from || one.valid_to ? t("answer.valid", { from: one.valid_from ? day(one.valid_from) : "…", to: one.valid_to ? day(one.valid_to) : "…" }) : null,
    one.duplicates?.length ? counted("answer.copies", one.duplicates.length) : null,
    ...(one.flags ?? []).map((flag) => t("answer.flag", { flag: told(`flag.${flag}`, flag) })),
  ].filter(Boolean);
  return el("button", { type: "button", class: "passage", onclick: (event) => openSource(placeOf(one), event.currentTarget) },
    el("span", { class: "number", "aria-hidden": "true" }, number),
    el("span", { class: "what" },
      name(labelled(one.label), { class: "label" }),
      el("span", { class: "quote", dir: "auto" }, words),
      hints.length ? el("span", { class: "hints" }, plain(hints.join(" · "))) : null));
}

/** How a follow-up was read, where what was said before changed its words. */
export function readAs(answer) {
  const step = answer.steps?.find((one) => one.name === "history" && one.texts.length);
  return step ? [t("ask.read_as"), " ", el("q", { dir: "auto" }, plain(step.texts[0]))] : [];
}

function missing(parts) {
  if (!parts?.length) return null;
  return el("section", { class: "note" }, el("h3", {}, t("answer.missing")), el("ul", {}, ...parts.map((one) => el("li", { dir: "auto" }, one))));
}

function notes(all) {
  return all?.length ? el("ul", { class: "notes", "aria-label": t("answer.notes") }, ...all.map((one) => el("li", {}, plain(one)))) : null;
}

function computed(one) {
  return el("details", { class: "fold" },
    el("summary", {}, counted("answer.computed", one.rows)),
    el("p", { dir: "auto" }, plain(one.expression)), el("pre", { tabindex: "0" }, one.sql));
}

function abstained(answer) {
  const { reason, nearest } = answer.abstention;
  return [
    el("section", { class: "abstained" },
      el("h3", {}, el("span", { "aria-hidden": "true" }, "○ "), t("abstain.title")),
      el("p", { class: "answer", lang: answer.language, dir: "auto" }, answer.answer),
      el("p", { class: "muted" }, told(`abstain.${reason}`, reason))),
    notes(answer.notes),
    nearest.length ? el("section", { class: "cited" },
      el("h3", {}, t("abstain.nearest")),
      el("ol", {}, ...nearest.map((one) => el("li", {}, passage(one, "·", one.content))))) : null,
    about(answer),
  ];
}

/** The asker's own word on an answer, where it was kept. */
function judging(answer) {
  if (!answer.answer_id) return null;
  const done = el("span", { role: "status" });
  const choices = ["right", "partly", "wrong"].map((verdict) => button(t(`feedback.${verdict}`), async () => {
    try {
      await post("/v1/feedback", { answer_id: answer.answer_id, verdict });
      choices.forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.verdict === verdict)));
      fill(done, t("feedback.thanks"));
    } catch (error) {
      fill(done, faultWords(error));
    }
  }, { class: "quiet", data: { verdict }, "aria-pressed": "false" }));
  return el("div", { class: "judging", role: "group", "aria-label": t("feedback.ask") }, el("span", {}, t("feedback.ask")), ...choices, done);
}

function about(answer) {
  const total = answer.timings_ms?.total;
  const told = [
    answer.as_of ? t("about.as_of", { day: day(answer.as_of) }) : null,
    answer.abstention ? null : t("about.generator", { name: answer.generator || "–" }),
    total ? t("about.seconds", { seconds: (total / 1000).toLocaleString(region(), { maximumFractionDigits: 1 }) }) : null,
    answer.computed ? t("about.computed") : answer.gate ? t(answer.gate.calibrated ? "about.calibrated" : "about.uncalibrated", { score: Math.round(100 * answer.gate.score) }) : null,
  ].filter(Boolean);
  return [judging(answer), el("p", { class: "about" }, plain(told.join(" · ")))];
}
