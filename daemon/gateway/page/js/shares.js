// Who may have how much, beside what was used: the account tree, with receipts: what is left of each run of a user.

import { get } from "./api.js";
import { card, el, empty, isolate, number, plural, span, swap, table, when } from "./dom.js";

const kRoot = "root";
const kPeriodHalfLives = 16; // as the controller scales usage
const kRunsShown = 200;

// Usage as it is worth now, in billing-seconds.
function worth(usage, now, halfLife) {
  if (!usage) {
    return 0;
  }
  const grains = Number(usage.high) * 2 ** 64 + Number(usage.low);
  const fade = halfLife > 0 ? 2 ** -((now - Number(usage.period) * kPeriodHalfLives * halfLife) / halfLife) : 1;
  return (grains / 1e12) * fade;
}

function treeOf(answer) {
  const now = Number(answer.now);
  const halfLife = Number(answer.half_life);
  const accounts = new Map(answer.accounts.map((one) => [one.name, { name: one.name, parent: one.parent, shares: one.shares,
    own: worth(one.usage, now, halfLife), children: [] }]));
  const root = accounts.get(kRoot) || { name: kRoot, shares: 1, own: 0, children: [] };
  for (const account of accounts.values()) {
    if (account !== root) {
      (accounts.get(account.parent) || root).children.push(account);
    }
  }
  for (const one of answer.associations) {
    (accounts.get(one.account) || root).children.push({ name: one.user, user: true, account: one.account, shares: one.shares, own: worth(one.usage, now, halfLife), children: [] });
  }
  const total = (node) => (node.used = node.own + node.children.reduce((sum, child) => sum + total(child), 0));
  total(root);
  const grant = (node, share) => {
    node.share = share;
    const all = node.children.reduce((sum, child) => sum + child.shares, 0);
    node.children.forEach((child) => grant(child, all ? (share * child.shares) / all : 0));
    node.children.sort((a, b) => Number(Boolean(a.user)) - Number(Boolean(b.user)) || b.used - a.used || a.name.localeCompare(b.name));
  };
  grant(root, 1);
  return root;
}

// What is used for what is due: 1 is just so.
function balance(share, used) {
  const ratio = share > 0 ? used / share : used > 0 ? Infinity : 0;
  const text = used === 0 ? "nothing used" : ratio === Infinity ? "no share" : Math.round(ratio * 100) + " % of its share";
  return el("span", { class: "balance", "data-over": ratio > 1.05 ? "over" : ratio < 0.95 ? "under" : "even" }, text);
}

// What is left by now of a run's charge, in billing-seconds.
function leftOf(run, now, halfLife) {
  const from = Number(run.from);
  const until = Number(run.until);
  const faded = (time) => 2 ** -((now - time) / halfLife);
  const weighed = halfLife > 0 ? (halfLife / Math.LN2) * (faded(until) - faded(from)) : until - from;
  return (Number(run.rate) / 1e6) * (weighed / 1000);
}

// The user's runs in the account, and what of the usage is older than they are.
function receipt(answer, node) {
  const now = Number(answer.now);
  const halfLife = Number(answer.half_life);
  // No account is written of those directly under root.
  const runs = answer.runs.filter((one) => one.account === node.account || (!one.account && node.account === kRoot)).flatMap((one) => one.runs)
    .map((run) => ({ ...run, left: leftOf(run, now, halfLife) })).sort((a, b) => b.left - a.left);
  const shown = runs.slice(0, kRunsShown);
  const rest = Math.max(0, node.own - shown.reduce((sum, run) => sum + run.left, 0));
  const amount = (value) => el("span", { class: "number" }, number(Math.round(value)));
  const rows = shown.map((run) => [el("a", { href: "#job/" + run.job }, run.job), when(run.from), span(Number(run.until) - Number(run.from)),
    amount(Number(run.rate) / 1e6), amount(run.left)]);
  rows.push([runs.length > shown.length ? plural(runs.length - shown.length, "other") + ", and earlier" : "earlier", "", "", "", amount(rest)],
    [el("b", null, "total"), "", "", "", el("b", null, amount(node.own))]);
  return table(["Job", "Started", "Ran", "Rate", "Left, billing-seconds"], rows, "Receipt of " + node.name + " in " + node.account);
}

async function fillReceipt(place, node) {
  try {
    place.replaceChildren(receipt(await get("/v1/shares", { explain_user: node.name }), node));
  } catch (problem) {
    place.replaceChildren(el("p", { class: "said", role: "alert" }, problem.message));
  }
}

function userBranch(node, line) {
  const place = el("div", { class: "receipt" });
  return el("li", null, el("details", { "data-key": "receipt-" + node.account + "/" + node.name,
    ontoggle: (event) => event.target.open && fillReceipt(place, node) }, el("summary", { title: "What is left of each run" }, line), place));
}

function branch(node, all, level) {
  const used = all > 0 ? node.used / all : 0;
  const line = el("span", { class: "share-line", vars: { share: node.share.toFixed(5), used: used.toFixed(5) } },
    el("span", { class: "share-name" + (node.user ? " user" : "") }, isolate(node.name)),
    el("span", { class: "share-bars", role: "img", "aria-label": "due " + (node.share * 100).toFixed(1) + " %, used " + (used * 100).toFixed(1) + " %" },
      el("i", { class: "due" }), el("i", { class: "used" })),
    el("span", { class: "number" }, (node.share * 100).toFixed(1) + " %"), el("span", { class: "number" }, (used * 100).toFixed(1) + " %"),
    el("span", { class: "number wide" }, number(Math.round(node.used / 3600)) + " h"), balance(node.share, used));
  if (node.user) {
    return userBranch(node, line);
  }
  return node.children.length
    ? el("li", null, el("details", { open: level < 2, "data-key": "share-" + node.name }, el("summary", null, line),
      el("ul", null, node.children.map((child) => branch(child, all, level + 1)))))
    : el("li", null, el("div", { class: "leaf" }, line));
}

export function openShares() {
  const element = el("div", { class: "shares-view" });
  return {
    element,
    poll: 30000,
    onEvent: (event) => event.type === "muster.policy.changed" || event.type === "muster.job.ended",
    async refresh() {
      const answer = await get("/v1/shares");
      const root = treeOf(answer);
      const halfLife = Number(answer.half_life);
      swap(element, card("Shares", el("p", { class: "faint" }, "What is due to each account and user, and what they used" +
        (halfLife > 0 ? "; usage counts half after " + Math.round(halfLife / 3600e3) + " h." : "."), answer.algorithm ? " Ranked by " + answer.algorithm + "." : ""),
      root.children.length === 0 ? empty("There are no accounts yet; muster accounts add makes one.") : [
        el("p", { class: "share-line share-head", "aria-hidden": "true" }, el("span", null, "Account or user"), el("span", null, "due, and used"),
          el("span", { class: "number" }, "due"), el("span", { class: "number" }, "used"), el("span", { class: "number wide" }, "usage"), el("span", null, "")),
        el("ul", { class: "tree" }, branch(root, root.used, 0))]));
    },
  };
}
