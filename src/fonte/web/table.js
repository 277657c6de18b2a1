// A table of a document as a grid: the rows around a place, its cells marked, the row of names always in sight.

import { get } from "./api.js";
import { button, el, fill, plain } from "./dom.js";
import { count, t } from "./texts.js";

const ROWS = 60;
export const SHEETS = /^(text\/(csv|tab-separated-values)|application\/vnd\.(ms-excel|openxmlformats-officedocument\.spreadsheetml|oasis\.opendocument\.spreadsheet))/;

/** Show the table in which the place `at` lies; throws what the server refuses. */
export async function table(at, body) {
  let told = await get(`${at.path}/table?from=${at.from}&to=${at.to}&limit=${ROWS}`);
  const inside = (one) => at.to > at.from && one.from < at.to && one.to > at.from;
  const show = async (query) => {
    const focused = document.activeElement?.dataset?.step;
    told = await get(`${at.path}/table?limit=${ROWS}&${query}`);
    draw();
    body.querySelector(`[data-step="${focused}"]:not([disabled])`)?.focus();
  };
  const step = (name, key, query, possible) => button(t(key), () => show(query), { data: { step: name }, disabled: !possible });
  const draw = () => {
    const { first, total, rows } = told;
    const last = first + rows.length;
    const from = Math.max(0, first - ROWS);
    const seen = el("p", { class: "muted", role: "status" }, total
      ? t("table.rows", { from: count(first + 1), to: count(last), all: count(total) }) : t("table.empty"));
    const steps = el("div", { class: "row steps" },
      told.tables > 1 ? [
        step("before", "table.before", `table=${told.table - 1}&first=0`, told.table > 0),
        el("span", {}, t("table.of", { table: count(told.table + 1), tables: count(told.tables) }), told.sheet ? ` · ${plain(told.sheet)}` : ""),
        step("after", "table.after", `table=${told.table + 1}&first=0`, told.table + 1 < told.tables)] : null,
      total > rows.length ? [
        step("earlier", "table.earlier", `table=${told.table}&first=${from}`, first > 0),
        step("later", "table.later", `table=${told.table}&first=${last}`, last < total)] : null);
    const made = el("table", { class: "cells" },
      el("caption", { class: "unseen" }, plain(told.sheet ?? at.name)),
      el("thead", {}, ...told.names.map((one) => line(one, "th", inside, told.columns))),
      el("tbody", {}, ...rows.map((one) => line(one, "td", inside, told.columns))));
    const frame = el("div", { class: "scrolls gridded", tabindex: "0", role: "region", "aria-label": t("table.label") }, made);
    fill(body, seen, steps.childElementCount ? steps : null, frame);
    const mark = made.querySelector("tbody .cited");
    if (mark) {
      frame.scrollTop = mark.offsetTop - frame.clientHeight / 3;
      frame.scrollLeft = Math.max(0, mark.offsetLeft - frame.clientWidth / 3);
    }
  };
  draw();
}

function line(row, kind, inside, columns) {
  const texts = new Map(row.cells.map((one) => [one.column, one]));
  const number = el("th", { scope: "row", class: "row-number" }, row.number ? count(row.number) : "");
  const wide = Math.min(columns, 100);
  return el("tr", { class: kind === "td" && inside(row) ? "cited-row" : null }, number, ...Array.from({ length: wide }, (_, at) => {
    const cell = texts.get(at);
    const marked = kind === "td" && cell && inside(cell);
    return el(kind, { scope: kind === "th" ? "col" : null, class: marked ? "cited" : null, dir: "auto" },
      marked ? el("mark", {}, plain(cell.text)) : plain(cell?.text ?? ""));
  }));
}
