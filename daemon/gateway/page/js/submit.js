// A job from the page: a script, and what it asks for.

import { post } from "./api.js";
import { el, span, swap, toast, when } from "./dom.js";

const kUnits = { K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

function readBytes(text) {
  const found = /^\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*$/i.exec(text);
  if (!found) {
    throw new Error(text + " is no amount of memory: write 4G or 500M");
  }
  return Math.round(Number(found[1]) * (kUnits[found[2].toUpperCase()] || kUnits.M));
}

function readTime(text) {
  const found = /^(?:(\d+)-)?(?:(\d+):)?(\d+)(?::(\d+))?$/.exec(text.trim());
  const words = /^(\d+(?:\.\d+)?)\s*(s|m|min|h|d)$/.exec(text.trim());
  if (words) {
    return Math.round(Number(words[1]) * { s: 1e3, m: 60e3, min: 60e3, h: 3600e3, d: 86400e3 }[words[2]]);
  }
  if (!found) {
    throw new Error(text + " is no time: write 30m, 2h or 1:30:00");
  }
  const [, days, hours, minutes, seconds] = found.map((part) => Number(part) || 0);
  return found[2] === undefined && found[4] === undefined ? minutes * 60e3
    : ((days * 24 + hours) * 3600 + minutes * 60 + seconds) * 1e3;
}

const token = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function requestOf(form) {
  const said = Object.fromEntries(new FormData(form));
  const request = { min_nodes: Number(said.nodes), tasks: Number(said.tasks), cpus_per_task: Number(said.cpus) };
  if (said.memory) {
    request.memory_per_node = readBytes(said.memory);
  }
  if (Number(said.gpus)) {
    request.gpus = { count: Number(said.gpus) };
  }
  const spec = { kind: "JOB_KIND_BATCH", name: said.name || "page", request, partition: said.partition, held: said.held === "on" };
  if (said.time) {
    spec.time_limit = readTime(said.time);
  }
  const script = said.script.replaceAll("\r\n", "\n");
  return { token: token(), spec, program: { script: script.startsWith("#!") ? script : "#!/bin/sh\n" + script, argv: [spec.name], work_dir: said.directory,
    environment: ["PATH=/usr/local/bin:/usr/bin:/bin"], umask: 0o022 } };
}

function field(label, input, hint) {
  return el("label", { class: "field" }, el("span", null, label), input, hint ? el("small", null, hint) : null);
}

const count = (name, value, min) => el("input", { type: "number", name, value, min, max: 1000000, required: true, inputmode: "numeric" });

export function openSubmit() {
  const answer = el("div", { role: "status", class: "forecast" });
  const form = el("form", { class: "submit", onsubmit: (event) => send(event, "/v1/jobs") },
    field("Script", el("textarea", { name: "script", rows: 10, required: true, spellcheck: "false", autocomplete: "off" }, "#!/bin/sh\n")),
    el("div", { class: "fields" },
      field("Name", el("input", { name: "name", maxlength: 200, autocomplete: "off" })),
      field("Directory", el("input", { name: "directory", required: true, placeholder: "/home/you/project", pattern: "/.*", autocomplete: "off" }), "where it runs and writes"),
      field("Partition", el("input", { name: "partition", autocomplete: "off", placeholder: "the default" })),
      field("Nodes", count("nodes", 1, 1)), field("Tasks", count("tasks", 1, 1)), field("CPUs each", count("cpus", 1, 1)),
      field("Memory per node", el("input", { name: "memory", placeholder: "4G", autocomplete: "off" })), field("GPUs in all", count("gpus", 0, 0)),
      field("Time limit", el("input", { name: "time", placeholder: "1:00:00", autocomplete: "off" })),
      el("label", { class: "check" }, el("input", { type: "checkbox", name: "held" }), " held until released")),
    el("div", { class: "buttons" }, el("button", { type: "button", onclick: (event) => send(event, "/v1/TestSubmit") }, "When would it start?"),
      el("button", { class: "primary" }, "Submit")), answer);

  async function send(event, path) {
    event.preventDefault();
    if (!form.reportValidity()) {
      return;
    }
    try {
      const reply = await post(path, requestOf(form));
      if (path === "/v1/jobs") {
        toast("job " + reply.job + " is submitted");
        location.hash = "job/" + reply.job;
        return;
      }
      const start = Number(reply.start);
      swap(answer, el("p", null, reply.never ? "Never on this cluster as it is. " : start > Date.now() + 1000 ? ["It would start ", when(start), ", in " + span(start - Date.now()) + ". "]
        : start > 0 ? "It would start now. " : "When is not known. ", reply.reason, reply.nodes.length ? " On " + reply.nodes.slice(0, 8).join(", ") + "." : ""));
    } catch (problem) {
      swap(answer, el("p", { class: "said", role: "alert" }, problem.message));
    }
  }
  return { element: el("div", { class: "submit-view" }, el("section", { class: "card" }, el("h2", null, "A new job"), form)), onEvent: () => false, poll: 3600000, async refresh() {} };
}
