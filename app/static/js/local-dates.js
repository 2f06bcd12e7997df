// Organisers type dates in UTC, or anywhere on Earth. Above each field is when that is where they are.
import { inLocalWords } from "./times.js";

const MINUTES_BEHIND = { utc: 0, aoe: 720 };

function show(input, hint) {
  const zone = input.form.elements.zone?.value ?? input.closest("[data-zone]").dataset.zone;
  const instant = new Date(`${input.value}${zone === "aoe" ? "-12:00" : "Z"}`);
  hint.hidden = Number.isNaN(instant.getTime()) || instant.getTimezoneOffset() === MINUTES_BEHIND[zone];
  hint.textContent = hint.hidden ? "" : `Your time: ${inLocalWords(instant)}`;
}

for (const input of document.querySelectorAll("input[type=datetime-local]")) {
  const hint = document.createElement("span");
  hint.className = "hint";
  hint.id = `${input.id}-local`;
  input.before(hint); // as all hints, so that fields in a row stay level
  input.setAttribute("aria-describedby", `${input.getAttribute("aria-describedby") ?? ""} ${hint.id}`.trim());
  input.addEventListener("input", () => show(input, hint));
  for (const choice of input.form.querySelectorAll("[name=zone]")) choice.addEventListener("change", () => show(input, hint));
  show(input, hint);
}
