// What changes something: asked once more, done, and said.

import { post } from "./api.js";
import { el, toast } from "./dom.js";

// Resolves to what was typed or true, or to null when the user thinks better of it.
export function confirm({ title, text, button, danger, input }) {
  return new Promise((done) => {
    const field = input ? el("input", { name: "said", required: true, "aria-label": input, placeholder: input }) : null;
    const box = el("dialog", { "aria-labelledby": "dialog-title" },
      el("form", { method: "dialog" }, el("h2", { id: "dialog-title" }, title), text ? el("p", null, text) : null, field,
        el("div", { class: "buttons" }, el("button", { type: "button", value: "", onclick: () => box.close("") }, "Back"),
          el("button", { class: danger ? "danger" : "primary", value: "yes" }, button))));
    box.addEventListener("close", () => {
      const said = box.returnValue === "yes" ? (field ? field.value : true) : null;
      box.remove();
      done(said);
    });
    document.body.append(box);
    box.showModal();
  });
}

const kActs = {
  cancel: { path: "/v1/Cancel", done: "cancelled", danger: true, text: "What they have not saved is lost." },
  hold: { path: "/v1/Hold", more: { held: true }, done: "held" },
  release: { path: "/v1/Hold", more: { held: false }, done: "released" },
  requeue: { path: "/v1/Requeue", done: "requeued", danger: true, text: "Running ones end, and begin again from their last checkpoint." },
};

// verb of kActs for jobs by their selectors; `what` is how the user knows them.
export async function act(verb, selectors, what, then) {
  const { path, more, done, danger, text } = kActs[verb];
  if (danger && !(await confirm({ title: `${verb[0].toUpperCase() + verb.slice(1)} ${what}?`, text,
    button: verb[0].toUpperCase() + verb.slice(1), danger }))) {
    return;
  }
  try {
    const answer = await post(path, { jobs: selectors, ...more });
    answer.errors.slice(0, 5).forEach((error) => toast(error, true));
    if (answer.errors.length < selectors.length) {
      toast(what + " " + done);
    }
  } catch (problem) {
    toast(problem.message, true);
  }
  then?.();
}

export async function drain(node, drained, then) {
  let reason = "";
  if (drained) {
    reason = await confirm({ title: `Drain ${node}?`, text: "What runs there goes on; nothing new is placed there.",
      button: "Drain", danger: true, input: "Reason" });
    if (reason === null) {
      return;
    }
  }
  try {
    await post("/v1/Drain", { node, drained, reason });
    toast(node + (drained ? " is drained" : " takes jobs again"));
  } catch (problem) {
    toast(problem.message, true);
  }
  then?.();
}
