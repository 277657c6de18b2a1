// Questions and answers of one conversation.

import { events, get, part } from "./api.js";
import { answered, readAs, withMarkers } from "./answer.js";
import { button, el, fill, plain, say } from "./dom.js";
import { fault, faultWords } from "./faults.js";
import { t } from "./texts.js";

const TYPES = [
  ["application/pdf", "PDF"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "DOCX"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "XLSX"],
  ["application/vnd.openxmlformats-officedocument.presentationml.presentation", "PPTX"],
  ["text/markdown", "Markdown"],
  ["text/html", "HTML"],
  ["text/plain", "TXT"],
];

export async function askView(conversation) {
  let named = conversation;
  const turns = el("ol", { class: "turns", "aria-label": t("ask.turns") });
  const field = el("textarea", { id: "question", rows: "1", required: true, maxlength: "8000", placeholder: t("ask.placeholder"), "data-first": !conversation });
  const send = el("button", { class: "main" }, t("ask.send"));
  const filters = limits();
  const form = el("form", { class: "composer" },
    el("label", { for: "question", class: "unseen" }, t("ask.question")),
    el("div", { class: "line" }, field, send), filters.node);
  const begin = el("section", { class: "begin" }, el("h1", {}, t("ask.hello")), el("p", {}, t("ask.lead")));
  let working = null;

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (working) { working.abort(); return; }
    if (field.value.trim()) ask(field.value.trim());
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (!working) form.requestSubmit();
  });
  field.addEventListener("input", () => grow(field));

  async function ask(question) {
    begin.remove();
    const turn = turnOf(question);
    turns.append(turn.node);
    field.value = "";
    grow(field);
    working = new AbortController();
    fill(send, t("ask.stop"));
    turn.node.scrollIntoView({ block: "start" });
    say(t("ask.working"));
    try {
      const whole = await turn.follow(events("/v1/ask", { question, stream: true, conversation_id: named ?? "new", ...filters.wanted() }, working.signal));
      if (whole.conversation_id && whole.conversation_id !== named) {
        named = whole.conversation_id;
        history.replaceState(null, "", `/conversations/${part(named)}`);
      }
      say(whole.answer);
    } catch (error) {
      if (error.name === "AbortError") turn.stopped();
      else { turn.failed(error); say(faultWords(error)); }
    }
    working = null;
    fill(send, t("ask.send"));
    fill(again, anew, " · ", earlierOnes);
  }

  const anew = el("a", { href: "/", "data-view": true, class: "anew" }, t("ask.anew"));
  const earlierOnes = el("a", { href: "/conversations", "data-view": true }, t("talks.title"));
  const again = el("p", { class: "again" }, conversation ? [anew, " · "] : null, earlierOnes);
  const view = el("div", { class: "asking" }, conversation ? el("h1", { class: "unseen" }, t("ask.title")) : begin, turns, el("div", { class: "below" }, form, again));
  if (conversation) await earlier(conversation, turns);
  return view;
}

function grow(field) {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, 240)}px`;
}

async function earlier(conversation, turns) {
  try {
    const kept = await get(`/v1/conversations/${part(conversation)}`);
    for (const one of kept.turns) {
      const turn = turnOf(one.question);
      if (one.answer) turn.done(one.answer, one.source_changed);
      else turn.gone();
      turns.append(turn.node);
    }
  } catch (error) {
    turns.append(el("li", {}, fault(error)));
  }
}

/** One question with what comes of it. */
function turnOf(question) {
  const body = el("div", { class: "body", "aria-busy": "true" }, el("p", { class: "waiting" }, t("ask.working")));
  const read = el("p", { class: "read-as muted", hidden: true });
  const node = el("li", { class: "turn" }, el("h2", { dir: "auto" }, question), read, body);
  const settle = (...children) => { body.removeAttribute("aria-busy"); fill(body, ...children); };
  const whole = (answer, changed) => {
    fill(read, ...readAs(answer));
    read.hidden = !read.childNodes.length;
    settle(...answered(answer, changed));
  };

  async function follow(stream) {
    const citations = new Map();
    const shown = el("div", { class: "answer", dir: "auto" });
    let text = "";
    for await (const [named, data] of stream) {
      if (named === "citation") citations.set(data.index, data);
      else if (named === "delta") {
        text += data.text;
        fill(shown, ...withMarkers(text, citations));
        if (!shown.isConnected) fill(body, shown);
      } else if (named === "error") {
        throw Object.assign(new Error(data.error.message), data.error);
      } else if (named === "done") {
        whole(data);
        return data;
      }
    }
    throw Object.assign(new Error(""), { code: "unreachable" });
  }

  return {
    node,
    follow,
    done: whole,
    gone: () => settle(el("p", { class: "note" }, t("ask.gone"))),
    failed: (error) => settle(el("div", { role: "alert" }, fault(error))),
    stopped: () => { body.removeAttribute("aria-busy"); body.append(el("p", { class: "note" }, t("ask.stopped"))); body.querySelector(".waiting")?.remove(); },
  };
}

/** The day that counts, and which documents are looked into. */
function limits() {
  const day = el("input", { type: "date", id: "as-of" });
  const names = el("datalist", { id: "names" });
  const document = el("input", { type: "text", id: "in-document", list: "names", autocomplete: "off" });
  const language = choice("in-language", [["", t("limits.any")], ["en", t("language.en")], ["it", t("language.it")]]);
  const type = choice("in-type", [["", t("limits.any")], ...TYPES]);
  const all = [day, document, language, type];
  const summary = el("summary", {}, t("limits.title"));
  const tell = () => {
    const many = all.filter((one) => one.value).length;
    fill(summary, many ? t("limits.some", { count: many }) : t("limits.title"));
  };
  all.forEach((one) => one.addEventListener("input", tell));
  const field = (one, key) => el("div", { class: "field" }, el("label", { for: one.id }, t(key)), one);
  const node = el("details", { class: "limits" }, summary,
    el("div", { class: "grid" }, field(day, "limits.day"), field(document, "limits.document"), names, field(language, "limits.language"), field(type, "limits.type")),
    button(t("limits.clear"), () => { all.forEach((one) => { one.value = ""; }); tell(); }, { class: "quiet" }));
  node.addEventListener("toggle", async () => {
    if (!node.open || names.childElementCount) return;
    const known = await get("/v1/documents").catch(() => ({ documents: [] }));
    fill(names, ...known.documents.slice(0, 500).map((one) => el("option", { value: one.document_name }, plain(one.document_name))));
  });
  const wanted = () => {
    const filters = {};
    if (document.value) filters.document = document.value;
    if (language.value) filters.language = language.value;
    if (type.value) filters.type = type.value;
    return { filters, as_of: day.value || null };
  };
  return { node, wanted };
}

function choice(id, options) {
  return el("select", { id }, ...options.map(([value, words]) => el("option", { value }, words)));
}
