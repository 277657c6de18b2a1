// Handing over documents: chosen or dropped, sent with progress, and followed until they are read.

import { get, part, send } from "./api.js";
import { button, el, fill, plain, say } from "./dom.js";
import { fault, faultWords } from "./faults.js";
import { count, t, told } from "./texts.js";

const BETWEEN_LOOKS = 700;

/** Where documents are dropped; `changed` is called when some were read. */
export function uploading(session, changed) {
  const chosen = el("input", { type: "file", id: "files", multiple: true, class: "unseen" });
  const allow = el("input", { type: "text", id: "allow", value: "public", autocomplete: "off", maxlength: "1000" });
  const going = el("ul", { class: "going", "aria-label": t("upload.going") });
  const zone = el("div", { class: "drop" },
    chosen, el("label", { for: "files", class: "choose" }, t("upload.choose")), el("span", { class: "muted" }, t("upload.drop")),
    el("div", { class: "field" }, el("label", { for: "allow" }, t("upload.allow")), allow), going);
  const take = (files) => { if (files.length) hand([...files], allow.value.trim(), going, changed); };
  chosen.addEventListener("change", () => { take(chosen.files); chosen.value = ""; });
  for (const kind of ["dragenter", "dragover"]) {
    zone.addEventListener(kind, (event) => { event.preventDefault(); zone.classList.add("over"); });
  }
  zone.addEventListener("dragleave", (event) => { if (!zone.contains(event.relatedTarget)) zone.classList.remove("over"); });
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files);
  });
  return zone;
}

async function hand(files, allow, going, changed) {
  const names = plain(files.length === 1 ? files[0].name : t("upload.several", { first: files[0].name, more: count(files.length - 1) }));
  const line = progressLine(names);
  going.prepend(line.node);
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  if (allow) form.append("allow", allow);
  try {
    const { job } = await send("/v1/documents", form, (share) => line.tell(t("upload.sending"), share));
    await follow(job, line);
    await changed();
  } catch (error) {
    line.failed(error);
  }
}

/** A job until its end, told in a line. Throws what it failed with. */
export async function follow(begun, line) {
  let job = begun;
  while (job.state === "queued" || job.state === "running") {
    const { what, done, total } = job.progress;
    line.tell(job.state === "queued" ? t("upload.waiting") : told(`job.${what}`, t("upload.reading")), total ? done / total : null);
    await new Promise((later) => { setTimeout(later, BETWEEN_LOOKS); });
    job = await get(`/v1/jobs/${part(job.id)}`);
  }
  if (job.state === "failed") throw Object.assign(new Error(job.error?.message ?? ""), job.error);
  const bad = (job.report?.documents ?? []).filter((one) => one.state !== "ready");
  if (bad.length) line.note(bad.map((one) => `${t(`state.${one.state}`)}: ${one.reason ?? ""}`).join("; "));
  else line.done();
}

/** A line that tells how far something is. */
export function progressLine(name) {
  const words = el("span", {}, t("upload.sending"));
  const bar = el("progress", { max: "1", "aria-label": name });
  const node = el("li", {}, el("bdi", {}, name), " ", words, bar);
  const end = (...children) => fill(node, el("bdi", {}, name), " ", ...children,
    button("✕", () => node.remove(), { class: "quiet icon", "aria-label": t("upload.dismiss"), title: t("upload.dismiss") }));
  return {
    node,
    tell(what, share) {
      fill(words, what);
      if (share === null) bar.removeAttribute("value");
      else bar.value = share;
    },
    done() { end(el("span", { class: "good" }, `✓ ${t("upload.done")}`)); say(`${name}: ${t("upload.done")}`); },
    note(reason) { end(el("span", { class: "fair" }, `◐ ${plain(reason)}`)); say(`${name}: ${reason}`); },
    failed(error) { end(fault(error)); say(`${name}: ${faultWords(error)}`); },
  };
}
