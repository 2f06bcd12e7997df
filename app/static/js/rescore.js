// Follows a re-score: moves the bar with each event, and shows the report once there is one.
import { follow } from "./events.js";
import { reloadWhenUnused } from "./forms-in-use.js";

const panel = document.querySelector("[data-rescore]");

if (panel) {
  follow(panel.dataset.rescore, "progress", ({ state, apply_requested: isApplying, done, total }) => {
    if (state !== "running" && !(state === "ready" && isApplying)) {
      reloadWhenUnused();
      return true;
    }
    const bar = panel.querySelector("[data-rescore-bar]");
    if (bar) {
      bar.max = total || 1;
      bar.value = done;
      panel.querySelector("[data-rescore-text]").textContent = `${done} of ${total} ${total === 1 ? "submission" : "submissions"} evaluated`;
    }
    return false;
  });
}
