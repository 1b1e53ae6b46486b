// What an operator, or the owner of a job, should look at: the alerts that the controller has open.

import { get } from "./api.js";
import { card, el, empty, isolate, natural, sentence, swap, when } from "./dom.js";

const isUrgent = (alert) => alert.severity === "critical";

function hrefOf(alert) {
  if (Number(alert.job) > 0) {
    return "#job/" + alert.job;
  }
  return alert.node ? "#node/" + encodeURIComponent(alert.node) : "#overview";
}

export async function findAlerts() {
  const { alerts } = await get("/v1/alerts");
  return alerts.sort((a, b) => isUrgent(b) - isUrgent(a) || natural(a.subject, b.subject));
}

export function openAlerts() {
  const element = el("div", { class: "alerts-view" });
  return {
    element,
    onEvent: (event) => event.type.startsWith("muster.alert."),
    async refresh() {
      const alerts = await findAlerts();
      swap(element, card("Alerts", alerts.length === 0 ? empty("Nothing needs a look.") : el("ul", { class: "alerts" }, alerts.slice(0, 500).map((alert) =>
        el("li", { "data-level": isUrgent(alert) ? "bad" : "warn" }, el("b", { class: "hidden" }, isolate(alert.severity), " "),
          el("a", { href: hrefOf(alert) }, isolate(alert.subject)), " ", sentence(alert.text), " ",
          el("small", { class: "faint" }, isolate(alert.rule), " since ", when(alert.since)))))));
    },
  };
}
