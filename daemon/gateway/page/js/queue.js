// The queue and the history: filters live in the address, and work on what is here already.

import { get } from "./api.js";
import { act } from "./act.js";
import { el, number, plural, swap } from "./dom.js";
import { Grid } from "./grid.js";
import { kHistoryColumns, kJobFields, kQueueColumns, rowOf, selectorOf } from "./jobs.js";

const kHistoryMost = 10000; // those that ended last

class JobList {
  constructor({ view, columns, read, acts, query, most = Infinity }) {
    Object.assign(this, { view, read, acts, most });
    this.all = [];
    this.query = query;
    this.grid = new Grid({ name: view, columns, selectable: acts,
      open: (row) => (location.hash = "job/" + encodeURIComponent(row.job.id)),
      onSort: (key, down) => this.set("sort", (down ? "-" : "") + key),
      onSelect: () => this.drawActions() });
    this.search = el("input", { type: "search", name: "q", placeholder: "Search  ( / )", "aria-label": "Search in all columns",
      value: query.get("q"), autocomplete: "off", spellcheck: "false", oninput: () => this.set("q", this.search.value) });
    this.user = this.choice("user", "any user");
    this.partition = this.choice("partition", "any partition");
    this.chips = el("div", { class: "chips", role: "group", "aria-label": "States" });
    this.summary = el("p", { class: "summary", role: "status" });
    this.actions = el("div", { class: "actions", role: "toolbar", "aria-label": "For the selected jobs", hidden: true });
    this.element = el("div", { class: "list-view" },
      el("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
        this.search, this.user, this.partition, this.chips, this.summary),
      this.actions, this.grid.element);
    this.sortOf(query);
  }

  choice(name, any) {
    return el("select", { name, "aria-label": name, "data-any": any, onchange: (event) => this.set(name, event.target.value) });
  }

  sortOf(query) {
    const sort = query.get("sort") || (this.view === "history" ? "-end" : "");
    this.grid.setSort(sort.replace(/^-/, ""), sort.startsWith("-"));
  }

  // One filter more, or less: in the address, without a step back for each letter.
  set(name, value) {
    if (value) {
      this.query.set(name, value);
    } else {
      this.query.delete(name);
    }
    const said = String(this.query);
    history.replaceState(null, "", "#" + this.view + (said ? "?" + said : ""));
    if (name !== "sort") {
      this.filter();
    }
  }

  // The same view with other filters: true, it is shown.
  navigate(query) {
    this.query = query;
    this.search.value = query.get("q") || "";
    this.sortOf(query);
    this.filter();
    return true;
  }

  async refresh() {
    this.all = (await this.read(this.query)).map(rowOf);
    this.fillChoices();
    this.filter();
  }

  fillChoices() {
    for (const [select, key] of [[this.user, "user"], [this.partition, "partition"]]) {
      const names = [...new Set(this.all.map((row) => row.job[key]))].filter(Boolean).sort();
      const chosen = this.query.get(key) || "";
      if (chosen && !names.includes(chosen)) {
        names.push(chosen);
      }
      const wanted = ["", ...names].join("\n");
      if (select.dataset.names !== wanted) {
        select.dataset.names = wanted;
        select.replaceChildren(el("option", { value: "" }, select.dataset.any),
          ...names.map((name) => el("option", { value: name }, name)));
      }
      select.value = chosen;
    }
  }

  // Every word is somewhere in the row; states, user and partition are as chosen.
  filter() {
    const begin = performance.now();
    const words = (this.query.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
    const states = new Set((this.query.get("state") || "").split(",").filter(Boolean));
    const user = this.query.get("user") || "";
    const partition = this.query.get("partition") || "";
    const found = this.all.filter((row) => (!user || row.job.user === user) &&
      (!partition || row.job.partition === partition) && words.every((word) => row.text.includes(word)));
    this.drawChips(found, states);
    const shown = states.size ? found.filter((row) => states.has(row.job.state)) : found;
    this.grid.setRows(shown);
    const jobs = shown.reduce((sum, row) => sum + row.count, 0);
    const all = this.all.reduce((sum, row) => sum + row.count, 0);
    const whole = (this.all.length < this.most ? "" : "the last ") + plural(all, "job");
    this.summary.textContent = jobs === all ? whole : number(jobs) + " of " + whole;
    this.drawActions();
    this.element.dataset.filtered = (performance.now() - begin).toFixed(1);
  }

  drawChips(rows, states) {
    const counts = new Map([...states].map((state) => [state, 0]));
    for (const row of rows) {
      counts.set(row.job.state, (counts.get(row.job.state) || 0) + row.count);
    }
    swap(this.chips, [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([state, count]) =>
      el("button", { type: "button", class: "chip", "data-state": state, "data-key": "chip-" + state,
        "aria-pressed": states.has(state) ? "true" : "false", onclick: () => {
          if (!states.delete(state)) {
            states.add(state);
          }
          this.set("state", [...states].join(","));
        } }, state.replaceAll("_", " ").toLowerCase(), el("b", null, number(count)))));
  }

  chosen() {
    return this.grid.rows.filter((row) => this.grid.selected.has(row.key)).map((row) => row.job);
  }

  drawActions() {
    const count = this.grid.selected.size;
    this.actions.hidden = !this.acts || count === 0;
    if (this.actions.hidden) {
      return;
    }
    swap(this.actions, el("b", null, plural(count, "row") + " selected"),
      ["cancel", "hold", "release", "requeue"].map((verb) => el("button", { type: "button", "data-key": "act-" + verb,
        class: verb === "cancel" ? "danger" : "", onclick: () => act(verb, this.chosen().map(selectorOf),
          plural(this.chosen().reduce((sum, job) => sum + rowOf(job).count, 0), "job"), () => this.refresh()) },
      verb[0].toUpperCase() + verb.slice(1))),
      el("button", { type: "button", class: "quiet", "data-key": "act-none", onclick: () => this.grid.selectAll(false) }, "Clear"));
  }

  onEvent(event) {
    return event.type.startsWith("muster.job.");
  }
}

export function openQueue({ query }) {
  return new JobList({ view: "queue", columns: kQueueColumns, acts: true, query,
    read: async () => (await get("/v1/jobs", { fold: "true", fields: kJobFields })).jobs });
}

export function openHistory({ query }) {
  return new JobList({ view: "history", columns: kHistoryColumns, acts: false, query, most: kHistoryMost,
    read: async (asked) => (await get("/v1/history", { user: asked.get("user") || "", limit: kHistoryMost,
      fields: kJobFields })).jobs });
}
