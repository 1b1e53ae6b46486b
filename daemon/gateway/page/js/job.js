// One job: its life as a line, why it waits, where each rank is, what it used, and what can be done with it.

import { get } from "./api.js";
import { act } from "./act.js";
import { curve, tint, isDark } from "./charts.js";
import { bytes, card, clock, el, empty, facts, isolate, number, pill, plural, sentence, span, svg, swap, table, when } from "./dom.js";
import { indices, machinePicture } from "./nodes.js";
import { OutputTail } from "./output.js";

const kWidth = 640;
const kNodesDrawn = 8;
const kRanksListed = 512;

// Its life: waiting, each attempt, what was suspended or lost, up to now or to its promised start.
function timeline(job, attempts) {
  const now = Date.now();
  const ended = Number(job.end_time);
  const begin = Number(job.submit_time);
  const limit = Number(job.time_limit);
  const running = attempts.find((attempt) => !Number(attempt.end_time));
  const suspensions = attempts.reduce((count, attempt) => count + attempt.suspensions.length, 0);
  const expected = Number(job.expected_start);
  const goes = running && limit ? Number(running.start_time) + limit : 0;
  const end = Math.max(ended || now, expected, goes, begin + 1000);
  const x = (time) => (kWidth * (Number(time) - begin)) / (end - begin);
  const bar = (from, to, kind, title) => {
    const rect = svg("rect", { x: x(from), width: Math.max(1.5, x(to) - x(from)), y: 8, height: 22, rx: 4, class: "life " + kind });
    rect.append(svg("title", null, title));
    return rect;
  };
  const parts = [];
  let from = begin;
  for (const attempt of attempts) {
    const start = Number(attempt.start_time);
    const stop = Number(attempt.end_time) || now;
    parts.push(bar(from, start, "waits", "waiting " + span(start - from)));
    parts.push(bar(start, stop, Number(attempt.end_time) ? (attempt.exit?.code || attempt.exit?.signal ? "failed" : "ran") : "runs",
      `attempt ${attempt.number}: ${span(stop - start)}${attempt.cause ? ", " + attempt.cause : ""}`));
    for (const one of attempt.suspensions) {
      const until = Number(one.end) || stop;
      parts.push(bar(Number(one.begin), until, "suspended",
        [`suspended ${clock(one.begin)} to ${Number(one.end) ? clock(one.end) : "now"}, ${span(until - Number(one.begin))}`, one.text].filter(Boolean).join(": ")));
    }
    if (Number(attempt.lost) > 0) {
      parts.push(bar(Math.max(start, stop - Number(attempt.lost)), stop, "lost", "to be done again: " + span(attempt.lost)));
    }
    const saved = Number(attempt.checkpoints?.committed);
    if (saved > start) {
      parts.push(svg("circle", { class: "saved", cx: x(saved), cy: 19, r: 4 }, svg("title", null, "last checkpoint " + clock(saved))));
    }
    from = stop;
  }
  if (!running && !ended) {
    parts.push(bar(from, now, "waits", "waiting " + span(now - from)));
    if (expected > now) {
      parts.push(bar(now, expected, "promised", "promised start " + clock(expected)));
    }
  }
  if (goes > now) {
    parts.push(bar(now, goes, "left", span(goes - now) + " left"));
  }
  if (!ended && end > now) {
    parts.push(svg("line", { class: "now", x1: x(now), x2: x(now), y1: 2, y2: 36 }));
  }
  return el("figure", { class: "timeline" }, svg("svg", { viewBox: `0 0 ${kWidth} 38`, preserveAspectRatio: "none", role: "img",
    "aria-label": "submitted, " + plural(attempts.length, "attempt") + ", " +
      (suspensions ? plural(suspensions, "suspension") + ", " : "") + (ended ? "ended" : running ? "running" : "waiting") }, parts),
  el("figcaption", null, el("span", null, "submitted ", when(begin)),
    ended ? el("span", null, "ended ", when(ended)) : expected > now ? el("span", null, "promised start ", when(expected))
      : goes ? el("span", null, "limit ", when(goes)) : null));
}

function whyItWaits(job, answer) {
  const suggestions = answer.suggestions || [];
  const promised = Number(job.expected_start);
  const lacks = answer.nodes.filter((node) => !node.fits);
  const terms = answer.priority?.terms || [];
  return card("Why it waits", el("p", { class: "lead" }, sentence(answer.summary || job.reason?.text || "")),
    promised > Date.now() ? el("p", null, "It starts at the latest ", when(promised), ", in " + span(promised - Date.now()) + ".") : null,
    suggestions.length ? [el("h3", null, "What would start it sooner"), el("ul", { class: "plain" }, suggestions.map((one) =>
      el("li", null, sentence(one.change), ": ", Number(one.start) > Date.now() + 1000 ? when(one.start) : "now")))] : null,
    terms.length ? el("details", { "data-key": "priority" }, el("summary", null, "Priority " + number(answer.priority.total)),
      table(["Term", "Weight", "Factor", "Points"], terms.map((term) => [term.name, number(term.weight),
        (term.factor / 1e9).toFixed(3), number(term.points)]), "Priority")) : null,
    lacks.length ? el("details", { "data-key": "lacks" }, el("summary", null, "What " + plural(lacks.length, "node") + " lack" + (lacks.length === 1 ? "s" : "")),
      table(["Node", "Lacks"], lacks.slice(0, 500).map((node) => [node.node, node.text]), "What nodes lack")) : null);
}

const verdictIcon = { verified: "✓", differs: "✗", "not enforced": "–", unread: "…", unreadable: "?" };

// Which of `all` are shown, from the first of `from` on, and the buttons to those before and after.
function pager(key, noun, from, shown, all, turn) {
  const button = (label, to, there) => el("button", { type: "button", "data-key": key + "-" + label, disabled: !there,
    "aria-label": label + " " + noun + "s", onclick: () => turn(to) }, label);
  return all <= shown && from === 0 ? null : el("div", { class: "pager", role: "group", "aria-label": noun + "s" },
    button("previous", Math.max(0, from - shown), from > 0),
    el("span", null, from < all ? noun + "s " + number(from + 1) + " to " + number(Math.min(all, from + shown)) + " of " + number(all) : plural(all, noun)),
    button("next", from + shown, from + shown < all));
}

function ranksOf(attempt, pages) {
  return [pager("ranks-" + attempt.number, "rank", pages.ranks, kRanksListed, attempt.rank_count, pages.turnRanks),
    attempt.ranks_differ ? el("p", { class: "faint" }, number(attempt.ranks_differ) + " differ from the plan") : null,
  table(["Rank", "Node", "CPUs", "Memory", "GPUs", "NIC", "Found", ""], attempt.ranks.map((rank) =>
    [(rank.step ? rank.step + "." : "script ") + rank.rank, el("a", { href: "#node/" + encodeURIComponent(rank.node) }, isolate(rank.node)),
      rank.cpus, rank.mem_nodes, rank.gpus.map((gpu) => gpu.slice(0, 12)).join(", "), rank.nic, rank.found_cpus,
      el("span", { class: "verdict", "data-verdict": rank.verdict, title: rank.text },
        el("span", { "aria-hidden": "true" }, verdictIcon[rank.verdict] || ""), " " + rank.verdict)]), "Ranks of attempt " + attempt.number)];
}

// The nodes of the ranks that are listed.
function nodesOf(attempt) {
  return [...new Set(attempt.ranks.map((rank) => rank.node))];
}

// Some of these nodes, each with its ranks in colours: where they were planned, and where they are not.
function places(attempt, machines, pages) {
  const dark = isDark();
  const all = nodesOf(attempt);
  const drawn = all.slice(pages.nodes, pages.nodes + kNodesDrawn).filter((name) => machines.has(name)).map((name) => {
    const node = machines.get(name);
    const ranks = attempt.ranks.filter((rank) => rank.node === name);
    const cpus = new Map();
    const gpus = new Map();
    const nics = new Map();
    for (const rank of ranks) {
      const who = { name: "rank " + rank.rank, text: "rank " + rank.rank + ", " + rank.verdict, wrong: rank.verdict === "differs" };
      indices(rank.cpus).forEach((cpu) => cpus.set(cpu, who));
      rank.gpus.forEach((gpu) => gpus.set(gpu, who));
      if (rank.nic) {
        nics.set(rank.nic, who);
      }
    }
    const owner = (kind, thing) => (kind === "core" ? cpus.get(indices(thing.cpus)[0])
      : kind === "gpu" ? gpus.get(thing.uuid) : nics.get(thing.name));
    return el("div", { class: "place-of" }, el("h3", null, el("a", { href: "#node/" + encodeURIComponent(name) }, isolate(name)),
      el("small", null, " " + plural(ranks.length, "rank"))), machinePicture(node.machine, owner),
    el("p", { class: "legend" }, ranks.slice(0, 16).map((rank) => {
      const dot = el("i", { class: "cell" });
      dot.style.setProperty("background", tint("rank " + rank.rank, dark));
      return el("span", null, dot, "rank " + rank.rank);
    })));
  });
  return [pager("nodes-" + attempt.number, "node", pages.nodes, kNodesDrawn, all.length, pages.turnNodes),
    el("div", { class: "places" }, drawn)];
}

function suspensionList(attempt) {
  return attempt.suspensions.length ? el("ul", { class: "suspensions" }, attempt.suspensions.map((one) => el("li", null, when(one.begin), " to ",
    Number(one.end) ? [when(one.end), ", " + span(Number(one.end) - Number(one.begin))] : "now", one.text ? [": ", isolate(one.text)] : null))) : "";
}

function attemptCard(attempt, machines, last, pages) {
  const exit = attempt.exit || {};
  return card("Attempt " + attempt.number + (attempt.cause ? ": " + attempt.cause : ""),
    facts([["From", when(attempt.start_time)], ["To", when(attempt.end_time)], ["Nodes", attempt.nodes.join(", ")],
      ["Exit", exit.signal ? "signal " + exit.signal : exit.code ? "code " + exit.code : ""], ["Limits", attempt.limits],
      ["Suspended", Number(attempt.suspended) ? span(attempt.suspended) : ""], ["Suspensions", suspensionList(attempt)],
      ["GPU errors", (attempt.gpu_errors || []).join("; ")],
      ["Lost work", Number(attempt.lost) ? span(attempt.lost) : ""],
      ["Checkpoints", Number(attempt.checkpoints?.count) ? el("span", null, number(attempt.checkpoints.count) + ", the last ",
        when(attempt.checkpoints.committed), ", " + bytes(attempt.checkpoints.bytes)) : ""]]),
    last && machines.size ? places(attempt, machines, pages) : null,
    attempt.rank_count ? el("details", { "data-key": "ranks-" + attempt.number, open: last && attempt.rank_count <= 16 },
      el("summary", null, plural(attempt.rank_count, "rank") + ", where each was planned and found"), ranksOf(attempt, pages)) : null);
}

function curves(points, job) {
  const of = (key) => points.map((point) => ({ start: Number(point.start), span: Number(point.span), value: Number(point[key]) }));
  const has = (key) => points.some((point) => Number(point[key]) > 0);
  // What some nodes cannot tell: a point has it, or nothing.
  const told = (key) => points.filter((point) => point[key] !== undefined && point[key] !== null).map((point) =>
    ({ start: Number(point.start), span: Number(point.span), value: Number(point[key]) }));
  const optional = (key, title, all, say, colour) => {
    const known = told(key);
    return known.length ? curve({ title, points: known, all, say, colour }) : null;
  };
  const flow = (value) => bytes(value) + "/s";
  const share = (value) => Math.round(value * 100) + " %";
  const rate = (value) => (value < 10 ? Math.round(value * 100) / 100 : Math.round(value)).toLocaleString();
  return card("What it used", el("div", { class: "charts" },
    curve({ title: "CPUs busy", points: of("cpus"), all: job.cpus, say: rate, colour: "a" }),
    curve({ title: "Memory", points: of("memory"), all: Number(job.memory), say: bytes, colour: "b" }),
    job.gpus ? curve({ title: "GPUs busy", points: of("gpus"), all: job.gpus, say: rate, colour: "c" }) : null,
    has("gpu_memory") ? curve({ title: "GPU memory, of the fullest", points: of("gpu_memory"), all: 0, say: bytes, colour: "d" }) : null,
    optional("watts", "Power", 0, (watts) => rate(watts) + " W", "e"),
    optional("read", "Read from storage", 0, flow, "a"),
    optional("written", "Written to storage", 0, flow, "b"),
    optional("io_blocked", "Nodes on which it waits for storage", 0, rate, "d"),
    optional("sm_active", "SMs of its GPUs with work", 1, share, "c"),
    optional("tensor_active", "Tensor cores at work", 1, share, "c"),
    optional("dram_active", "GPU memory bandwidth", 1, share, "d"),
    optional("link", "NVLink and PCIe, of one GPU", 0, flow, "e"),
    optional("sent", "Sent to other machines", 0, flow, "a"),
    optional("received", "Received from other machines", 0, flow, "b"),
    optional("net_blocked", "Nodes whose network is busy", 0, rate, "d")));
}

// What its programs say themselves: muster report.
function reportedCurves(reported) {
  const drawn = reported.filter((one) => one.points.length > 1);
  const say = (value) => Number(Number(value).toPrecision(4)).toLocaleString(undefined, { maximumSignificantDigits: 4 });
  return reported.length === 0 ? null : card("What it reports", facts(reported.map((one) => [one.name, el("span", null, String(one.last), ", ", when(one.time))])),
    el("div", { class: "charts" }, drawn.map((one) => curve({ title: one.name, all: 0, say, colour: "c",
      points: one.points.map((point) => ({ start: Number(point.start), span: Number(point.span), value: Number(point.last) })) }))));
}

function buttons(job, again) {
  const what = "job " + job.label;
  const button = (verb, danger) => el("button", { type: "button", "data-key": "do-" + verb, class: danger ? "danger" : "",
    onclick: () => act(verb, [{ job: job.id }], what, again) }, verb[0].toUpperCase() + verb.slice(1));
  if (Number(job.end_time) > 0) {
    return null;
  }
  const held = job.reason?.kind?.startsWith("JobHeld");
  return [job.state === "PENDING" ? button(held ? "release" : "hold") : button("requeue", true), button("cancel", true)];
}

export function openJob({ id, again }) {
  const element = el("div", { class: "job-view" });
  const machines = new Map();
  const output = new OutputTail();
  const pages = { ranks: 0, nodes: 0,
    turnRanks: (from) => { pages.ranks = from; pages.nodes = 0; again(); },
    turnNodes: (from) => { pages.nodes = from; again(); } };

  async function readMachines(attempt) {
    const shown = attempt ? nodesOf(attempt).slice(pages.nodes, pages.nodes + kNodesDrawn) : [];
    const wanted = shown.filter((name) => !machines.has(name));
    if (wanted.length) {
      const list = await get("/v1/nodes", { name: wanted.join(","), with_machine: "true" }).catch(() => ({ nodes: [] }));
      list.nodes.forEach((node) => machines.set(node.name, node));
    }
  }

  function draw(detail, answer, points, reported, others) {
    const job = detail.job;
    const attempts = detail.attempts;
    swap(element,
      el("div", { class: "title" }, el("h2", null, "Job " + job.label + " ", isolate(job.name)), pill(job.state),
        el("span", { class: "grow" }), buttons(job, again)),
      job.alert ? el("p", { class: "said", role: "alert" }, isolate(job.alert)) : null,
      job.warnings.map((warning) => el("p", { class: "said", role: "alert" }, isolate(warning.text))),
      card("", timeline(job, attempts)),
      answer ? whyItWaits(job, answer) : null,
      el("div", { class: "columns two" },
        card("What it is", facts([["User", job.user], ["Account", job.account], ["Partition", job.partition], ["QOS", job.qos],
          ["Command", detail.command.join(" ")], ["Directory", detail.work_dir], ["Output", detail.stdout_path],
          ["Errors", detail.stderr_path && detail.stderr_path !== detail.stdout_path ? detail.stderr_path : ""], ["Comment", job.comment],
          ["Dependency", job.dependency], ["Elastic", detail.elastic], ["Without effect", detail.recorded.join(", ")]])),
        card(Number(job.start_time) ? "What it has" : "What it asks", facts([["Nodes", job.nodes.length ? job.nodes.join(", ") : String(job.node_count || "")],
          ["Tasks", number(job.tasks)], ["CPUs", number(job.cpus)], ["Memory", Number(job.memory) ? bytes(job.memory) : ""], ["GPUs", job.gpus ? number(job.gpus) : ""],
          ["Time limit", Number(job.time_limit) ? span(job.time_limit) : "none"], ["Features", detail.constraint], ["Licenses", job.licenses],
          ["Binding", job.binding], ["Checkpoints", detail.checkpoint_interval], ["Restarts", job.restarts ? number(job.restarts) : ""],
          ["How it ended", job.exit_text]]))),
      output.element,
      points.length > 1 ? curves(points, job) : Number(job.start_time) && !Number(job.end_time) ? card("What it used", empty("The first sample comes some seconds after its start.")) : null,
      reportedCurves(reported),
      [...attempts].reverse().map((attempt, i) => attemptCard(attempt, machines, i === 0, pages)),
      detail.steps.length ? card("Steps", table(["Step", "Name", "State", "Nodes", "Tasks", "CPUs", "Start", "Took", ""], detail.steps.map((step) =>
        [step.attempt > 1 ? step.attempt + "." + step.step : String(step.step), step.name, pill(step.state), step.nodes, number(step.tasks), number(step.cpus),
          when(step.start_time), Number(step.start_time) ? span((Number(step.end_time) || Date.now()) - Number(step.start_time)) : "", step.text]), "Steps")) : null,
      others.length ? card("The array", el("p", { class: "elements" }, others.slice(0, 200).map((one) =>
        el("a", { href: "#job/" + one.job.id, class: "element", "data-state": one.job.state, title: one.job.label + " " + one.job.state.toLowerCase() }, one.job.array_task_id)))) : null);
  }

  return {
    element,
    poll: 5000,
    onEvent: (event) => String(event.data.job) === id || String(event.data.array_job) === id,
    async refresh() {
      const jobs = (await get("/v1/jobs/" + encodeURIComponent(id),
        { ranks_from: pages.ranks || "", ranks_limit: kRanksListed })).jobs;
      const detail = jobs.find((one) => String(one.job.id) === id) || jobs[0];
      const waits = detail.job.state === "PENDING";
      const [answer, curve] = await Promise.all([
        waits ? get("/v1/jobs/" + encodeURIComponent(id) + "/explanation").catch(() => null) : null,
        waits ? null : get("/v1/jobs/" + encodeURIComponent(id) + "/curve").catch(() => null),
        readMachines(detail.attempts.at(-1))]);
      const own = curve?.curves.find((one) => String(one.job) === String(detail.job.id));
      const place = output.text.scrollTop;
      draw(detail, answer, own?.points || [], own?.reported || [], jobs.length > 1 ? jobs : []);
      output.text.scrollTop = place;
      output.watch(detail.job);
    },
    close: () => output.close(),
  };
}
