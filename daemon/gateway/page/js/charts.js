// Pictures out of numbers: curves, and the colours of pictures.

import { clock, el, svg } from "./dom.js";

const kWidth = 640;
const kHeight = 132;
const kLeft = 8;
const kBottom = 18;

function niceTop(value) {
  if (!(value > 0)) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value) || value;
}

// points: [{ start, span, value }] by time. `all`: what there is of it, drawn as a line where given.
export function curve({ title, points, all, say, colour }) {
  const values = points.map((point) => point.value);
  const most = Math.max(0, ...values);
  const top = all > 0 && all < most * 12 ? niceTop(Math.max(most, all)) : niceTop(most);
  const from = points[0].start;
  const to = points.at(-1).start + points.at(-1).span;
  const x = (time) => kLeft + ((kWidth - 2 * kLeft) * (time - from)) / Math.max(1, to - from);
  const y = (value) => 6 + (kHeight - kBottom - 6) * (1 - Math.max(0, Math.min(1, value / top)));
  let line = "";
  points.forEach((point, i) => {
    const gap = i > 0 && point.start - (points[i - 1].start + points[i - 1].span) > points[i - 1].span * 2;
    line += `${i === 0 || gap ? "M" : "L"}${x(point.start + point.span / 2).toFixed(1)} ${y(point.value).toFixed(1)}`;
  });
  const first = x(points[0].start + points[0].span / 2);
  const last = x(points.at(-1).start + points.at(-1).span / 2);
  const base = kHeight - kBottom;
  const sum = points.reduce((total, point) => total + point.value * point.span, 0);
  const mean = sum / points.reduce((total, point) => total + point.span, 0);
  const words = `${title}: mean ${say(mean)}, at most ${say(most)}${all > 0 ? " of " + say(all) : ""}`;
  const cursor = svg("line", { class: "cursor", y1: 6, y2: base, x1: -9, x2: -9 });
  const read = el("output", { class: "reading" }, say(points.at(-1).value));
  const picture = svg("svg", { viewBox: `0 0 ${kWidth} ${kHeight}`, class: "curve", role: "img", "aria-label": words, "data-colour": colour },
    [0, 0.5, 1].map((part) => svg("line", { class: "rule", x1: kLeft, x2: kWidth - kLeft, y1: y(top * part), y2: y(top * part) })),
    all > 0 && all <= top ? svg("line", { class: "limit", x1: kLeft, x2: kWidth - kLeft, y1: y(all), y2: y(all) }) : null,
    svg("path", { class: "area", d: `${line}L${last.toFixed(1)} ${base}L${first.toFixed(1)} ${base}Z` }),
    svg("path", { class: "line", d: line }), cursor,
    svg("text", { class: "axis", x: kLeft, y: kHeight - 4 }, clock(from)),
    svg("text", { class: "axis end", x: kWidth - kLeft, y: kHeight - 4 }, clock(to)),
    svg("text", { class: "axis", x: kLeft + 2, y: 17 }, say(top)));
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const at = from + ((to - from) * (((event.clientX - box.left) / box.width) * kWidth - kLeft)) / (kWidth - 2 * kLeft);
    const near = points.reduce((best, point) => (Math.abs(point.start + point.span / 2 - at) <
      Math.abs(best.start + best.span / 2 - at) ? point : best));
    const place = x(near.start + near.span / 2);
    cursor.setAttribute("x1", place);
    cursor.setAttribute("x2", place);
    read.textContent = clock(near.start) + "  " + say(near.value);
  });
  picture.addEventListener("pointerleave", () => {
    cursor.setAttribute("x1", -9);
    cursor.setAttribute("x2", -9);
    read.textContent = say(points.at(-1).value);
  });
  return el("figure", { class: "chart" }, el("figcaption", null, el("b", null, title), read), picture,
    el("p", { class: "faint small" }, words.slice(title.length + 2)));
}

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// A colour of its own for each name, readable on light and dark; the same wherever it is shown.
export function hueOf(name) {
  const rank = /^rank (\d+)$/.exec(name);
  if (rank) {
    return Math.round((210 + Number(rank[1]) * 137.508) % 360); // neighbours far apart
  }
  let hash = 2166136261;
  for (const letter of String(name)) {
    hash = Math.imul(hash ^ letter.codePointAt(0), 16777619);
  }
  return Math.round((((hash >>> 0) * 0.618033988749895) % 1) * 360);
}

export const tint = (name, dark) => `hsl(${hueOf(name)} ${dark ? "52% 46%" : "62% 58%"})`;
export const isDark = () => document.documentElement.dataset.theme === "dark" ||
  (document.documentElement.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
