// Follows a submission until it is scored. Every event makes the page fetch its own steps again, so there is one rendering.
import { follow } from "./events.js";
import { reloadWhenUnused } from "./forms-in-use.js";
import { localise } from "./times.js";

const FINAL = new Set(["scored", "failed", "withdrawn", "disqualified"]);
const panel = document.querySelector("[data-live]");

async function refresh() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const steps = page.querySelector("[data-live-steps]");
  if (!steps) return;
  panel.querySelector("[data-live-steps]").replaceChildren(...steps.childNodes);
  localise(panel);
}

if (panel) {
  panel.querySelector("[data-live-hint]").textContent = "This page updates automatically. You can leave; the result will appear here.";
  follow(panel.dataset.live, "state", ({ state }) => {
    const isFinal = FINAL.has(state);
    if (isFinal) refresh().finally(reloadWhenUnused);
    else refresh();
    return isFinal;
  });
}
