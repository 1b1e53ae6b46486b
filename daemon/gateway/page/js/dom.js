// Elements and texts. Every text of the cluster goes into the page as text, never as markup.

export function el(name, attributes, ...children) {
  const made = document.createElement(name);
  return fill(made, attributes, children);
}

export function svg(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) {
      continue;
    }
    if (key.startsWith("on")) {
      made.addEventListener(key.slice(2), value);
    } else if (key === "vars") {
      for (const [name, amount] of Object.entries(value)) {
        made.style.setProperty("--" + name, String(amount));
      }
    } else {
      made.setAttribute(key, value === true ? "" : String(value));
    }
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// Puts children in the place of others; the one that had the focus has it again, known by its data-key or id.
export function swap(parent, ...children) {
  const active = document.activeElement;
  const key = active && parent.contains(active) && active !== parent
    ? active.dataset.key || active.id || (active.getAttribute("href") || "") : "";
  const open = new Set([...parent.querySelectorAll("details[open][data-key]")].map((one) => one.dataset.key));
  parent.replaceChildren(...children.flat(Infinity).filter(Boolean));
  for (const one of parent.querySelectorAll("details[data-key]")) {
    one.open = one.open || open.has(one.dataset.key);
  }
  if (key) {
    const again = [...parent.querySelectorAll("a,button,input,select,summary,[tabindex]")]
      .find((one) => (one.dataset.key || one.id || one.getAttribute("href")) === key);
    again?.focus({ preventScroll: true });
  }
}

const sameDay = (a, b) => a.toDateString() === b.toDateString();

// A moment in the viewer's zone: short, and in full where one asks.
export function when(ms) {
  const number = Number(ms);
  if (!(number > 0)) {
    return "";
  }
  const date = new Date(number);
  const now = new Date();
  const time = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const text = sameDay(date, now) ? time : date.toLocaleDateString([], { day: "numeric", month: "short",
    year: date.getFullYear() === now.getFullYear() ? undefined : "numeric" }) + " " + time;
  return el("time", { datetime: date.toISOString(), title: date.toLocaleString([], { dateStyle: "full", timeStyle: "long" }) }, text);
}

export function clock(ms) {
  return new Date(Number(ms)).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

// "3 min 20 s", "2 d 4 h": two units at most.
export function span(ms) {
  let seconds = Math.max(0, Math.round(Number(ms) / 1000));
  if (seconds < 60) {
    return seconds + " s";
  }
  const parts = [];
  for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
    const count = Math.floor(seconds / length);
    if (count > 0 || parts.length) {
      if (count > 0) {
        parts.push(count + " " + unit);
      }
      seconds -= count * length;
      if (parts.length === 2 || (parts.length === 1 && count === 0)) {
        break;
      }
    }
  }
  return parts.join(" ");
}

export function bytes(count) {
  let amount = Number(count);
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (amount < 1024) {
      return (amount < 10 && unit !== "B" ? Math.round(amount * 10) / 10 : Math.round(amount)) + " " + unit;
    }
    amount /= 1024;
  }
  return Math.round(amount * 10) / 10 + " TiB";
}

export const number = (value) => Number(value).toLocaleString();
export const percent = (part, all) => (Number(all) > 0 ? Math.round((100 * Number(part)) / Number(all)) : 0) + " %";
export const plural = (count, noun) => number(count) + " " + noun + (Number(count) === 1 ? "" : "s");

// The name of a state as a pill; its colour follows its first word.
export function pill(state) {
  return el("span", { class: "pill", "data-state": String(state).split("+")[0] }, isolate(String(state).replaceAll("_", " ").toLowerCase()));
}

// What others wrote keeps its direction to itself.
export function isolate(text) {
  return el("bdi", null, String(text));
}

// A sentence of the cluster's, in which moments are in UTC: they are shown in the viewer's zone.
const kMoment = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC)/g;
export function sentence(text) {
  const parts = [];
  let from = 0;
  for (const found of String(text).matchAll(kMoment)) {
    parts.push(String(text).slice(from, found.index), when(Date.parse(found[0].replace(" UTC", "Z").replace(" ", "T"))));
    from = found.index + found[0].length;
  }
  parts.push(String(text).slice(from));
  return el("bdi", null, parts);
}

export function facts(pairs) {
  return el("dl", { class: "facts" }, pairs
    .filter(([, value]) => value !== "" && value !== undefined && value !== null && value !== 0)
    .map(([name, value]) => el("div", null, el("dt", null, name),
      el("dd", null, typeof value === "string" ? isolate(value) : value))));
}

export function card(title, ...children) {
  return el("section", { class: "card" }, title ? el("h2", null, title) : null, ...children);
}

export function empty(text) {
  return el("p", { class: "empty" }, text);
}

// A plain table: titles, and rows of cells.
export function table(titles, rows, caption) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", null, el("caption", { class: "hidden" }, caption),
      el("thead", null, el("tr", null, titles.map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", null, rows.map((row) => el("tr", null, row.map((cell, i) =>
        el("td", { "data-title": titles[i] }, typeof cell === "string" ? isolate(cell) : cell)))))));
}

// A bar with a number beside it.
export function meter(part, all, label) {
  const share = Number(all) > 0 ? Math.min(1, Number(part) / Number(all)) : 0;
  return el("span", { class: "meter", role: "img", "aria-label": label + ": " + number(part) + " of " + number(all),
    vars: { share: share.toFixed(4) } }, el("i"));
}

let toastNumber = 0;
export function toast(text, bad) {
  const note = el("p", { class: "toast" + (bad ? " bad" : ""), id: "toast-" + ++toastNumber }, text);
  document.getElementById("toasts").append(note);
  setTimeout(() => note.remove(), bad ? 10000 : 5000);
}

// Names with numbers in their order: n2 before n10.
export const natural = new Intl.Collator("en", { numeric: true }).compare;
