// The page's words, in two files, and how dates and numbers are written.

let words = {};
let language = "en";

function chosen() {
  try {
    const kept = localStorage.getItem("fonte-language");
    if (kept === "en" || kept === "it") return kept;
  } catch { /* storage may be forbidden */ }
  return document.documentElement.lang === "it" ? "it" : "en";
}

/** Load the words of the language that was chosen here, else of the one that the browser wants. */
export async function speak(wanted) {
  language = wanted ?? chosen();
  if (wanted) {
    try { localStorage.setItem("fonte-language", wanted); } catch { /* then it holds for this page */ }
  }
  words = await (await fetch(`/static/${language}.json`)).json();
  document.documentElement.lang = language;
  for (const one of document.querySelectorAll("[data-t]")) one.textContent = t(one.dataset.t);
}

export const spoken = () => language;

/** The words of that name, `{x}` replaced by values. */
export function t(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, one) => (one in values ? String(values[one]) : whole));
}

/** The same, or what else is said where there are no words of that name. */
export function told(key, otherwise) {
  return words[key] ?? otherwise;
}

/** The browser's own way of writing the page's language, where it has one. */
export const region = () => navigator.languages.find((one) => one.startsWith(language)) ?? language;

export function day(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toLocaleDateString(region(), { dateStyle: "medium" });
}

export function moment(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toLocaleString(region(), { dateStyle: "medium", timeStyle: "short" });
}

/** Words of how many of something: `{count}` in those of `key`, or of `key.one` where it is one. */
export const counted = (key, many) => t(many === 1 ? `${key}.one` : key, { count: count(many) });

/** A citation's label, its words for places in the page's language. */
export function labelled(label) {
  return label.replace(/, (lines?|slide|pp?\.) (?=[\divxlc])/i, (_, word) => `, ${t(`place.${word.toLowerCase()}`)} `);
}

export const count = (number) => Number(number).toLocaleString(region());
