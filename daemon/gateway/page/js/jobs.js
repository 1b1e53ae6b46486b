// Jobs as the lists show them: what is read of them, and how a row of it looks.

import { bytes, el, isolate, natural, number, pill, sentence, span, when } from "./dom.js";

export const kJobFields = "id,label,array_job_id,name,user,account,state,reason,nodes,tasks,cpus,gpus,memory,submit_time," +
  "start_time,end_time,time_limit,partition,priority,expected_start,indices,alert,exit_text,node_count";

export const kWaiting = "PENDING";

// How many jobs a view stands for: the untouched elements of an array are one.
export function countOf(job) {
  return job.indices?.length ? job.indices.reduce((sum, run) =>
    sum + Math.floor((run.last - run.first) / (run.step || 1)) + 1, 0) : 1;
}

// Which jobs a call means by a row.
export function selectorOf(job) {
  if (!job.indices?.length) {
    return { job: job.id };
  }
  const elements = [];
  for (const run of job.indices) {
    for (let i = run.first; i <= run.last; i += run.step || 1) {
      elements.push(i);
    }
  }
  return { job: job.array_job_id, elements };
}

export function rowOf(job) {
  const text = [job.label, job.name, job.user, job.account, job.partition, job.state, job.reason?.text || "",
    job.nodes.join(" "), job.exit_text].join("\n").toLowerCase();
  return { key: job.label + (job.indices?.length ? "[]" : ""), title: "job " + job.label + " " + job.name, job, text,
    count: countOf(job) };
}

export function jobLink(job) {
  const count = countOf(job);
  return [el("a", { href: "#job/" + encodeURIComponent(job.id), "data-key": "job-" + job.label }, job.label),
    count > 1 ? el("small", { class: "count" }, " ×" + number(count)) : null];
}

// Where it runs, or why it does not.
export function placeOf(job) {
  if (job.nodes.length) {
    const shown = job.nodes.length > 3 ? job.nodes.slice(0, 2).join(", ") + ", … " + job.nodes.length + " nodes"
      : job.nodes.join(", ");
    return el("span", { title: job.nodes.join(", ") }, isolate(shown));
  }
  return job.reason?.text ? el("span", { class: "faint", title: job.reason.text }, sentence(job.reason.text)) : "";
}

function timeOf(job) {
  const now = Date.now();
  if (Number(job.start_time) > 0) {
    return (Number(job.end_time) || now) - Number(job.start_time);
  }
  return Number(job.submit_time) > 0 && !Number(job.end_time) ? now - Number(job.submit_time) : 0;
}

// How far it is through its time limit.
function elapsed(job) {
  const limit = Number(job.time_limit);
  const ran = timeOf(job);
  const text = span(ran);
  if (!(Number(job.start_time) > 0) || !(limit > 0) || Number(job.end_time) > 0) {
    return text;
  }
  const share = Math.min(1, ran / limit);
  return el("span", { class: "progress", vars: { share: share.toFixed(3) }, title: text + " of " + span(limit) }, text);
}

const by = (value) => (a, b) => {
  const x = value(a.job);
  const y = value(b.job);
  return typeof x === "number" ? x - y : natural(String(x), String(y));
};

export const kColumns = [
  { key: "id", title: "Job", width: "minmax(5.5rem,.8fr)", cell: (row) => jobLink(row.job), sort: by((job) => Number(job.id)) },
  { key: "name", title: "Name", width: "minmax(7rem,1.6fr)", cell: (row) => el("span", { title: row.job.name }, isolate(row.job.name)), sort: by((job) => job.name) },
  { key: "user", title: "User", width: "minmax(4rem,.9fr)", cell: (row) => isolate(row.job.user), sort: by((job) => job.user) },
  { key: "partition", title: "Partition", width: "minmax(4rem,.8fr)", cell: (row) => isolate(row.job.partition), sort: by((job) => job.partition), hide: "wide" },
  { key: "state", title: "State", width: "7.5rem", cell: (row) => pill(row.job.state), sort: by((job) => job.state) },
  { key: "time", title: "For", width: "6.5rem", cell: (row) => elapsed(row.job), sort: by(timeOf), number: true },
  { key: "cpus", title: "CPUs", width: "4rem", cell: (row) => number(row.job.cpus), sort: by((job) => job.cpus), number: true },
  { key: "gpus", title: "GPUs", width: "4rem", cell: (row) => (row.job.gpus ? number(row.job.gpus) : ""), sort: by((job) => job.gpus), number: true },
  { key: "memory", title: "Memory", width: "5.5rem", cell: (row) => (Number(row.job.memory) ? bytes(row.job.memory) : ""), sort: by((job) => Number(job.memory)), number: true, hide: "wide" },
];

export const kQueueColumns = [...kColumns,
  { key: "start", title: "Starts", width: "6.5rem", hide: "wide", number: true,
    cell: (row) => (Number(row.job.expected_start) > 0 ? when(row.job.expected_start) : ""),
    sort: by((job) => Number(job.expected_start) || Number.MAX_SAFE_INTEGER) },
  { key: "place", title: "Where, or why not", width: "minmax(9rem,2.4fr)", cell: (row) => placeOf(row.job), sort: by((job) => job.nodes.join(",") || job.reason?.text || "") }];

export const kHistoryColumns = [...kColumns,
  { key: "end", title: "Ended", width: "8.5rem", cell: (row) => when(row.job.end_time), sort: by((job) => Number(job.end_time)), number: true },
  { key: "place", title: "How", width: "minmax(9rem,2fr)", cell: (row) => el("span", { title: row.job.exit_text },
    sentence(row.job.exit_text || row.job.nodes.join(", "))), sort: by((job) => job.exit_text) }];
