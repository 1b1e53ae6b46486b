// The plan as a Gantt chart: what runs until when, what is promised to start where, and what is reserved.

import { get } from "./api.js";
import { colour, isDark, tint } from "./charts.js";
import { card, clock, el, empty, isolate, natural, plural, span, swap, table, when } from "./dom.js";
import { GanttChart } from "./gantt.js";

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

// The bars of each node in its row, those that overlap side by side within `room` of it, as the chart draws them.
function placed(bars, names, from, to, room) {
  const rows = new Map(names.map((name, row) => [name, { row, lanes: [], boxes: [] }]));
  const dark = isDark();
  for (const bar of [...bars].sort((a, b) => a.start - b.start)) {
    if (bar.end <= from || bar.start >= to) {
      continue;
    }
    for (const name of bar.nodes.filter((one) => rows.has(one))) {
      const { lanes, boxes } = rows.get(name);
      let lane = 0;
      if (bar.kind !== "reserved") {
        const free = lanes.findIndex((end) => end <= bar.start);
        lane = free < 0 ? lanes.length : free;
        lanes[lane] = bar.end;
      }
      boxes.push({ bar, name, lane });
    }
  }
  return [...rows.values()].flatMap(({ row, lanes, boxes }) => boxes.map(({ bar, name, lane }) => {
    const whole = bar.kind === "reserved";
    const high = whole ? 1 : room / lanes.length;
    return { bar, name, key: bar.job?.id, start: bar.start / 1000, end: bar.end / 1000, top: row + lane * high, bottom: row + (lane + 1) * high,
      fill: whole ? "" : tint(bar.user, dark), style: bar.kind === "runs" ? "" : bar.kind };
  })).sort((a, b) => a.start - b.start);
}

function timeText(time) {
  const date = new Date(time * 1000);
  return date.getHours() === 0 && date.getMinutes() === 0 ? date.toLocaleDateString([], { day: "numeric", month: "short" }) : clock(date);
}

class Plan {
  constructor() {
    this.range = Number(localStorage.getItem("plan-range")) || kRanges[1][1];
    this.canvas = el("canvas", { class: "gantt", role: "img" });
    this.tip = el("p", { class: "tip", hidden: true });
    this.scroller = el("div", { class: "gantt-scroll", tabindex: "0", "aria-label": "Chart of the plan" }, this.canvas);
    this.buttons = el("div", { class: "chips", role: "group", "aria-label": "How far ahead" });
    this.element = el("div", { class: "gantt-box" }, this.buttons, this.scroller, this.tip);
    this.data = { bars: [], names: [] };
    this.frame = { left: 110, right: 16, top: 26, bottom: 4 };
    this.chart = new GanttChart(this.canvas, this.frame, { timeText, colour, markWidth: 72, origin: 0, rowGap: 14,
      rowText: (row) => this.rowText(row), labelOf: (box) => box.bar.label, labelInk: () => (isDark() ? "#fff" : "#10131a") });
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.mark(null));
    this.canvas.addEventListener("click", () => this.under?.bar.job && (location.hash = "job/" + this.under.bar.job.id));
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

  rowText(row) {
    const name = this.data.names[row] ?? "";
    return name.length > 15 ? name.slice(0, 14) + "…" : name;
  }

  draw() {
    const width = this.scroller.clientWidth;
    if (!width) {
      return;
    }
    const { bars, names } = this.data;
    const row = names.length > 400 ? 5 : names.length > 120 ? 9 : names.length > 40 ? 14 : 24;
    const now = Date.now();
    const from = now - this.range * kPast;
    this.frame.left = width < 500 ? 64 : 110;
    this.chart.words.origin = -new Date(from).getTimezoneOffset() * 60; // marks at whole hours of the viewer's zone
    this.chart.show(placed(bars, names, from, from + this.range, row > 8 ? 1 - 3 / row : 1));
    const rows = Math.max(1, names.length);
    const height = this.frame.top + rows * row + this.frame.bottom;
    const context = this.chart.draw({ t0: from / 1000, t1: (from + this.range) / 1000, p0: 0, p1: rows }, width, height);
    context.strokeStyle = colour("strong");
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(this.chart.x(now / 1000), 18);
    context.lineTo(this.chart.x(now / 1000), height);
    context.stroke();
    const promised = bars.filter((bar) => bar.kind === "promised").length;
    this.canvas.setAttribute("aria-label", plural(bars.filter((bar) => bar.kind === "runs").length, "running job") + " and " +
      plural(promised, "promised start") + " on " + plural(names.length, "node") + "; the table below lists the promises");
  }

  // All of a job's bars are marked where one is pointed at.
  mark(box) {
    this.under = box;
    this.tip.hidden = !box;
    this.canvas.classList.toggle("over", Boolean(box?.bar.job));
    if ((box?.key ?? null) !== this.chart.marked) {
      this.chart.marked = box?.key ?? null;
      requestAnimationFrame(this.redraw);
    }
  }

  point(event) {
    const place = this.canvas.getBoundingClientRect();
    const box = this.chart.barAt(event.clientX - place.left, event.clientY - place.top);
    this.mark(box);
    if (box) {
      const { bar } = box;
      this.tip.textContent = bar.label + (bar.user ? " of " + bar.user : "") + " on " + box.name + ": " + clock(bar.start) + " – " +
        (bar.end < kForEver ? clock(bar.end) + " (" + span(bar.end - bar.start) + ")" : "no end is known");
      this.tip.style.setProperty("left", Math.min(event.clientX - place.left + 12, place.width - 220) + "px");
      this.tip.style.setProperty("top", event.clientY - this.element.getBoundingClientRect().top + 16 + "px");
    }
  }
}

export function openPlan() {
  const chart = new Plan();
  const list = el("div");
  const element = el("div", { class: "plan-view" }, card("The plan", chart.element), list);
  return {
    element,
    close: () => chart.close(),
    onEvent: (event) => /^muster\.(job|node|policy)\./.test(event.type),
    async refresh() {
      const [jobs, plan, policy, nodes] = await Promise.all([
        get("/v1/jobs", { state: "RUNNING,CONFIGURING,COMPLETING,SUSPENDED", fields: "id,label,name,user,nodes,start_time,time_limit" }),
        get("/v1/plan"), get("/v1/policy", { kind: "POLICY_KIND_RESERVATION" }), get("/v1/nodes", { fields: "name" })]);
      const names = nodes.nodes.map((node) => node.name).sort(natural);
      chart.show({ bars: barsOf(jobs.jobs, plan, policy, names), names });
      swap(list, card("Promised starts", plan.jobs.length === 0 ? empty("No job waits for a promised start.")
        : table(["Job", "Name", "User", "Starts", "In", "Nodes"], plan.jobs.slice(0, 500).map((job) => [el("a", { href: "#job/" + job.job }, job.label),
          job.name, job.user, when(job.start), span(Number(job.start) - Date.now()), el("span", { title: job.nodes.join(", ") },
            isolate(job.nodes.length > 6 ? job.nodes.slice(0, 5).join(", ") + ", … " + job.nodes.length : job.nodes.join(", ")))]), "Promised starts")));
    },
  };
}
