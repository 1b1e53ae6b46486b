// The overview: what runs and waits, how busy the nodes are, and how much of that was of use.

import { get } from "./api.js";
import { bytes, card, el, empty, isolate, meter, number, percent, plural, span, swap } from "./dom.js";
import { countOf, jobLink, kJobFields, placeOf } from "./jobs.js";
import { heatMap, kNodeFields, narrowTable, readNodes } from "./nodes.js";

function figure(value, name, href, more) {
  return el("a", { class: "figure", href }, el("b", null, value), el("span", null, name), more || null);
}

function share(taken, all, name, href, say = number) {
  return figure(percent(taken, all), name, href, [meter(taken, all, name + " taken"),
    el("small", null, say(taken) + " of " + say(all))]);
}

// Of the time in which attempts that ended had their resources, what was of use; since the controller's start.
function goodput(metrics) {
  const total = (name) => Number(metrics.families.find((one) => one.name === name)?.samples[0]?.value || 0);
  const held = total("muster_held_seconds");
  const lost = total("muster_lost_seconds");
  const stood = total("muster_checkpoint_stall_seconds");
  const useful = Math.max(0, held - lost - stood);
  return held > 0 ? figure(percent(useful, held), "goodput", "#history", [meter(useful, held, "time of use"),
    el("small", null, lost + stood > 0 ? span(lost * 1000) + " lost, " + span(stood * 1000) + " for checkpoints" : "no work lost")]) : null;
}

function sum(rows, key) {
  return rows.reduce((total, row) => total + Number(row[key]), 0);
}

// The largest groups, as bars that lead to the queue.
function bars(title, groups, href) {
  const all = [...groups].sort((a, b) => b[1] - a[1]);
  const most = all.length ? all[0][1] : 1;
  return card(title, all.length === 0 ? empty("Nothing") : el("ul", { class: "bars" }, all.slice(0, 8).map(([name, count]) =>
    el("li", null, el("a", { href: href(name) }, el("span", null, isolate(name || "none")), el("b", null, number(count)),
      el("i", { vars: { share: (count / most).toFixed(3) }, "aria-hidden": "true" }))))),
  all.length > 8 ? el("p", { class: "faint small" }, plural(all.length - 8, "more")) : null);
}

function grouped(jobs, key) {
  const groups = new Map();
  for (const job of jobs) {
    const name = key(job);
    groups.set(name, (groups.get(name) || 0) + countOf(job));
  }
  return groups;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length ? sorted[Math.floor(sorted.length / 2)] : 0;
}

function jobList(title, jobs, href) {
  return card(el("a", { href }, title), jobs.length === 0 ? empty("None") : el("ul", { class: "job-list" }, jobs.slice(0, 8).map((job) =>
    el("li", null, el("span", { class: "name" }, jobLink(job), " ", isolate(job.name)), el("span", { class: "faint" }, isolate(job.user)),
      el("span", { class: "place" }, placeOf(job))))));
}

export function openOverview() {
  const element = el("div", { class: "overview" });
  return {
    element,
    onEvent: () => true,
    async refresh() {
      const [list, cluster, metrics] = await Promise.all([get("/v1/jobs", { fold: "true", fields: kJobFields }), readNodes(kNodeFields),
        get("/v1/ReadMetrics", { fields: "name,samples" })]);
      const jobs = list.jobs;
      const nodes = cluster.nodes;
      const waiting = jobs.filter((job) => job.state === "PENDING");
      const running = jobs.filter((job) => job.state !== "PENDING");
      const count = (rows) => rows.reduce((total, job) => total + countOf(job), 0);
      const now = Date.now();
      const waits = waiting.filter((job) => job.reason?.kind !== "JobHeldUser").map((job) => now - Number(job.submit_time));
      const up = nodes.filter((node) => !node.state.startsWith("DOWN"));
      swap(element,
        el("div", { class: "figures" },
          figure(number(count(running)), "running", "#queue?state=RUNNING"),
          figure(number(count(waiting)), "waiting", "#queue?state=PENDING",
            waits.length ? el("small", null, "half of them longer than " + span(median(waits))) : null),
          figure(number(up.length) + (up.length < nodes.length ? " / " + number(nodes.length) : ""), "nodes up", "#nodes"),
          share(sum(nodes, "cpus_taken"), sum(nodes, "cpus"), "CPUs", "#nodes"),
          sum(nodes, "gpus") ? share(sum(nodes, "gpus_taken"), sum(nodes, "gpus"), "GPUs", "#gpus") : null,
          share(sum(nodes, "memory_taken"), sum(nodes, "memory"), "memory", "#nodes", bytes),
          goodput(metrics)),
        card("Nodes by use", nodes.length ? heatMap(nodes, cluster.narrow_links) : empty("No node has registered yet."),
          narrowTable(cluster.narrow_links)),
        el("div", { class: "columns" },
          bars("Why jobs wait", grouped(waiting, (job) => job.reason?.kind || "not planned yet"),
            () => "#queue?state=PENDING"),
          bars("Running, by user", grouped(running, (job) => job.user), (name) => "#queue?user=" + encodeURIComponent(name) + "&state=RUNNING"),
          bars("Waiting, by user", grouped(waiting, (job) => job.user), (name) => "#queue?user=" + encodeURIComponent(name) + "&state=PENDING")),
        el("div", { class: "columns two" },
          jobList("Started last", [...running].sort((a, b) => Number(b.start_time) - Number(a.start_time)), "#queue?state=RUNNING&sort=time"),
          jobList("Next in the queue", waiting, "#queue?state=PENDING")));
    },
  };
}
