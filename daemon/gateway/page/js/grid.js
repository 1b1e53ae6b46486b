// A table of very many rows: only those in sight are in the page.
//
// Rows have one height. Keys: up and down move, Enter opens, space selects. A screen reader hears how many rows there
// are and which one it is on.

import { el } from "./dom.js";

const kBeyond = 8; // rows kept above and below what is seen

export class Grid {
  // columns: [{ key, title, width, cell(row), sort(a, b), number, hide }]; `name` says what is listed.
  constructor({ name, columns, open, onSort, onSelect, selectable }) {
    Object.assign(this, { name, columns, open, onSort, onSelect, selectable });
    this.rows = [];
    this.selected = new Set();
    this.active = 0;
    this.drawn = "";
    const widths = (some) => (selectable ? "1.4rem " : "") + some.map((column) => column.width || "1fr").join(" ");
    this.head = el("div", { class: "grid-row grid-head", role: "row" });
    this.inner = el("div", { class: "grid-inner", role: "rowgroup" });
    this.body = el("div", { class: "grid-body", tabindex: "0", role: "rowgroup", "data-key": "grid-" + name,
      onscroll: () => this.paint(), onkeydown: (event) => this.onKey(event), "aria-label": name }, this.inner);
    this.element = el("div", { class: "grid" + (selectable ? " selectable" : ""), role: "grid", "aria-label": name,
      vars: { all: widths(columns), few: widths(columns.filter((column) => column.hide !== "wide")) } }, el("div", { role: "rowgroup" }, this.head), this.body);
    this.drawHead();
    new ResizeObserver(() => this.paint()).observe(this.body);
  }

  drawHead() {
    const all = this.selectable ? el("span", { role: "columnheader" },
      el("input", { type: "checkbox", "aria-label": "Select all that are listed", "data-key": "select-all",
        onchange: (event) => this.selectAll(event.target.checked) })) : null;
    this.head.replaceChildren(...[all, ...this.columns.map((column) => {
      const order = this.sort === column.key ? (this.down ? "descending" : "ascending") : "none";
      return el("span", { role: "columnheader", "aria-sort": column.sort ? order : null,
        class: (column.number ? "number " : "") + (column.hide || "") },
        column.sort ? el("button", { type: "button", class: "quiet", "data-key": "sort-" + column.key,
          onclick: () => this.sortBy(column.key) }, column.title, el("i", { "aria-hidden": "true" },
          order === "none" ? "" : this.down ? " ↓" : " ↑")) : column.title);
    })].filter(Boolean));
  }

  sortBy(key) {
    const down = this.sort === key ? !this.down : false;
    this.setSort(key, down);
    this.onSort?.(key, down);
  }

  setSort(key, down) {
    this.sort = key;
    this.down = down;
    this.drawHead();
    this.arrange();
    this.paint(true);
  }

  arrange() {
    const column = this.columns.find((one) => one.key === this.sort);
    if (column?.sort) {
      const sign = this.down ? -1 : 1;
      this.rows.sort((a, b) => sign * column.sort(a, b));
    }
  }

  // Rows have a `key` that says which is which, whatever is read again.
  setRows(rows) {
    const active = this.rows[this.active]?.key;
    this.rows = rows;
    this.arrange();
    const again = this.rows.findIndex((row) => row.key === active);
    this.active = Math.max(0, again >= 0 ? again : Math.min(this.active, rows.length - 1));
    const there = new Set(rows.map((row) => row.key));
    for (const key of this.selected) {
      if (!there.has(key)) {
        this.selected.delete(key);
      }
    }
    this.element.setAttribute("aria-rowcount", String(rows.length + 1));
    this.paint(true);
  }

  rowHeight() {
    return parseFloat(getComputedStyle(this.element).getPropertyValue("--row")) || 36;
  }

  paint(afresh) {
    const height = this.rowHeight();
    const seen = this.body.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.body.scrollTop / height) - kBeyond);
    const last = Math.min(this.rows.length, Math.ceil((this.body.scrollTop + seen) / height) + kBeyond);
    const mark = first + "-" + last + "-" + this.active + "-" + height;
    if (!afresh && mark === this.drawn) {
      return;
    }
    this.drawn = mark;
    this.inner.style.setProperty("height", this.rows.length * height + "px");
    const made = [];
    for (let i = first; i < last; ++i) {
      made.push(this.rowOf(this.rows[i], i, height));
    }
    const focused = this.inner.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.inner.replaceChildren(...made);
    if (focused) {
      (this.inner.querySelector(`[data-key="${CSS.escape(focused)}"]`) || this.body).focus({ preventScroll: true });
    }
    if (this.rows.length > 0) {
      this.body.setAttribute("aria-activedescendant", "row-" + this.name + "-" + this.active);
    } else {
      this.body.removeAttribute("aria-activedescendant");
    }
  }

  rowOf(row, i, height) {
    const box = this.selectable ? el("span", { role: "gridcell" }, el("input", { type: "checkbox", tabindex: "-1",
      "aria-label": "Select " + row.title, "data-key": "select-" + row.key, checked: this.selected.has(row.key),
      onclick: (event) => event.stopPropagation(), onchange: () => this.toggle(row.key) })) : null;
    const made = el("div", { class: "grid-row" + (i === this.active ? " active" : ""), role: "row",
      id: "row-" + this.name + "-" + i, "aria-rowindex": i + 2, "aria-selected": this.selectable ? this.selected.has(row.key) : null,
      onclick: (event) => {
        this.active = i;
        if (!event.target.closest("a,input") && String(getSelection()) === "") {
          this.open(row);
        }
      } }, box, this.columns.map((column) => el("span", { role: "gridcell", "data-title": column.title,
      class: "cell-" + column.key + (column.number ? " number " : " ") + (column.hide || "") }, column.cell(row))));
    made.style.setProperty("transform", `translateY(${i * height}px)`);
    return made;
  }

  toggle(key) {
    if (!this.selected.delete(key)) {
      this.selected.add(key);
    }
    this.paint(true);
    this.onSelect?.(this.selected);
  }

  selectAll(on) {
    this.selected = on ? new Set(this.rows.map((row) => row.key)) : new Set();
    this.paint(true);
    this.onSelect?.(this.selected);
  }

  onKey(event) {
    const height = this.rowHeight();
    const page = Math.max(1, Math.floor(this.body.clientHeight / height) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 };
    if (Object.hasOwn(steps, event.key)) {
      this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + steps[event.key]));
      const top = this.active * height;
      if (top < this.body.scrollTop) {
        this.body.scrollTop = top;
      } else if (top + height > this.body.scrollTop + this.body.clientHeight) {
        this.body.scrollTop = top + height - this.body.clientHeight;
      }
      this.paint();
    } else if (event.key === "Enter" && this.rows[this.active] && !event.target.closest("a,button")) {
      this.open(this.rows[this.active]);
    } else if (event.key === " " && this.selectable && this.rows[this.active] && !event.target.closest("input")) {
      this.toggle(this.rows[this.active].key);
    } else {
      return;
    }
    event.preventDefault();
  }
}
