// The end of a job's output, and what comes to it while it is shown. Its bytes go into the page as text.

import { get } from "./api.js";
import { bytes, card, el, empty, isolate } from "./dom.js";

const kPause = 2000; // between two questions while the job runs
const kLines = 200; // to begin with
const kShown = 65536; // characters that stay

function decode(base64) {
  return Uint8Array.from(atob(base64 || ""), (one) => one.charCodeAt(0));
}

// Reads on from where it is. `element` stays the same one, so that its place in the text stays, too.
export class OutputTail {
  constructor() {
    this.text = el("pre", { class: "output", tabindex: "0", role: "log", "aria-label": "The end of the output" });
    this.said = el("p", { class: "faint" });
    this.element = card("Output", this.said, this.text);
    this.element.hidden = true;
    this.begin("");
  }

  begin(path) {
    this.path = path;
    this.query = { tail: kLines };
    this.decoder = new TextDecoder();
    this.over = false;
    this.text.textContent = "";
  }

  // Whose output it is; asked from now on until it has ended.
  watch(job) {
    const element = /^\d+$/.test(job.array_task_id || "");
    const path = "/v1/jobs/" + encodeURIComponent(element ? job.array_job_id : job.id) + "/output";
    const index = element ? { array_index: job.array_task_id } : {};
    if (path + job.array_task_id + job.restarts !== this.path) {
      this.begin(path + job.array_task_id + job.restarts);
      this.ask = () => get(path, { ...this.query, ...index });
      this.read();
    }
  }

  close() {
    clearTimeout(this.timer);
    this.closed = true;
  }

  async read() {
    clearTimeout(this.timer);
    const path = this.path;
    let more = false;
    try {
      const piece = await this.ask();
      if (path === this.path) {
        more = this.take(piece);
      }
    } catch (problem) {
      // Another user's job, or a file that is not there: said once, and asked again seldom.
      this.say(problem.message);
      this.text.hidden = this.text.textContent === "";
      this.over = problem.status >= 400 && problem.status < 500;
      this.element.hidden = problem.status === 403;
    }
    if (!this.closed && !this.over && path === this.path) {
      this.timer = setTimeout(() => this.read(), more ? 0 : kPause);
    }
  }

  say(...words) {
    this.said.replaceChildren(...words);
    this.element.hidden = false;
  }

  // Whether more is there already.
  take(piece) {
    if (piece.waits) {
      this.say(isolate(piece.waits));
      this.element.hidden = piece.state === "PENDING"; // its page says why
      this.text.hidden = true;
      return false;
    }
    if (piece["anew"]) {
      this.decoder = new TextDecoder();
      this.text.textContent = "";
    }
    const data = decode(piece.data);
    const next = Number(piece.offset) + data.length;
    const follows = this.text.scrollTop + this.text.clientHeight >= this.text.scrollHeight - 24;
    if (data.length) {
      const text = this.text.textContent + this.decoder.decode(data, { stream: true });
      this.text.textContent = text.length > kShown ? text.slice(-kShown) : text;
    }
    this.query = { offset: String(next), file: piece.file };
    const more = next < Number(piece.size);
    this.over = Boolean(piece.ended) && !more;
    this.text.hidden = this.text.textContent === "";
    this.say(isolate(piece.path), " on ", isolate(piece.node), ", ", bytes(piece.size), this.over ? "" : ", live");
    if (Number(piece.size) === 0) {
      this.said.append(empty("Nothing was written yet."));
    }
    if (follows) {
      this.text.scrollTop = this.text.scrollHeight;
    }
    return more;
  }
}
