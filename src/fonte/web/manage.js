// For whoever runs the tenant: generations of the index, why something was missed, the audit log, keys.

import { get, part, post } from "./api.js";
import { button, el, fill, name, plain, say } from "./dom.js";
import { fault } from "./faults.js";
import { count, moment, t, told } from "./texts.js";

export async function manageView(session, restart) {
  const parts = [["generations", generations], ["why", why], ["audit", audit], ["keys", () => keys(session, restart)]];
  return el("div", { class: "wide" },
    el("h1", {}, t("manage.title")),
    ...parts.map(([key, make]) => {
      const body = el("div", { class: "inside" });
      const node = el("details", { class: "panel" }, el("summary", {}, el("h2", {}, t(`manage.${key}`))), body);
      node.addEventListener("toggle", async () => {
        if (!node.open || body.childElementCount) return;
        fill(body, el("p", { class: "waiting" }, t("waiting")));
        try {
          fill(body, await make());
        } catch (error) {
          fill(body, fault(error));
        }
      });
      return node;
    }));
}

function table(caption, heads, rows) {
  return el("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {},
      el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, ...heads.map((one) => el("th", { scope: "col" }, one ?? el("span", { class: "unseen" }, t("manage.do")))))),
      el("tbody", {}, ...rows)));
}

const cells = (...values) => el("tr", {}, ...values.map((one) => el("td", {}, one)));

// --- generations ---------------------------------------------------------------------------------------------------

async function generations() {
  const place = el("div");
  const told = el("div", { role: "alert" });
  const reload = async () => {
    const known = await get("/v1/generations");
    const act = (name, path, body) => button(name, async () => {
      fill(told);
      try {
        const found = await post(path, body?.());
        say(t("generations.now", { id: found.generation }));
        await reload();
      } catch (error) {
        fill(told, fault(error));
      }
    });
    const rows = known.generations.toReversed().map((one) => cells(
      el("code", {}, one.id),
      el("span", { class: "badge", data: { state: one.id === known.active ? "ready" : "pending" } }, t(one.id === known.active ? "generations.active" : `generations.${one.state}`)),
      moment(one.created_at), count(one.documents), count(one.chunks),
      [plain(one.verdict ?? ""), one.judgment ? judgment(one.judgment) : null],
      one.state === "candidate" ? publishing(one.id, act) : null));
    fill(place, rows.length ? table(t("manage.generations"), ["id", "state", "made", "documents", "chunks", "verdict", null].map((one) => one && t(`generations.${one}`)), rows)
      : el("p", { class: "muted" }, t("generations.none")),
    known.held ? el("p", { class: "note" }, t("generations.held", { id: known.held.left, since: moment(known.held.since) })) : null,
    known.generations.length > 1 ? act(t("generations.rollback"), "/v1/rollback") : null);
  };
  await reload();
  return el("div", {}, el("p", { class: "muted" }, t("generations.lead")), told, place);
}

function publishing(id, act) {
  const reason = el("input", { type: "text", id: `reason-${id}`, maxlength: "500", "aria-label": t("generations.reason"), placeholder: t("generations.reason") });
  return el("div", { class: "row" }, reason, act(t("generations.publish"), `/v1/generations/${part(id)}/publish`,
    () => (reason.value.trim() ? { override: reason.value.trim() } : {})));
}

/** What a golden set said of a generation: figures by name, whatever names it has. */
function judgment(one) {
  const figures = Object.entries(one.measures ?? {}).filter(([, value]) => value && typeof value.value === "number");
  return el("details", { class: "fold" }, el("summary", {}, t("generations.judged")),
    figures.length
      ? el("ul", {}, ...figures.map(([measure, { value, low, high, n }]) =>
        el("li", {}, `${measure}: ${value.toFixed(3)}${low === undefined ? "" : ` [${low.toFixed(3)}, ${high.toFixed(3)}]`}${n === undefined ? "" : ` (n = ${n})`}`)))
      : el("pre", { tabindex: "0" }, JSON.stringify(one, null, 1)));
}

// --- why -----------------------------------------------------------------------------------------------------------

function why() {
  const question = el("input", { id: "why-question", required: true, maxlength: "8000" });
  const expected = el("input", { id: "why-expected", required: true, maxlength: "8000" });
  const found = el("div", { "aria-live": "polite" });
  const field = (one, key) => el("div", { class: "field grows" }, el("label", { for: one.id }, t(key)), one);
  const form = el("form", {
    class: "row",
    onsubmit: async (event) => {
      event.preventDefault();
      fill(found, el("p", { class: "waiting" }, t("waiting")));
      try {
        fill(found, lost(await post("/v1/why", { question: question.value, expect: expected.value })));
      } catch (error) {
        fill(found, fault(error));
      }
    },
  }, field(question, "why.question"), field(expected, "why.expected"), el("button", { class: "main" }, t("why.look")));
  return el("div", {}, el("p", { class: "muted" }, t("why.lead")), form, found);
}

function lost(one) {
  const change = one.counterfactual;
  const rows = one.layers.map((layer) => cells(
    told(`layer.${layer.layer}`, layer.layer),
    layer.present === null ? "–" : layer.present ? `✓ ${t("why.there")}` : `✕ ${t("why.lost")}`,
    layer.rank ?? "–", plain(layer.detail ?? "")));
  return [
    el("p", {}, el("strong", {}, one.lost_at ? t("why.lost_at", { layer: told(`layer.${one.lost_at}`, one.lost_at) }) : t("why.not_lost")), " ", plain(one.reason ?? "")),
    one.next ? el("p", {}, plain(one.next)) : null,
    change ? el("p", {}, t("why.change", { change: plain(change.change) })) : null,
    table(t("manage.why"), ["layer", "present", "rank", "detail"].map((key) => t(`why.${key}`)), rows),
  ];
}

// --- audit ---------------------------------------------------------------------------------------------------------

async function audit() {
  const rows = [];
  const place = el("div");
  const read = async (before) => {
    const { entries } = await get(`/v1/audit?limit=50${before ? `&before=${before}` : ""}`);
    rows.push(...entries.map((one) => cells(
      moment(one.at), name(one.user ?? "–"), el("code", {}, one.action), name(one.subject), plain(one.outcome), count(one.shown.length))));
    fill(place, table(t("manage.audit"), ["at", "user", "action", "subject", "outcome", "shown"].map((key) => t(`audit.${key}`)), rows),
      entries.length === 50 ? button(t("audit.further"), () => read(entries.at(-1).number)) : null);
  };
  await read();
  return place;
}

// --- keys ----------------------------------------------------------------------------------------------------------

async function keys(session, restart) {
  const listed = el("div");
  const shown = el("div", { role: "alert" });
  const reload = async () => {
    const known = (await get("/v1/keys")).keys;
    fill(listed, known.length ? table(t("manage.keys"), ["id", "user", "roles", "actions", "made", "ends", null].map((key) => key && t(`keys.${key}`)),
      known.toReversed().map((one) => cells(
        el("code", {}, one.id), name(one.user ?? "–"), name(one.roles.join(", ")), one.actions.map((action) => t(`action.${action}`)).join(", "),
        moment(one.created_at), one.good ? (one.expires ? moment(one.expires) : t("keys.never")) : t("keys.over"),
        one.good ? revoking(one, reload, shown) : null))) : el("p", { class: "muted" }, t("keys.none")));
  };
  await reload();
  return el("div", {}, session.local ? el("p", { class: "note" }, t("keys.first")) : null, making(session, shown, reload, restart), shown, listed);
}

function revoking(one, reload, shown) {
  const place = el("div", { class: "row" });
  const sure = button(t("keys.really"), async () => {
    try {
      await post(`/v1/keys/${part(one.id)}/revoke`);
      await reload();
    } catch (error) {
      fill(shown, fault(error));
    }
  }, { class: "danger" });
  fill(place, button(t("keys.revoke"), () => { fill(place, sure); sure.focus(); }, { class: "quiet", "aria-label": `${t("keys.revoke")} ${one.id}` }));
  return place;
}

function making(session, shown, reload, restart) {
  const user = el("input", { id: "key-user", required: true, maxlength: "200", autocomplete: "off" });
  const roles = el("input", { id: "key-roles", maxlength: "2000", autocomplete: "off" });
  const days = el("input", { id: "key-days", type: "number", min: "1", max: "3650", value: "90" });
  const actions = ["read", "write", "admin"].map((one) => el("input", { type: "checkbox", id: `key-${one}`, value: one, checked: one === "read" || session.local }));
  const field = (one, key) => el("div", { class: "field" }, el("label", { for: one.id }, t(key)), one);
  return el("form", {
    class: "row",
    onsubmit: async (event) => {
      event.preventDefault();
      try {
        const made = await post("/v1/keys", {
          user: user.value.trim(),
          roles: roles.value.split(",").map((one) => one.trim()).filter(Boolean),
          actions: actions.filter((one) => one.checked).map((one) => one.value),
          days: days.value ? Number(days.value) : null,
        });
        fill(shown, el("div", { class: "note" }, el("p", {}, t("keys.shown")), el("p", {}, el("code", { class: "secret" }, made.key)),
          session.local ? button(t("keys.signin"), restart) : null));
        if (!session.local) await reload();
      } catch (error) {
        fill(shown, fault(error));
      }
    },
  },
  field(user, "keys.user"), field(roles, "keys.roles_list"), field(days, "keys.days"),
  el("fieldset", {}, el("legend", {}, t("keys.actions")), ...actions.map((one) => el("span", { class: "check" }, one, el("label", { for: one.id }, t(`action.${one.value}`))))),
  el("button", { class: "main" }, t("keys.make")));
}
