// Follows a re-score: moves the bar with each event, and shows the report once there is one.
import { reloadWhenUnused } from "./forms-in-use.js";

const panel = document.querySelector("[data-rescore]");

if (panel) {
  const source = new EventSource(panel.dataset.rescore);
  source.addEventListener("progress", (event) => {
    const { state, apply_requested: isApplying, done, total } = JSON.parse(event.data);
    if (state !== "running" && !(state === "ready" && isApplying)) {
      source.close();
      reloadWhenUnused();
      return;
    }
    const bar = panel.querySelector("[data-rescore-bar]");
    if (!bar) return;
    bar.max = total || 1;
    bar.value = done;
    panel.querySelector("[data-rescore-text]").textContent = `${done} of ${total} ${total === 1 ? "submission" : "submissions"} evaluated`;
  });
}
