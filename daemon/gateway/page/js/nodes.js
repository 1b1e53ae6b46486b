// Nodes: by use, by health, and one in full; GPUs with who has which.

import { get } from "./api.js";
import { drain } from "./act.js";
import { isDark, tint } from "./charts.js";
import { bytes, card, el, empty, facts, isolate, meter, natural, number, pill, plural, sentence, svg, swap, table, when } from "./dom.js";
import { Grid } from "./grid.js";

export const kNodeFields = "id,name,state,reason,cores,cpus,cpus_taken,memory,memory_taken,gpus,gpus_taken,health,features,topology," +
  "gpu_layouts,first,second,by,since"; // of the narrow links

// The nodes by name, and the narrow links.
export async function readNodes(fields) {
  const answer = await get("/v1/nodes", { fields });
  answer.nodes.sort((a, b) => natural(a.name, b.name));
  return answer;
}

// Links between switches that jobs are kept off.
const linkName = (link) => link.first + " – " + link.second;
export function narrowTable(links) {
  return links.length === 0 ? null : table(["Narrow link", "Since", "By", "Reason"],
    links.map((link) => [linkName(link), when(link.since), link.by, sentence(link.reason)]), "Narrow links between switches");
}
// The switches to which these are joined by such a link.
function narrowTo(names, links) {
  return links.flatMap((link) => (names.includes(link.first) ? [link.second] : names.includes(link.second) ? [link.first] : []));
}

// GPUs that MIG divides: "4 x 1g.18gb and 1 x 3g.71gb" of the profiles of instances.
function instancesText(profiles) {
  const counts = new Map();
  for (const name of profiles) {
    counts.set(name, (counts.get(name) || 0) + 1);
  }
  return [...counts].map(([name, count]) => count + " x " + name).join(" and ");
}

const kPhases = { LAYOUT_PHASE_WANTED: "is to be", LAYOUT_PHASE_ORDERED: "is being", LAYOUT_PHASE_MADE: "was", LAYOUT_PHASE_FAILED: "could not be" };
// "is being divided into 7 x 1g.18gb for job 5", as `muster nodes` says it.
function layoutText(layout) {
  const what = layout.instances.length ? "divided into " + instancesText(layout.instances.map((one) => one.profile)) : "made whole";
  return kPhases[layout.phase] + " " + what + " for job " + layout.job + (layout.phase === "LAYOUT_PHASE_WANTED"
    ? " once the jobs there have ended" : layout.text ? ": " + layout.text : "");
}

// Why it is out of service, and which of its GPUs are divided.
const reasonOf = (node) => [node.reason, ...node.gpu_layouts.filter((one) => one.phase !== "LAYOUT_PHASE_MADE")
  .map((one) => "GPU " + one.os_index + " " + layoutText(one))].filter(Boolean).join("; ");

// A row for each GPU that is divided, or is to be: its number, its instances, and what becomes of it.
function divisions(node) {
  const found = new Map();
  const of = (uuid, number) => found.get(uuid) || found.set(uuid, { number, profiles: [], text: "" }).get(uuid);
  for (const gpu of node.machine?.gpus || []) {
    if (gpu.parent) {
      of(gpu.parent, gpu.os_index).profiles.push(gpu.instance);
    }
  }
  for (const layout of node.gpu_layouts) {
    of(layout.gpu, layout.os_index).text = layoutText(layout);
  }
  return [...found.values()].sort((a, b) => a.number - b.number)
    .map((one) => [String(one.number), instancesText(one.profiles) || "whole", one.text]);
}

const kWhole = 1000; // shares are in thousandths
const useOf = (node) => Math.max(node.cpus ? node.cpus_taken / node.cpus : 0, node.gpus ? node.gpus_taken / node.gpus : 0);
const isDown = (node) => node.state.startsWith("DOWN");
const isDrained = (node) => node.state.includes("+DRAIN");

function nodeTitle(node) {
  return [node.name, node.state.toLowerCase(), node.cpus_taken + "/" + node.cpus + " CPUs",
    node.gpus ? node.gpus_taken + "/" + node.gpus + " GPUs" : "", node.health, reasonOf(node)].filter(Boolean).join(" · ");
}

// "rack1-n07" belongs to "rack1-n".
const prefixOf = (name) => name.replace(/\d+$/, "") || name;

function cellsOf(nodes, small) {
  return el("div", { class: "cells" }, nodes.map((node) => el("a", { href: "#node/" + encodeURIComponent(node.name),
    class: "cell", "data-state": isDown(node) ? "down" : isDrained(node) ? "drained" : "up", title: nodeTitle(node),
    "aria-label": nodeTitle(node), vars: { use: useOf(node).toFixed(2) } }, small ? null : isolate(node.name))));
}

// The tree of switches above the nodes: { name, below, nodes, count, use }.
function switchTree(nodes) {
  const made = (name) => ({ name, below: new Map(), nodes: [], count: 0, use: 0 });
  const root = made("");
  for (const node of nodes) {
    let at = root;
    for (const name of node.topology.length ? node.topology : ["on no map"]) {
      if (!at.below.has(name)) {
        at.below.set(name, made(name));
      }
      at = at.below.get(name);
      at.count += 1;
      at.use += useOf(node);
    }
    at.nodes.push(node);
  }
  return root;
}

// A switch with what is below it; one that has a single switch below it and no node stands before that one's name.
function drawSwitch(found, links, small, depth) {
  let one = found;
  const names = [one.name];
  while (one.below.size === 1 && one.nodes.length === 0) {
    one = [...one.below.values()][0];
    names.push(one.name);
  }
  const below = [...one.below.values()].sort((a, b) => natural(a.name, b.name));
  const far = narrowTo(names, links).join(", ");
  const state = plural(one.count, "node") + ", " + Math.round((100 * one.use) / one.count) + " % in use" +
    (far ? ", narrow link to " + far : "");
  return el("div", { class: "heat-group" + (below.length ? " heat-switch" : ""), role: "group", "data-switch": one.name,
    "aria-label": names.join(" › ") + ", " + state },
  el("h" + Math.min(6, 3 + depth), null, isolate(names.join(" › ")), el("small", null, " ", isolate(state))),
  one.nodes.length ? cellsOf(one.nodes, small) : null,
  below.length ? el("div", { class: "heat-below" }, below.map((each) => drawSwitch(each, links, small, depth + 1))) : null);
}

// Every node as a cell: the fuller, the hotter; down and drained ones hatched. Below the switches of the cluster's
// network; where none is known, in groups by the names that they share.
export function heatMap(nodes, links) {
  const small = nodes.length > 200;
  const mapped = nodes.some((node) => node.topology.length > 0);
  return el("div", { class: "heat" + (small ? " small" : "") + (mapped ? " tree" : "") },
    mapped ? [...switchTree(nodes).below.values()].map((one) => drawSwitch(one, links, small, 0)) : byName(nodes, small),
    el("p", { class: "legend", "aria-hidden": "true" }, "idle", el("i", { class: "scale" }), "full",
      el("i", { class: "cell", "data-state": "drained" }), "drained", el("i", { class: "cell", "data-state": "down" }), "down"));
}

function byName(nodes, small) {
  const groups = new Map();
  for (const node of nodes) {
    const prefix = prefixOf(node.name);
    groups.set(prefix, [...(groups.get(prefix) || []), node]);
  }
  const blocks = groups.size > 1 && groups.size <= 64 ? [...groups] : [["", nodes]];
  return blocks.map(([prefix, members]) => el("div", { class: "heat-group" },
    prefix ? el("h3", null, isolate(prefix.replace(/[-_.]$/, "")), el("small", null, " " + plural(members.length, "node"))) : null,
    cellsOf(members, small)));
}

// Which part of the GPU at that position the holder has: 0.5.
const partOf = (holder, gpu) => Number(holder.gpu_shares.find((one) => one.gpu === gpu)?.share ?? kWhole) / kWhole;
const partText = (part) => (part < 1 ? Number(part.toFixed(3)) + " of it: " : "");
// "0, 1 (0.5)": the GPUs of a holder, with the part that it has of each.
function gpusText(holder) {
  return holder.gpus.map((gpu) => gpu + (partOf(holder, gpu) < 1 ? ` (${Number(partOf(holder, gpu).toFixed(3))})` : "")).join(", ");
}

const by = (value) => (a, b) => {
  const x = value(a.node);
  const y = value(b.node);
  return typeof x === "number" ? x - y : natural(String(x), String(y));
};

function ratio(taken, all, label, text) {
  return el("span", { class: "ratio" }, meter(taken, all, label), el("span", null, text || number(taken) + " / " + number(all)));
}

const kColumns = [
  { key: "name", title: "Node", width: "minmax(6rem,1fr)", sort: by((node) => node.name),
    cell: ({ node }) => el("a", { href: "#node/" + encodeURIComponent(node.name), "data-key": "node-" + node.name }, isolate(node.name)) },
  { key: "state", title: "State", width: "9rem", sort: by((node) => node.state), cell: ({ node }) => pill(node.state) },
  { key: "cpus", title: "CPUs", width: "10rem", sort: by((node) => node.cpus_taken / (node.cpus || 1)),
    cell: ({ node }) => ratio(node.cpus_taken, node.cpus, "CPUs taken") },
  { key: "memory", title: "Memory", width: "13rem", hide: "wide", sort: by((node) => Number(node.memory_taken) / (Number(node.memory) || 1)),
    cell: ({ node }) => ratio(node.memory_taken, node.memory, "memory taken", bytes(node.memory_taken) + " / " + bytes(node.memory)) },
  { key: "gpus", title: "GPUs", width: "8rem", sort: by((node) => node.gpus_taken / (node.gpus || 1)),
    cell: ({ node }) => (node.gpus ? ratio(node.gpus_taken, node.gpus, "GPUs taken") : "") },
  { key: "health", title: "Health", width: "minmax(5rem,1fr)", sort: by((node) => node.health), cell: ({ node }) => isolate(node.health || "not checked") },
  { key: "reason", title: "Reason", width: "minmax(6rem,2fr)", sort: by(reasonOf), cell: ({ node }) => el("span", { title: reasonOf(node) }, sentence(reasonOf(node))) },
];

export function openNodes({ query }) {
  const grid = new Grid({ name: "nodes", columns: kColumns, open: (row) => (location.hash = "node/" + encodeURIComponent(row.node.name)) });
  const search = el("input", { type: "search", placeholder: "Search  ( / )", "aria-label": "Search nodes", value: query.get("q"),
    oninput: () => filter() });
  const summary = el("p", { class: "summary", role: "status" });
  const narrow = el("div", { class: "narrow-links" });
  let rows = [];
  const filter = () => {
    const begin = performance.now();
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    history.replaceState(null, "", "#nodes" + (search.value ? "?" + new URLSearchParams({ q: search.value }) : ""));
    const found = rows.filter((row) => words.every((word) => row.text.includes(word)));
    grid.setRows(found);
    summary.textContent = found.length === rows.length ? plural(rows.length, "node") : found.length + " of " + plural(rows.length, "node");
    element.dataset.filtered = (performance.now() - begin).toFixed(1);
  };
  const element = el("div", { class: "list-view" },
    el("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() }, search, summary), narrow, grid.element);
  return {
    element,
    onEvent: (event) => /^muster\.(node|link|job)\./.test(event.type),
    async refresh() {
      const answer = await readNodes(kNodeFields);
      swap(narrow, narrowTable(answer.narrow_links));
      rows = answer.nodes.map((node) => ({ key: node.name, title: node.name, node,
        text: [node.name, node.state, node.health, reasonOf(node), node.features.join(" "), node.topology.join(" ")].join("\n").toLowerCase() }));
      filter();
    },
  };
}

// "0-3,8" as numbers.
export function indices(list) {
  const found = [];
  for (const run of String(list).split(",").filter(Boolean)) {
    const [first, last] = run.split("-").map(Number);
    for (let i = first; i <= (last ?? first) && found.length < 4096; ++i) {
      found.push(i);
    }
  }
  return found;
}

// The inside of a node: its NUMA nodes with their cores, GPUs and NICs. `owner(kind, thing)` says whose a thing is:
// { name, text, wrong }.
export function machinePicture(machine, owner) {
  const dark = isDark();
  const paint = (kind, thing) => {
    const who = owner(kind, thing);
    return { fill: who ? tint(who.name, dark) : null, class: "part part-" + kind + (who ? " taken" : "") + (who?.wrong ? " wrong" : ""), text: who?.text };
  };
  const numas = machine.numa_nodes.filter((numa) => numa.cpus || machine.cores.some((core) => core.numa === numa.os_index));
  const boxes = (numas.length ? numas : [{ os_index: 0, memory: machine.memory }]).map((numa) => {
    const here = (thing) => numas.length < 2 || thing.numa === numa.os_index;
    const cores = machine.cores.filter(here);
    const across = Math.max(8, Math.ceil(Math.sqrt(cores.length * 2.4)));
    const down = Math.ceil(cores.length / across);
    const square = (core, i) => {
      const { fill, class: name, text } = paint("core", core);
      const rect = svg("rect", { x: (i % across) * 16, y: Math.floor(i / across) * 16, width: 13, height: 13, rx: 3, class: name });
      if (fill) {
        rect.style.setProperty("fill", fill);
      }
      rect.append(svg("title", null, "core " + core.os_index + " (CPUs " + core.cpus + ")" + (text ? ": " + text : "")));
      return rect;
    };
    const chips = [...machine.gpus.map((gpu, i) => ["gpu", gpu, "GPU " + i + (gpu.instance ? " " + gpu.instance : "")]), ...machine.nics.map((nic) => ["nic", nic, nic.name])]
      .filter(([, thing]) => here(thing) || (numas.length > 1 && !numas.some((one) => one.os_index === thing.numa) && numa === numas[0]));
    return el("div", { class: "numa" }, el("h4", null, numas.length > 1 ? "NUMA " + numa.os_index : "node",
      Number(numa.memory) ? el("small", null, " " + bytes(numa.memory)) : null),
    svg("svg", { class: "cores", viewBox: `0 0 ${across * 16} ${Math.max(1, down) * 16}`, width: across * 16, height: down * 16, role: "img",
      "aria-label": cores.length + " cores" }, cores.map(square)),
    el("div", { class: "devices" }, chips.map(([kind, thing, label]) => {
      const { fill, class: name, text } = paint(kind, thing);
      const chip = el("span", { class: name, title: [thing.model || thing.name, text].filter(Boolean).join(": ") }, isolate(label));
      if (fill) {
        chip.style.setProperty("background", fill);
      }
      return chip;
    })));
  });
  return el("div", { class: "machine" }, boxes);
}

export function openNode({ id, again }) {
  const element = el("div", { class: "node-view" });
  const draw = (node, links, health) => {
    const above = links.filter((link) => narrowTo(node.topology, [link]).length > 0);
    const owners = new Map();
    for (const holder of node.holders) {
      indices(holder.cpus).forEach((cpu) => owners.set("c" + cpu, holder));
      holder.gpus.forEach((gpu) => owners.set("g" + gpu, [...(owners.get("g" + gpu) || []), holder]));
    }
    const owner = (kind, thing) => {
      if (kind === "gpu") {
        const gpu = node.machine.gpus.indexOf(thing);
        const held = owners.get("g" + gpu) || [];
        const outside = occupantsOf(node, gpu);
        const text = [...held.map((one) => holderText(one, gpu)), ...outside.map(occupantText)].join(", ");
        return text && { name: held.length ? held[0].label : "outside", text, wrong: outside.length > 0 || held.some((one) => one.quarantined) };
      }
      const holder = kind === "core" ? owners.get("c" + indices(thing.cpus)[0]) : null;
      return holder && { name: holder.label, text: "job " + holder.label + " of " + holder.user, wrong: holder.quarantined };
    };
    const drained = isDrained(node);
    const divided = divisions(node);
    const checks = health?.history || [];
    swap(element,
      el("div", { class: "title" }, el("h2", null, isolate(node.name)), pill(node.state),
        el("span", { class: "grow" }), el("button", { type: "button", "data-key": "drain", class: drained ? "" : "danger",
          onclick: () => drain(node.name, !drained, again) }, drained ? "Resume" : "Drain")),
      el("div", { class: "columns two" },
        card("What it is", facts([["Reason", node.reason], ["Health", node.health], ["Host", node.hostname], ["Switches", node.topology.join(" › ")],
          ["Narrow links", above.map((link) => linkName(link) + (link.reason ? ": " + link.reason : "")).join("; ")], ["Binding", node.binding],
          ["Limits", node.limits], ["CPUs", ratio(node.cpus_taken, node.cpus, "CPUs taken")],
          ["Memory", ratio(node.memory_taken, node.memory, "memory taken", bytes(node.memory_taken) + " / " + bytes(node.memory))],
          ["GPUs", node.gpus ? ratio(node.gpus_taken, node.gpus, "GPUs taken") : ""], ["Features", node.features.join(", ")], ["Weight", node.weight ? String(node.weight) : ""]])),
        card("Who is on it", node.holders.length === 0 ? empty("No job") : table(["Job", "User", "CPUs", "Memory", "GPUs"],
          node.holders.map((holder) => [el("a", { href: "#job/" + holder.job }, holder.label), holder.user, holder.cpus, bytes(holder.memory), gpusText(holder)]), "Jobs on this node"),
        node.gpu_occupants.length ? table(["GPU", "Process", "User", "Program", "Memory"], node.gpu_occupants.map((one) =>
          [one.gpu, one.pid, one.user, one.program, Number(one.memory) ? bytes(one.memory) : ""]), "GPUs used outside Muster") : null)),
      card("Inside", node.machine ? machinePicture(node.machine, owner) : empty("Not known"),
        divided.length ? table(["Device", "MIG instances", "Change"], divided, "GPUs that MIG divides") : null),
      checks.length ? card("Health beside its class", table(["Component", "Value", "Class median", "Of", "Verdict"],
        checks[0].verdicts.map((verdict) => [verdict.figure.component, figureText(verdict.figure.value, verdict.figure.unit),
          verdict.samples ? figureText(verdict.median, verdict.figure.unit) : "", plural(verdict.samples, "value"),
          verdict.standing.replace("HEALTH_STATUS_", "").toLowerCase()]), "The last check"),
      table(["When", "Kind", "Took", "Result"], checks.map((check) => [when(check.time), check.kind.replace("HEALTH_KIND_", "").toLowerCase(),
        Math.round(Number(check.took) / 100) / 10 + " s", check.text || check.standing.replace("HEALTH_STATUS_", "").toLowerCase()]), "Checks")) : null);
  };
  return {
    element,
    onEvent: (event) => event.data.node === id || event.data.nodes?.includes(id) || event.type === "muster.job.ended" ||
      event.type.startsWith("muster.link."),
    async refresh() {
      const [list, health] = await Promise.all([get("/v1/nodes/" + encodeURIComponent(id), { with_machine: "true" }),
        get("/v1/health", { name: id, history: 5 }).catch(() => ({ nodes: [] }))]);
      draw(list.nodes[0], list.narrow_links, health.nodes[0]);
    },
  };
}

function figureText(value, unit) {
  return number(Math.round(Number(value) / 10) / 100) + " " + unit;
}

export function openGpus() {
  const element = el("div", { class: "gpus-view" });
  return {
    element,
    onEvent: (event) => /^muster\.(node|job)\./.test(event.type),
    async refresh() {
      const answer = await get("/v1/nodes", { fields: "name,state,gpus,gpus_taken,gpu_occupants,holders,model,free,on_node,on_nvlink,on_leaf,anywhere" });
      const nodes = answer.nodes.filter((node) => node.gpus > 0).sort((a, b) => natural(a.name, b.name));
      const dark = isDark();
      const users = new Map();
      const rows = nodes.map((node) => {
        const owners = Array.from({ length: node.gpus }, () => []);
        for (const holder of node.holders) {
          for (const gpu of holder.gpus) {
            owners[gpu]?.push(holder);
          }
          if (holder.gpus.length) {
            users.set(holder.user, (users.get(holder.user) || 0) + holder.gpus.reduce((sum, gpu) => sum + partOf(holder, gpu), 0));
          }
        }
        return el("li", { class: isDown(node) ? "down" : "" }, el("a", { href: "#node/" + encodeURIComponent(node.name) }, isolate(node.name)),
          el("span", { class: "gpu-cells" }, owners.map((held, i) => gpuCell(node, held, i, dark))));
      });
      const free = nodes.reduce((sum, node) => sum + (node.state === "IDLE" || node.state === "MIXED" ? node.gpus - node.gpus_taken - outsideOf(node) : 0), 0);
      swap(element, nodes.length === 0 ? empty("No node has a GPU.") : [
        el("p", { class: "summary" }, plural(nodes.reduce((sum, node) => sum + node.gpus, 0), "GPU") + " on " + plural(nodes.length, "node") + ", " + number(free) + " free"),
        answer.largest?.length ? card("The largest jobs that would start now", table(["Model", "GPUs", "Free", "On one node", "By NVLink", "On one leaf", "Anywhere"],
          answer.largest.map((row) => [row.model, number(row.gpus), number(row.free), number(row.on_node), number(row.on_nvlink), row.on_leaf ? number(row.on_leaf) : "", number(row.anywhere)]), "By model")) : null,
        card("Who has which", el("p", { class: "legend" }, [...users].sort((a, b) => b[1] - a[1]).slice(0, 12).map(([user, count]) => {
          const dot = el("i", { class: "cell" });
          dot.style.setProperty("background", tint(user, dark));
          return el("span", null, dot, isolate(user), " ", el("b", null, number(Number(count.toFixed(3)))));
        })), el("ul", { class: "gpu-list" + (nodes.length > 100 ? " small" : "") }, rows))]);
    },
  };
}

// Processes outside of jobs.
const occupantsOf = (node, gpu) => node.gpu_occupants.filter((one) => one.gpu === gpu);
const occupantText = (one) => `pid ${one.pid} (${[one.user, one.program, Number(one.memory) ? bytes(one.memory) : ""].filter(Boolean).join(", ")}) outside Muster`;
// How many GPUs they keep from jobs: those that no job has.
function outsideOf(node) {
  const held = new Set(node.holders.flatMap((holder) => holder.gpus));
  return new Set(node.gpu_occupants.map((one) => one.gpu).filter((gpu) => !held.has(gpu))).size;
}

// "0.5 of it: job 7 of ada"
const holderText = (holder, gpu) => partText(partOf(holder, gpu)) + "job " + holder.label + " of " + holder.user;

// A GPU: of each of its holders as much as it has.
function gpuCell(node, held, i, dark) {
  const free = 1 - held.reduce((sum, holder) => sum + partOf(holder, i), 0);
  const outside = occupantsOf(node, i);
  const text = "GPU " + i + ": " + ([...held.map((holder) => holderText(holder, i)), ...outside.map(occupantText),
    ...(held.length && free > 0.0005 ? [Number(free.toFixed(3)) + " free"] : [])].join(", ") || "free");
  return held.length ? el("a", { class: "gpu taken", href: held.length > 1 ? "#node/" + encodeURIComponent(node.name) : "#job/" + held[0].job,
    title: text, "aria-label": text, tabindex: "-1" }, held.map((holder) => {
    const part = el("i", { class: "gpu-part", "data-job": holder.label, vars: { share: partOf(holder, i).toFixed(3) } });
    part.style.setProperty("background", tint(holder.user, dark));
    return part;
  })) : el("span", { class: "gpu" + (outside.length ? " outside" : ""), title: text });
}
