// The frame: which view is shown, when it is drawn again, and what the header says.

import { Events, Problem, get, hasSession, login, logout } from "./api.js";
import { el, toast } from "./dom.js";
import { findAlerts, openAlerts } from "./alerts.js";
import { openJob } from "./job.js";
import { openGpus, openNode, openNodes } from "./nodes.js";
import { openOverview } from "./overview.js";
import { openPlan } from "./plan.js";
import { openHistory, openQueue } from "./queue.js";
import { openShares } from "./shares.js";
import { openSubmit } from "./submit.js";

const kViews = {
  overview: { title: "Overview", open: openOverview },
  queue: { title: "Queue", open: openQueue },
  history: { title: "History", open: openHistory },
  job: { title: "Job", open: openJob, under: "queue" },
  plan: { title: "Plan", open: openPlan },
  nodes: { title: "Nodes", open: openNodes },
  node: { title: "Node", open: openNode, under: "nodes" },
  gpus: { title: "GPUs", open: openGpus },
  shares: { title: "Shares", open: openShares },
  alerts: { title: "Alerts", open: openAlerts },
  submit: { title: "Submit", open: openSubmit },
};
const kLeastPause = 700; // between two readings of a view that events ask for
const kPoll = 10000; // what changes without an event: use, clocks, reasons

const main = document.getElementById("view");
let current = null; // the view that is shown
let timer = 0;
let due = 0;
let reading = false;

function where() {
  const [path, search] = location.hash.slice(1).split("?");
  const [name, ...rest] = path.split("/");
  let id = rest.join("/");
  try {
    id = decodeURIComponent(id);
  } catch { /* as it stands there */ }
  return { name: Object.hasOwn(kViews, name) ? name : "overview", id, query: new URLSearchParams(search || "") };
}

function mark(name) {
  const under = kViews[name].under || name;
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.hash === "#" + under) {
      link.setAttribute("aria-current", "page");
    } else {
      link.removeAttribute("aria-current");
    }
  }
}

function say(problem) {
  if (problem.status === 401) {
    logout();
    return el("div", { class: "welcome", role: "alert" }, el("h2", null, "No session, or it has ended"),
      el("p", null, "Open the link that this command prints:"), el("pre", null, "muster web"));
  }
  return el("p", { class: "said", role: "alert" }, problem.message);
}

// Reads the view again soon, however many events ask for it.
function schedule(wait) {
  const at = performance.now() + wait;
  if (due && due <= at) {
    return;
  }
  clearTimeout(timer);
  due = at;
  timer = setTimeout(refresh, wait);
}

async function refresh() {
  due = 0;
  const view = current;
  if (!view || reading) {
    if (view) {
      view.asked = true;
    }
    return;
  }
  if (document.hidden && view.drawn) {
    schedule(kPoll);
    return;
  }
  reading = true;
  const begin = performance.now();
  try {
    await view.refresh();
    view.drawn = true;
    view.failed?.remove();
    view.failed = null;
  } catch (problem) {
    if (view === current) {
      view.failed?.remove();
      view.failed = say(problem);
      if (problem.status === 401 || problem.status === 404 || !view.drawn) {
        view.element.replaceChildren(view.failed);
      } else {
        view.element.prepend(view.failed);
      }
    }
    if (!(problem instanceof Problem)) {
      throw problem;
    }
  } finally {
    reading = false;
    if (view === current) {
      view.took = performance.now() - begin;
      main.dataset.drawn = view.name;
      schedule(view.asked ? Math.max(kLeastPause, view.took * 4) : view.poll || kPoll);
      view.asked = false;
    } else {
      schedule(0);
    }
  }
}

function show(focus) {
  const { name, id, query } = where();
  if (current && current.name === name && current.id === id && current.navigate?.(query)) {
    return;
  }
  current?.close?.();
  mark(name);
  current = kViews[name].open({ id, query, again: () => schedule(0) });
  Object.assign(current, { name, id });
  document.title = (id ? kViews[name].title + " " + id : kViews[name].title) + " · Muster";
  delete main.dataset.drawn;
  main.replaceChildren(current.element);
  window.scrollTo(0, 0);
  if (focus) {
    main.focus({ preventScroll: true });
  }
  schedule(0);
}

function onEvent(event) {
  if (current?.onEvent?.(event) ?? true) {
    current.asked = true;
    schedule(reading ? kLeastPause : Math.max(kLeastPause, (current.took || 0) * 4));
  }
  if (event.type.startsWith("muster.alert.")) {
    countAlerts();
  }
}

function onState(state) {
  const live = document.getElementById("live");
  const texts = { live: "live", lost: "reconnecting", off: "no session" };
  if (live.dataset.state === "lost" && state === "live") {
    schedule(0);
    greet();
  }
  live.dataset.state = state;
  document.getElementById("live-text").textContent = texts[state];
}

async function countAlerts() {
  try {
    const alerts = await findAlerts();
    const count = document.getElementById("alert-count");
    count.hidden = alerts.length === 0;
    count.textContent = String(alerts.length);
  } catch { /* the view says what is wrong */ }
}

async function greet() {
  try {
    const status = await get("/v1/ping");
    document.getElementById("cluster").textContent = status.cluster + " · " + status.version;
  } catch { /* the view says it */ }
}

// Colours: as the system has them, or as chosen here.
function theme() {
  const button = document.getElementById("theme");
  const names = { "": "as the system has them", light: "light", dark: "dark" };
  const apply = (choice) => {
    document.documentElement.dataset.theme = choice;
    button.setAttribute("aria-label", "Colours: " + names[choice]);
    button.title = "Colours: " + names[choice];
    window.dispatchEvent(new Event("themechange"));
  };
  apply(localStorage.getItem("theme") || "");
  button.addEventListener("click", () => {
    const order = ["", "light", "dark"];
    const next = order[(order.indexOf(document.documentElement.dataset.theme) + 1) % order.length];
    localStorage.setItem("theme", next);
    apply(next);
  });
}

const kKeys = { o: "overview", q: "queue", h: "history", p: "plan", n: "nodes", g: "gpus", s: "shares", a: "alerts" };
let gone = 0; // when "g" was pressed: "g q" goes to the queue

function onKey(event) {
  const typing = event.target.closest("input,textarea,select,dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  if (event.key === "/") {
    const search = document.querySelector("input[type=search]");
    if (search) {
      event.preventDefault();
      search.focus();
    }
  } else if (event.key === "g" && Date.now() - gone > 1500) {
    gone = Date.now();
  } else if (Date.now() - gone < 1500 && Object.hasOwn(kKeys, event.key)) {
    gone = 0;
    location.hash = kKeys[event.key];
  }
}

let events = null;
async function begin() {
  try {
    await login();
  } catch (problem) {
    main.replaceChildren(el("div", { class: "welcome", role: "alert" }, el("h2", null, "This link opens nothing"),
      el("p", null, problem.message)));
    return;
  }
  if (!hasSession()) {
    main.replaceChildren(say(new Problem(401, "")));
    onState("off");
    return;
  }
  greet();
  show(false);
  countAlerts();
  events?.stop();
  events = new Events(onEvent, onState);
  events.run();
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", () => (location.hash.startsWith("#login=") ? begin() : show(true)));
window.addEventListener("keydown", onKey);
document.addEventListener("visibilitychange", () => !document.hidden && schedule(0));
window.addEventListener("unhandledrejection", (event) => toast(String(event.reason?.message || event.reason), true));
setInterval(countAlerts, 60000);
theme();
begin();
