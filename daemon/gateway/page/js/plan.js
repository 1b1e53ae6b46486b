// The plan as a Gantt chart: what runs until when, what is promised to start where, and what is reserved.

import { get } from "./api.js";
import { colour, isDark, prepare, tint } from "./charts.js";
import { card, clock, el, empty, isolate, natural, plural, span, swap, table, when } from "./dom.js";

const kRanges = [["1 h", 3600e3], ["6 h", 6 * 3600e3], ["24 h", 24 * 3600e3], ["3 d", 72 * 3600e3], ["14 d", 336 * 3600e3]];
const kPast = 0.08; // of the width, before now
const kForEver = 8.64e15;

// Nodes of "n[1-4,7],login" by the names that there are.
function reservedNodes(property, names) {
  if (!property || property === "ALL") {
    return names;
  }
  const wanted = new Set();
  for (const part of property.match(/[^,[]+(\[[^\]]*\])?/g) || []) {
    const [, prefix, list] = /^([^[]*)(?:\[(.*)\])?$/.exec(part) || [];
    for (const run of (list || "").split(",")) {
      const [first, last] = run.split("-");
      for (let i = Number(first); i <= Number(last ?? first) && wanted.size < 100000; ++i) {
        wanted.add(prefix + (run ? String(i).padStart(first.length, "0") : ""));
      }
    }
  }
  return names.filter((name) => wanted.has(name));
}

function barsOf(jobs, plan, policy, names) {
  const bars = [];
  for (const job of jobs) {
    const start = Number(job.start_time);
    bars.push({ kind: "runs", job, user: job.user, label: job.label + " " + job.name, nodes: job.nodes, start,
      end: Number(job.time_limit) > 0 ? start + Number(job.time_limit) : kForEver });
  }
  for (const job of plan.jobs) {
    bars.push({ kind: "promised", job: { id: job.job }, user: job.user, label: job.label + " " + job.name, nodes: job.nodes,
      start: Number(job.start), end: Number(job.end) || kForEver });
  }
  for (const object of policy.objects) {
    const of = Object.fromEntries(object.properties.map((one) => [one.key ?? one.name, one.value]));
    bars.push({ kind: "reserved", label: object.name, nodes: reservedNodes(of.Nodes, names), start: Date.parse(of.StartTime), end: Date.parse(of.EndTime) });
  }
  return bars;
}

// Bars of one node that overlap go side by side.
function lanesOf(bars) {
  const ends = [];
  for (const bar of [...bars].sort((a, b) => a.bar.start - b.bar.start)) {
    let lane = ends.findIndex((end) => end <= bar.bar.start);
    lane = lane < 0 ? ends.length : lane;
    ends[lane] = bar.bar.end;
    bar.lane = lane;
  }
  return Math.max(1, ends.length);
}

class Gantt {
  constructor() {
    this.range = Number(localStorage.getItem("plan-range")) || kRanges[1][1];
    this.canvas = el("canvas", { class: "gantt", role: "img" });
    this.tip = el("p", { class: "tip", hidden: true });
    this.scroller = el("div", { class: "gantt-scroll", tabindex: "0", "aria-label": "Chart of the plan" }, this.canvas);
    this.buttons = el("div", { class: "chips", role: "group", "aria-label": "How far ahead" });
    this.element = el("div", { class: "gantt-box" }, this.buttons, this.scroller, this.tip);
    this.data = { bars: [], names: [] };
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("click", () => this.under?.job && (location.hash = "job/" + this.under.job.id));
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.scroller);
    this.redraw = () => this.draw();
    window.addEventListener("themechange", this.redraw);
  }

  close() {
    this.watch.disconnect();
    window.removeEventListener("themechange", this.redraw);
  }

  show(data) {
    this.data = data;
    swap(this.buttons, kRanges.map(([name, range]) => el("button", { type: "button", class: "chip", "data-key": "range-" + name,
      "aria-pressed": range === this.range ? "true" : "false", onclick: () => {
        this.range = range;
        localStorage.setItem("plan-range", String(range));
        this.show(this.data);
      } }, name)), el("span", { class: "legend" }, el("i", { class: "key runs" }), "runs", el("i", { class: "key promised" }), "promised",
      el("i", { class: "key reserved" }), "reserved"));
    this.draw();
  }

  draw() {
    const width = this.scroller.clientWidth;
    if (!width) {
      return;
    }
    const { bars, names } = this.data;
    const label = width < 500 ? 64 : 110;
    const row = names.length > 400 ? 5 : names.length > 120 ? 9 : names.length > 40 ? 14 : 24;
    const height = 26 + Math.max(1, names.length) * row + 4;
    const context = prepare(this.canvas, width, height);
    const now = Date.now();
    const from = now - this.range * kPast;
    const to = from + this.range;
    const x = (time) => label + ((width - label) * (Math.min(Math.max(time, from), to) - from)) / (to - from);
    this.drawAxis(context, { width, height, label, from, to, x });
    this.boxes = this.boxesOf(bars, names, row, from, to, x);
    const dark = isDark();
    this.boxes.forEach((box) => this.drawBox(context, box, dark));
    context.fillStyle = colour("card");
    context.fillRect(0, 24, label, height);
    context.fillStyle = colour("faint");
    context.font = `${row >= 14 ? 11.5 : 10}px system-ui, sans-serif`;
    const every = Math.max(1, Math.ceil(14 / row));
    names.forEach((name, i) => {
      if (i % every === 0) {
        context.fillText(name.length > 15 ? name.slice(0, 14) + "…" : name, 4, 26 + i * row + Math.min(row - 2, 16), label - 8);
      }
    });
    context.strokeStyle = colour("strong");
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x(now), 18);
    context.lineTo(x(now), height);
    context.stroke();
    const promised = bars.filter((bar) => bar.kind === "promised").length;
    this.canvas.setAttribute("aria-label", plural(bars.filter((bar) => bar.kind === "runs").length, "running job") + " and " +
      plural(promised, "promised start") + " on " + plural(names.length, "node") + "; the table below lists the promises");
  }

  drawAxis(context, { width, height, label, from, to, x }) {
    context.clearRect(0, 0, width, height);
    const steps = [5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880].map((minutes) => minutes * 60e3);
    const step = steps.find((one) => (to - from) / one <= (width - label) / 72) || steps.at(-1);
    const zone = new Date(from).getTimezoneOffset() * 60e3;
    context.font = "11px system-ui, sans-serif";
    context.lineWidth = 1;
    for (let time = Math.ceil((from - zone) / step) * step + zone; time < to; time += step) {
      context.strokeStyle = colour("line");
      context.beginPath();
      context.moveTo(Math.round(x(time)) + 0.5, 22);
      context.lineTo(Math.round(x(time)) + 0.5, height);
      context.stroke();
      context.fillStyle = colour("faint");
      const date = new Date(time);
      const midnight = date.getHours() === 0 && date.getMinutes() === 0;
      context.fillText(midnight ? date.toLocaleDateString([], { day: "numeric", month: "short" }) : clock(time), x(time) + 3, 14);
    }
  }

  boxesOf(bars, names, row, from, to, x) {
    const rows = new Map(names.map((name) => [name, []]));
    for (const bar of bars) {
      if (bar.end > from && bar.start < to) {
        bar.nodes.forEach((name) => rows.get(name)?.push({ bar, lane: 0 }));
      }
    }
    const boxes = [];
    names.forEach((name, i) => {
      const inRow = rows.get(name);
      const lanes = lanesOf(inRow.filter((one) => one.bar.kind !== "reserved"));
      const high = (row - (row > 8 ? 3 : 1)) / lanes;
      for (const { bar, lane } of inRow) {
        const whole = bar.kind === "reserved";
        boxes.push({ bar, name, x: x(bar.start), w: Math.max(2, x(bar.end) - x(bar.start) - 1), y: 26 + i * row + (whole ? 0 : lane * high),
          h: whole ? row : Math.max(1, high - (high > 4 ? 1 : 0)) });
      }
    });
    return boxes.sort((a, b) => (a.bar.kind === "reserved" ? 0 : 1) - (b.bar.kind === "reserved" ? 0 : 1));
  }

  drawBox(context, { bar, x, y, w, h }, dark) {
    context.save();
    context.beginPath();
    context.roundRect(x, y, w, h, Math.min(4, h / 2));
    if (bar.kind === "reserved") {
      context.fillStyle = colour("line");
      context.globalAlpha = 0.7;
      context.fill();
    } else if (bar.kind === "promised") {
      context.globalAlpha = 0.28;
      context.fillStyle = tint(bar.user, dark);
      context.fill();
      context.globalAlpha = 1;
      context.setLineDash([4, 3]);
      context.strokeStyle = tint(bar.user, dark);
      context.stroke();
    } else {
      context.fillStyle = tint(bar.user, dark);
      context.fill();
    }
    if (h >= 12 && w > 34) {
      context.clip();
      context.globalAlpha = 1;
      context.fillStyle = bar.kind === "runs" ? (dark ? "#fff" : "#10131a") : colour("ink");
      context.font = "11px system-ui, sans-serif";
      context.fillText(bar.label, x + 5, y + h / 2 + 4, w - 8);
    }
    context.restore();
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const at = { x: event.clientX - box.left, y: event.clientY - box.top };
    const found = (this.boxes || []).filter((one) => at.x >= one.x && at.x <= one.x + one.w && at.y >= one.y && at.y <= one.y + one.h).pop();
    this.under = found?.bar;
    this.canvas.classList.toggle("over", Boolean(found?.bar.job));
    this.tip.hidden = !found;
    if (found) {
      const { bar } = found;
      this.tip.textContent = bar.label + (bar.user ? " of " + bar.user : "") + " on " + found.name + ": " + clock(bar.start) + " – " +
        (bar.end < kForEver ? clock(bar.end) + " (" + span(bar.end - bar.start) + ")" : "no end is known");
      this.tip.style.setProperty("left", Math.min(at.x + 12, box.width - 220) + "px");
      this.tip.style.setProperty("top", event.clientY - this.element.getBoundingClientRect().top + 16 + "px");
    }
  }
}

export function openPlan() {
  const gantt = new Gantt();
  const list = el("div");
  const element = el("div", { class: "plan-view" }, card("The plan", gantt.element), list);
  return {
    element,
    close: () => gantt.close(),
    onEvent: (event) => /^muster\.(job|node|policy)\./.test(event.type),
    async refresh() {
      const [jobs, plan, policy, nodes] = await Promise.all([
        get("/v1/jobs", { state: "RUNNING,CONFIGURING,COMPLETING,SUSPENDED", fields: "id,label,name,user,nodes,start_time,time_limit" }),
        get("/v1/plan"), get("/v1/policy", { kind: "POLICY_KIND_RESERVATION" }), get("/v1/nodes", { fields: "name" })]);
      const names = nodes.nodes.map((node) => node.name).sort(natural);
      gantt.show({ bars: barsOf(jobs.jobs, plan, policy, names), names });
      swap(list, card("Promised starts", plan.jobs.length === 0 ? empty("No job waits for a promised start.")
        : table(["Job", "Name", "User", "Starts", "In", "Nodes"], plan.jobs.slice(0, 500).map((job) => [el("a", { href: "#job/" + job.job }, job.label),
          job.name, job.user, when(job.start), span(Number(job.start) - Date.now()), el("span", { title: job.nodes.join(", ") },
            isolate(job.nodes.length > 6 ? job.nodes.slice(0, 5).join(", ") + ", … " + job.nodes.length : job.nodes.join(", ")))]), "Promised starts")));
    },
  };
}
