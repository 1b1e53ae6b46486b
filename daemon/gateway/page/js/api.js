// Calls of /v1 and the stream of events, with the session that a link of `muster web` opened.

const kSession = "session";
export const bearer = () => sessionStorage.getItem(kSession) || "";
export const hasSession = () => bearer() !== "";

export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function answerOf(response) {
  let body = null;
  try {
    body = await response.json();
  } catch {
    throw new Problem(response.status, response.statusText || "the answer cannot be read");
  }
  if (!response.ok) {
    throw new Problem(response.status, body.detail || response.statusText);
  }
  return body;
}

async function ask(path, options) {
  let response = null;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Problem(0, "the gateway does not answer");
  }
  return answerOf(response);
}

export function get(path, query) {
  const said = new URLSearchParams();
  for (const [key, value] of Object.entries(query || {})) {
    if (value !== "" && value !== undefined && value !== null) {
      said.set(key, value);
    }
  }
  return ask(path + (String(said) ? "?" + said : ""), { headers: { Authorization: "Bearer " + bearer() } });
}

export function post(path, body) {
  return ask(path, {
    method: "POST",
    headers: { Authorization: "Bearer " + bearer(), "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

// A link of `muster web` is "#login=CODE": the code is brought once, and goes from the address line.
export async function login() {
  const code = new URLSearchParams(location.hash.slice(1)).get("login");
  if (!code) {
    return;
  }
  history.replaceState(null, "", location.pathname + "#overview");
  const body = await ask("/session", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }) });
  sessionStorage.setItem(kSession, body.session);
}

export function logout() {
  sessionStorage.removeItem(kSession);
}

// Server-sent events, read by fetch because a session stands in a header. Goes on where it was after each break.
export class Events {
  constructor(onEvent, onState) {
    this.onEvent = onEvent;
    this.onState = onState;
    this.last = "";
    this.stopped = false;
    this.pause = 500;
  }

  async run() {
    while (!this.stopped) {
      try {
        await this.readOnce();
        this.pause = 500;
      } catch (problem) {
        if (problem instanceof Problem && problem.status === 401) {
          this.onState("off", problem);
          return;
        }
        if (problem instanceof Problem && problem.status === 400) {
          this.last = ""; // another journal: what we knew of the old one says nothing
        }
      }
      if (this.stopped) {
        return;
      }
      this.onState("lost");
      await new Promise((done) => setTimeout(done, this.pause + Math.random() * 500));
      this.pause = Math.min(this.pause * 2, 15000);
    }
  }

  stop() {
    this.stopped = true;
    this.aborter?.abort();
  }

  async readOnce() {
    this.aborter = new AbortController();
    const headers = { Authorization: "Bearer " + bearer(), Accept: "text/event-stream" };
    if (this.last) {
      headers["Last-Event-ID"] = this.last;
    }
    const response = await fetch("/v1/events", { headers, signal: this.aborter.signal });
    if (!response.ok) {
      await answerOf(response);
    }
    this.pause = 500;
    this.onState("live");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const blocks = (rest + piece.value).split("\n\n");
      rest = blocks.pop();
      blocks.forEach((block) => this.take(block));
    }
  }

  take(block) {
    let data = "";
    for (const line of block.split("\n")) {
      if (line.startsWith("id: ")) {
        this.last = line.slice(4);
      } else if (line.startsWith("data: ")) {
        data += line.slice(6);
      }
    }
    if (data) {
      this.onEvent(JSON.parse(data));
    }
  }
}
