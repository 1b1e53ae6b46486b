// What an operator, or the owner of a job, should look at.

import { get } from "./api.js";
import { card, el, empty, isolate, natural, swap } from "./dom.js";

const kLate = 60000; // a promised start that is so long over
const kEnded = 3600000; // an end is shown for as long as the notifier keeps it

function ofNodes(nodes) {
  const alerts = [];
  for (const node of nodes) {
    const href = "#node/" + encodeURIComponent(node.name);
    if (node.state.startsWith("DOWN")) {
      alerts.push({ level: "bad", what: node.name, href, text: "the node does not answer" + (node.reason ? ": " + node.reason : "") });
    } else if (node.state.includes("+DRAIN")) {
      alerts.push({ level: "warn", what: node.name, href, text: "drained" + (node.reason ? ": " + node.reason : "") });
    } else if (node.health && node.health !== "good") {
      alerts.push({ level: "warn", what: node.name, href, text: "health: " + node.health });
    }
    node.warnings.forEach((warning) => alerts.push({ level: "bad", what: node.name, href, text: warning.text }));
  }
  return alerts;
}

function ofJobs(jobs) {
  const alerts = [];
  const now = Date.now();
  for (const job of jobs) {
    const href = "#job/" + job.id;
    const what = "job " + job.label + " " + job.name;
    if (job.alert) {
      alerts.push({ level: "bad", what, href, text: job.alert });
    }
    job.warnings.forEach((warning) => alerts.push({ level: "warn", what, href, text: warning.text }));
    if (job.binding.includes("differs")) {
      alerts.push({ level: "bad", what, href, text: job.binding });
    }
    if (job.reason?.never) {
      alerts.push({ level: "warn", what, href, text: "never starts as it is: " + job.reason.text });
    }
    if (Number(job.expected_start) > 0 && Number(job.expected_start) < now - kLate && job.state === "PENDING") {
      alerts.push({ level: "bad", what, href, text: "its promised start is over" });
    }
  }
  return alerts;
}

// Ends that nothing which is there now tells of.
function ofEnded(jobs) {
  return jobs.filter((job) => job.state === "OUT_OF_MEMORY" || job.exit_text.includes("no progress")).map((job) =>
    ({ level: "bad", what: "job " + job.label + " " + job.name, href: "#job/" + job.id,
      text: job.state === "OUT_OF_MEMORY" ? "ran out of memory" : "hung: " + job.exit_text }));
}

export async function findAlerts() {
  const [nodes, jobs, ended, cluster] = await Promise.all([get("/v1/nodes", { fields: "name,state,reason,health,warnings" }),
    get("/v1/jobs", { fold: "true", fields: "id,label,name,state,alert,binding,reason,expected_start,warnings" }),
    get("/v1/history", { state: "FAILED,OUT_OF_MEMORY", since: Date.now() - kEnded, limit: 500, fields: "id,label,name,state,exit_text" }),
    get("/v1/Ping")]);
  const own = cluster.warnings.map((warning) => ({ level: "bad", what: "controller", href: "#overview", text: warning.text }));
  const order = { bad: 0, warn: 1 };
  return [...own, ...ofNodes(nodes.nodes), ...ofJobs(jobs.jobs), ...ofEnded(ended.jobs)].sort((a, b) => order[a.level] - order[b.level] || natural(a.what, b.what));
}

export function openAlerts() {
  const element = el("div", { class: "alerts-view" });
  return {
    element,
    onEvent: (event) => /^muster\.(node|job)\./.test(event.type),
    async refresh() {
      const alerts = await findAlerts();
      swap(element, card("Alerts", alerts.length === 0 ? empty("Nothing needs a look.") : el("ul", { class: "alerts" }, alerts.slice(0, 500).map((alert) =>
        el("li", { "data-level": alert.level }, el("b", { class: "hidden" }, alert.level === "bad" ? "error " : "warning "),
          el("a", { href: alert.href }, isolate(alert.what)), " ", isolate(alert.text))))));
    },
  };
}
