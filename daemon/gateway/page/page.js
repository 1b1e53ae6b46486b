// The page: overview, queue, a job, nodes. It reads /v1 with the session that a link of `muster web` opened.
//
// Every text of the cluster goes into the page as text, never as markup.
"use strict";

const kRefresh = 3000;
const kRowsMax = 500;
const view = document.getElementById("view");
let timer = 0;
let shown = 0; // the number of the view, so that a late answer of another one is dropped

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const bearer = () => sessionStorage.getItem("session") || "";

async function read(path) {
  const answer = await fetch(path, { headers: { Authorization: "Bearer " + bearer() } });
  const body = await answer.json();
  if (!answer.ok) {
    const problem = new Error(body.detail || answer.statusText);
    problem.status = answer.status;
    throw problem;
  }
  return body;
}

// A link of `muster web` is "#login=CODE": the code is brought once, and goes from the address line.
async function login() {
  const code = new URLSearchParams(location.hash.slice(1)).get("login");
  if (!code) {
    return;
  }
  history.replaceState(null, "", location.pathname + "#overview");
  const answer = await fetch("/session", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }) });
  const body = await answer.json();
  if (answer.ok) {
    sessionStorage.setItem("session", body.session);
  } else {
    throw new Error(body.detail);
  }
}

const when = (ms) => (Number(ms) > 0 ? new Date(Number(ms)).toLocaleString() : "");

function span(ms) {
  const seconds = Math.max(0, Math.round(Number(ms) / 1000));
  const days = Math.floor(seconds / 86400);
  const clock = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60]
    .map((part) => String(part).padStart(2, "0")).join(":");
  return (days ? days + "-" : "") + clock;
}

function bytes(count) {
  let amount = Number(count);
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (amount < 1024) {
      return Math.round(amount * 10) / 10 + " " + unit;
    }
    amount /= 1024;
  }
  return Math.round(amount * 10) / 10 + " TiB";
}

const state = (name) => element("span", { class: name.split("+")[0] }, name);
const jobLink = (job) => element("a", { href: "#job/" + encodeURIComponent(job.id) }, job.label || String(job.id));

function table(titles, rows) {
  const head = element("tr", null, ...titles.map((title) => element("th", { scope: "col" }, title)));
  const lines = rows.map((row) => element("tr", null, ...row.map((cell) => element("td", null, cell))));
  return element("div", { class: "scroll" },
    element("table", null, element("thead", null, head), element("tbody", null, ...lines)));
}

function figure(value, name) {
  return element("div", { class: "figure" }, element("b", null, String(value)), name);
}

function share(taken, all, name) {
  return element("div", { class: "figure" }, element("b", null, taken + " / " + all), name + " ",
    element("progress", { max: String(all || 1), value: String(taken), "aria-label": name + " taken" }));
}

function jobRows(jobs) {
  const now = Date.now();
  return jobs.slice(0, kRowsMax).map((job) => {
    const started = Number(job.start_time) > 0;
    const since = Number(started ? job.start_time : job.submit_time);
    return [jobLink(job), job.name, job.user, job.partition, state(job.state),
      since > 0 ? span((Number(job.end_time) || now) - since) : "", String(job.cpus), String(job.gpus),
      started ? job.nodes.join(",") : job.reason ? job.reason.text : ""];
  });
}

const kJobTitles = ["Job", "Name", "User", "Partition", "State", "For", "CPUs", "GPUs", "Where, or why not"];

async function overview() {
  const [jobs, nodes] = await Promise.all([read("/v1/jobs?fold=true"), read("/v1/nodes")]);
  const sum = (key) => nodes.nodes.reduce((total, node) => total + Number(node[key]), 0);
  const count = (name) => jobs.jobs.filter((job) => job.state === name).length;
  const waiting = jobs.jobs.filter((job) => job.state === "PENDING");
  return [
    element("div", { class: "figures" }, figure(count("RUNNING"), "running"), figure(waiting.length, "waiting"),
      figure(nodes.nodes.length, "nodes"), share(sum("cpus_taken"), sum("cpus"), "CPUs"),
      sum("gpus") ? share(sum("gpus_taken"), sum("gpus"), "GPUs") : null),
    element("h2", null, "Running"),
    table(kJobTitles, jobRows(jobs.jobs.filter((job) => job.state !== "PENDING")).slice(0, 20)),
    element("h2", null, "Waiting"), table(kJobTitles, jobRows(waiting).slice(0, 20)),
  ];
}

// The filters live in the address: #queue?user=ada&state=PENDING.
async function queue(query) {
  const asked = new URLSearchParams({ fold: "true" });
  for (const key of ["user", "state"]) {
    if (query.get(key)) {
      asked.set(key, query.get(key));
    }
  }
  const jobs = (await read("/v1/jobs?" + asked)).jobs;
  const user = element("input", { name: "user", placeholder: "user", "aria-label": "User", value: query.get("user") || "" });
  const choice = element("select", { name: "state", "aria-label": "State" },
    ...["", "PENDING", "RUNNING", "SUSPENDED", "COMPLETING"].map((name) => element("option",
      name === (query.get("state") || "") ? { value: name, selected: "" } : { value: name }, name || "any state")));
  const form = element("form", { role: "search" }, user, choice, element("button", null, "Show"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const said = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    location.hash = "queue" + (String(said) ? "?" + said : "");
  });
  const more = jobs.length > kRowsMax ? element("p", null, jobs.length - kRowsMax + " more") : null;
  return [form, table(kJobTitles, jobRows(jobs)), more];
}

function facts(pairs) {
  return element("dl", null, ...pairs.filter(([, value]) => value !== "" && value !== undefined && value !== null)
    .flatMap(([name, value]) => [element("dt", null, name), element("dd", null, value)]));
}

async function job(query, id) {
  const detail = (await read("/v1/jobs/" + encodeURIComponent(id))).jobs[0];
  const seen = detail.job;
  const parts = [
    element("h2", null, "Job " + seen.label + " " + seen.name),
    facts([["State", state(seen.state)], ["User", seen.user], ["Account", seen.account], ["Partition", seen.partition],
      ["Reason", seen.reason ? seen.reason.text : ""], ["Submitted", when(seen.submit_time)], ["Started", when(seen.start_time)],
      ["Ended", when(seen.end_time)], ["Expected start", when(seen.expected_start)],
      ["Time limit", Number(seen.time_limit) > 0 ? span(seen.time_limit) : ""], ["Nodes", seen.nodes.join(", ")],
      ["Tasks", String(seen.tasks)], ["CPUs", String(seen.cpus)], ["GPUs", String(seen.gpus)], ["Memory", bytes(seen.memory)],
      ["Binding", seen.binding], ["Exit", seen.exit_text], ["Output", detail.stdout_path], ["Command", (detail.command || []).join(" ")]]),
  ];
  if (seen.state === "PENDING") {
    const answer = await read("/v1/jobs/" + encodeURIComponent(id) + "/explanation");
    parts.push(element("h2", null, "Why it waits"), element("p", null, answer.summary),
      table(["Node", "Lacks"], answer.nodes.map((node) => [node.node, node.text])));
  }
  for (const attempt of detail.attempts) {
    parts.push(element("h2", null, "Attempt " + attempt.number),
      facts([["From", when(attempt.start_time)], ["To", when(attempt.end_time)], ["Nodes", attempt.nodes.join(", ")]]));
    if (attempt.ranks.length) {
      parts.push(table(["Rank", "Node", "CPUs", "Memory", "GPUs", "Verdict"], attempt.ranks.slice(0, kRowsMax).map((rank) =>
        [rank.step + "." + rank.rank, rank.node, rank.cpus, rank.mem_nodes, rank.gpus.join(","), rank.verdict])));
    }
  }
  return parts;
}

async function nodes() {
  const list = (await read("/v1/nodes")).nodes;
  return [table(["Node", "State", "CPUs", "Memory", "GPUs", "Health", "Reason"], list.slice(0, 2000).map((node) =>
    [node.name, state(node.state), node.cpus_taken + " / " + node.cpus, bytes(node.memory_taken) + " / " + bytes(node.memory),
      node.gpus ? node.gpus_taken + " / " + node.gpus : "", node.health, node.reason]))];
}

const kViews = { overview, queue, job, nodes };

async function show(again) {
  const number = again ? shown : ++shown;
  clearTimeout(timer);
  const [path, search] = location.hash.slice(1).split("?");
  const [name, id] = path.split("/");
  const make = Object.hasOwn(kViews, name) ? kViews[name] : overview;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash.slice(1) === (make === job ? "queue" : make.name)) {
      link.setAttribute("aria-current", "page");
    } else {
      link.removeAttribute("aria-current");
    }
  }
  let parts;
  try {
    parts = await make(new URLSearchParams(search || ""), id ? decodeURIComponent(id) : "");
    const status = await read("/v1/ping");
    document.getElementById("cluster").textContent = status.cluster + " " + status.version;
  } catch (problem) {
    parts = [element("p", { class: "said", role: "alert" }, problem.status === 401
      ? "No session, or it has ended. Open the link that `muster web` prints." : String(problem.message))];
  }
  if (number !== shown) {
    return;
  }
  if (!again || !view.contains(document.activeElement) || document.activeElement === view) {
    view.replaceChildren(...parts.filter((part) => part !== null));
  }
  if (!again) {
    view.focus();
  }
  timer = setTimeout(() => show(true), kRefresh);
}

window.addEventListener("hashchange", () => (location.hash.startsWith("#login=") ? begin() : show(false)));

async function begin() {
  try {
    await login();
  } catch (problem) {
    view.replaceChildren(element("p", { class: "said", role: "alert" }, String(problem.message)));
    return;
  }
  show(false);
}
begin();
