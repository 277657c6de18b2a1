// Requests to the server this page came from, and to nowhere else.

/** An error as the server tells it. */
export class Refused extends Error {
  constructor(status, told) {
    super(told.message);
    this.status = status;
    this.code = told.code;
    this.hint = told.hint;
  }
}

let forgotten = () => {};

/** Called when the server does not know us any more. */
export function onForgotten(handler) {
  forgotten = handler;
}

async function refused(answer) {
  let told = { code: "error", message: `${answer.status} ${answer.statusText}`, hint: "" };
  try {
    told = (await answer.json()).error ?? told;
  } catch { /* no JSON: something between us and the server answered */ }
  if (answer.status === 401) forgotten();
  return new Refused(answer.status, told);
}

async function fetched(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { code: "unreachable", message: "", hint: "" });
  }
  if (!answer.ok) throw await refused(answer);
  return answer;
}

function withBody(method, body, signal) {
  return { method, signal, headers: { "content-type": "application/json" }, body: JSON.stringify(body ?? {}) };
}

export const get = async (path) => (await fetched(path)).json();
export const post = async (path, body) => (await fetched(path, withBody("POST", body))).json();
export const remove = async (path) => (await fetched(path, { method: "DELETE" })).json();

/** A form with files; `progress` is told which share of it is sent. */
export function send(path, form, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => progress(event.lengthComputable ? event.loaded / event.total : null));
    request.addEventListener("load", () => {
      if (request.status < 300) resolve(request.response);
      else reject(new Refused(request.status, request.response?.error ?? { code: "error", message: String(request.status), hint: "" }));
      if (request.status === 401) forgotten();
    });
    request.addEventListener("error", () => reject(new Refused(0, { code: "unreachable", message: "", hint: "" })));
    request.send(form);
  });
}

/** A picture's address in this page, and where its mark begins as a share of its height (null without one). */
export async function picture(path) {
  const answer = await fetched(path);
  const mark = answer.headers.get("x-fonte-mark");
  return { address: URL.createObjectURL(await answer.blob()), mark: mark === null ? null : Number(mark) };
}

/** Server-sent events of a request, as [name, data]; ends with the stream. */
export async function* events(path, body, signal) {
  const answer = await fetched(path, withBody("POST", body, signal));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    pending += value;
    let end;
    while ((end = pending.indexOf("\n\n")) >= 0) {
      const lines = pending.slice(0, end).split("\n");
      pending = pending.slice(end + 2);
      const data = lines.filter((one) => one.startsWith("data: ")).map((one) => one.slice(6)).join("\n");
      const named = lines.find((one) => one.startsWith("event: "))?.slice(7) ?? "message";
      if (data) yield [named, JSON.parse(data)];
    }
  }
}

export const part = encodeURIComponent;
